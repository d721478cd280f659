"""
A draft: what the page Design holds, complete or not.

A draft keeps what a researcher says (how much an answer could hurt, what a number is for, whether people may decline);
``survey_of_draft`` makes of it what devices read (mechanisms, absent answers).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from sottovoce.shared import canonical

FORMAT = "sottovoce-draft/1"

HARMS = ("public", "little", "clearly", "badly", "other")
"""How much an answer could hurt somebody if it became known; the words of the page's steps."""

ACCESSES = ("open", "token", "blind")
"""Who can answer: whoever has the link, or a personal one; or a personal one that leads to no report."""

DECLINING = ("own", "counted", "never", "each")
"""
How people may decline: by an answer of its own, counted as a named answer, only by not sending, or as each question's
document has it.
"""

MOST_PEOPLE = 10**7


@dataclass(frozen=True)
class DraftItem:
    """
    One question, note or matrix.

    Attributes:
        asked: its document, as a survey file has it, but for mechanism and ``public``.
        harm: one of ``HARMS``.
        use: what its answers are for: ``average``, ``spread``, ``explain`` or ``together``; "" is the first that fits.
        mechanism: where ``harm`` is ``other``.
    """

    asked: Mapping[str, Any]
    harm: str = "clearly"
    use: str = ""
    mechanism: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """In conditions and files."""
        return str(self.asked.get("name", ""))

    @property
    def type(self) -> str:
        """As in a survey file."""
        return str(self.asked.get("type", "boolean"))

    @property
    def treated(self) -> Mapping[str, Any]:
        """The part of the document that says type and true values: a matrix has it under ``of``."""
        of = self.asked.get("of", {})
        return of if self.type == "matrix" else self.asked


@dataclass(frozen=True)
class SurveyDraft:
    """
    A survey that is being written.

    Attributes:
        head: the survey's document but its questions.
        cards: its questions.
        people: how many are expected to answer; None if that was not said.
        group: how many belong to the group; None if that is not known.
        tags: of the languages that are written, the default one first.
        declining: one of ``DECLINING``.
        stamp: which save of which visit to the page Design has made it, such as ``4f0c.3``; "" if that was not said.
    """

    head: Mapping[str, Any]
    cards: tuple[DraftItem, ...] = ()
    people: int | None = None
    group: int | None = None
    tags: tuple[str, ...] = ("en",)
    declining: str = "own"
    stamp: str = field(default="", compare=False)

    @property
    def title(self) -> str:
        """In the default language, or ""."""
        return str(self.head.get("title", {}).get(self.tags[0], ""))

    def title_in(self, language: str) -> str:
        """In this language, else in the default one, or ""."""
        return str(self.head.get("title", {}).get(language, "")) or self.title

    @property
    def access(self) -> str:
        """One of ``ACCESSES``; what was published names its keys in the place of a word."""
        found = self.head.get("access", ACCESSES[0])
        return "blind" if isinstance(found, Mapping) else str(found)

    @property
    def waves(self) -> list[Mapping[str, str]]:
        """When each opens and closes, as it is written; none, where the survey is asked once."""
        found = self.head.get("waves", [])
        return [{key: str(each[key]) for key in each} for each in found if isinstance(each, Mapping)]

    @property
    def dumped(self) -> bytes:
        """For storage; ``read`` reads it back."""
        cards = [
            {"asked": card.asked, "harm": card.harm, "use": card.use, "mechanism": card.mechanism}
            for card in self.cards
        ]
        return canonical.dump(
            {
                "format": FORMAT,
                "head": self.head,
                "cards": cards,
                "people": self.people,
                "group": self.group,
                "tags": list(self.tags),
                "declining": self.declining,
                **({"stamp": self.stamp} if self.stamp else {}),
            }
        )

    @classmethod
    def read(cls, stored: bytes) -> Self:
        """What ``dumped`` has written."""
        found = canonical.load(stored)
        cards = tuple(DraftItem(**card) for card in found["cards"])
        people, group, tags, declining = (found[key] for key in ("people", "group", "tags", "declining"))
        return cls(found["head"], cards, people, group, tuple(tags), declining, found.get("stamp", ""))


def empty_draft(title: str, tag: str) -> SurveyDraft:
    """A draft with a title in one language, and nothing else."""
    return SurveyDraft({"default_language": tag, "title": {tag: title}, "revision": 1}, tags=(tag,))


@dataclass(frozen=True)
class FieldPath:
    """
    A field of the form.

    Attributes:
        field: its name in the form, such as ``title`` or ``q0.label``.
        card: the number of the card that it stands on, or None.
    """

    field: str
    card: int | None = None


@dataclass(frozen=True)
class DraftProblem:
    """
    Something that is wrong or unwise.

    Attributes:
        place: the field that it is about.
        key: of its sentence, without the prefix ``problem_``.
        grave: it keeps the draft from being published.
        values: of the sentence's places.
        mend: the word of a change that mends it, as ``changes.change`` takes it; "" if there is none.
    """

    place: FieldPath
    key: str
    grave: bool = True
    values: Mapping[str, object] = field(default_factory=dict)
    mend: str = ""
