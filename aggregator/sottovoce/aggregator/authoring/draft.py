"""Hold a survey draft, the state of the page Design, complete or not; name its questions, and read and write its arms.

A draft has the researcher's choices (how much an answer could hurt, what a number is for, whether people may decline).
``survey_of_draft`` translates them into the survey that clients read (mechanisms, values of absent answers).

Slugs, short names for links, conditions and files, are made from the researcher's texts. The random arms say which
cards a person of an arm is asked, and their weights how many people that are.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from sottovoce.shared import canonical
from sottovoce.shared.arms.arms import ARM, Arm, SampledSurvey
from sottovoce.shared.parse_item import CONDITIONS, MEASURES
from sottovoce.shared.survey_keys import RESEARCHER_TEXTS, SURVEY_TEXTS
from sottovoce.shared.types import TYPES
from sottovoce.shared.types.base import QuestionType

FORMAT = "sottovoce-draft/2"
"""Format of a stored draft: ``survey``, its document as in a survey file, and ``notes``, what only its author has."""

ABSENT_KEYS = ("absent_category", "when_absent")
"""Keys of a question's document for a missing answer."""

HARMS = ("public", "little", "clearly", "badly", "other")
"""Sensitivity levels: how much harm it could do if an answer became known; keys of the choices on the page."""

ACCESSES = ("open", "token", "blind")
"""Who can answer: anyone with the link, holders of a personal link, or holders of an unlinkable personal link."""

DECLINING = ("own", "counted", "never", "each")
"""
How people may decline: by an answer of its own, counted as a given answer, only by not sending a report, or as set in
each question's document.
"""

MOST_PEOPLE = 10**7

LONGEST = 40
LONGEST_QUESTION = 24
"""Stata takes 32 letters, of which names of value labels and of channel columns need a part."""

_STOP_WORDS = {
    "en": "a ago an and any are as at be been by did do does during ever for from had has have how i if in is "
    "it last many me month months much my of often on or our past s since t that the there they this "
    "times to twelve usually was we were what when where which who will with would year years you your",
    "de": "als am an auf aus bei bereits das dem den der des die dies diese diesem diesen dieser ein eine einem "
    "einen einer er es fur haben hat ich ihnen ihr ihre ihrem ihren ihrer im in ist jahr jahre jahren je "
    "jemals letzte letzten letzter mal mit monat monate monaten oder schon seit sich sie sind so um und "
    "vom von vor war waren wie wir wurde zu zum zur zwolf",
    "es": "al algun alguna alguno ano anos como con cual cuando cuantas cuanto cuantos de del desde doce donde "
    "durante el en es esta este ha han has la las lo los mas mes meses o para por que se sido su sus te "
    "tu tus ultimas ultimo ultimos un una usted vez y",
    "fr": "a ai as au aux avec avez ce ces cette comment cours d dans de deja depuis dernier dernieres derniers "
    "des douze du elle en est et ete etes fois il ils j jamais je l la le les leur lors ma mois mon n ou "
    "par pour qu quand que quel quelle quelles quels qui s sa se ses son sur t ta ton tu un une vos votre "
    "vous",
    "pt": "a alguma ano anos ao aos as com como da das de do dos doze durante e ela ele em esta este foi ja mes "
    "meses na nas no nos num numa o os ou para pela pelo por qual quando quantas quantos que se seu seus "
    "sua suas tem teve ultimas ultimo ultimos um uma vez voce",
}
"""
Frequent words that tell nothing about a question, without accents, as a slug has them.

A slug drops all letters of Arabic, Hindi and Chinese, so the studio's other three languages need no list.
"""

_RESERVED = (
    "all and break by byte double else eq false float for function ge gt if in inf int le long lt na nan ne next not "
    "null or repeat return revision strl to true using wave while with"
)
"""Names that SPSS, Stata, R or the files of reports use themselves."""

_LONGEST_WEIGHT = 9


def short_name(text: str, otherwise: str, joiner: str = "_") -> str:
    """Make a slug from the Latin letters and digits of a text, in lower case; ``otherwise`` if it has none."""
    return joiner.join(_words(text))[:LONGEST].strip(joiner) or otherwise


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text[:400]).encode("ascii", "ignore").decode().lower()
    return re.findall(r"[a-z0-9]+", plain)


def question_name(text: str, otherwise: str, language: str) -> str:
    """Make a question's name of at most 24 characters that SPSS, Stata and R accept; ``otherwise`` if there is none.

    The most frequent words of the text's language are left out where others remain.
    """
    every = _words(text)
    frequent = _STOP_WORDS.get(language, _STOP_WORDS.get(language.partition("-")[0], "")).split()
    telling = [word for word in every if word not in frequent] or every
    name = telling[0][:LONGEST_QUESTION] if telling else otherwise
    for word in telling[1:]:
        # A later, shorter word would read as if it followed directly, so the name ends at the first that is too long.
        if len(name) + 1 + len(word) > LONGEST_QUESTION:
            break
        name += f"_{word}"
    reserved = name in _RESERVED.split() or re.fullmatch("str[0-9]+", name)
    return name if name[:1].isalpha() and not reserved else f"q_{name}"[:LONGEST_QUESTION]


def whole_number(text: str, digits: int = 6) -> int | None:
    """Return the number that a text of at most so many ASCII digits is; None for any other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None


def is_given(name: str) -> bool:
    """Return whether a question's name was chosen, and is not the page's default of ``q`` and a number."""
    return not re.fullmatch(r"q[0-9]+", name, re.ASCII)


def free_name(wanted: str, taken: Collection[str], joiner: str = "_", longest: int | None = None) -> str:
    """Return the name if it is free, else with the first number from 2 that makes it free, within ``longest``."""
    if wanted not in taken:
        return wanted
    ends = (f"{joiner}{number}" for number in range(2, len(taken) + 3))
    found = (f"{wanted if longest is None else wanted[: longest - len(end)]}{end}" for end in ends)
    return next(name for name in found if name not in taken)


@dataclass(frozen=True)
class DraftItem:
    """Question, note or matrix.

    Attributes:
        asked: its document as in a survey file, without ``mechanism`` and ``public``.
        harm: one of ``HARMS``.
        use: planned analysis: ``average``, ``spread``, ``explain`` or ``together``; "" is the first one for the type.
        mechanism: the mechanism if ``harm`` is ``other``, else None.
        block: name of the block that it is protected together with; "" if it is randomized by itself.
        name: name of the question in conditions and files.
        type: type of the item as in a survey file.
        treated: part of the document with type and true values: under ``of`` for a matrix, else the whole document.
        kind: its type of true values; None for a note, and for a type that there is not.
    """

    asked: Mapping[str, Any]
    harm: str = "clearly"
    use: str = ""
    mechanism: Mapping[str, Any] | None = None
    block: str = ""
    name: str = field(init=False, repr=False, compare=False)
    type: str = field(init=False, repr=False, compare=False)
    treated: Mapping[str, Any] = field(init=False, repr=False, compare=False)
    kind: QuestionType | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", str(self.asked.get("name", "")))
        object.__setattr__(self, "type", str(self.asked.get("type", "boolean")))
        object.__setattr__(self, "treated", self.asked.get("of", {}) if self.type == "matrix" else self.asked)
        object.__setattr__(self, "kind", TYPES.get(str(self.treated.get("type", "boolean"))))

    @property
    def row_count(self) -> int:
        """Number of its questions: the rows of a matrix, else 1."""
        return len(self.asked.get("rows", ())) if self.type == "matrix" else 1

    @property
    def item(self) -> Mapping[str, Any]:
        """Document with the own mechanism, if it has one."""
        own = {} if self.mechanism is None else {"mechanism": self.mechanism}
        return self.with_treated({**self.treated, **own}).asked

    def with_treated(self, treated: Mapping[str, Any]) -> Self:
        """Return the card with another ``treated`` part."""
        return replace(self, asked={**self.asked, "of": treated} if self.type == "matrix" else treated)

    @classmethod
    def of(cls, item: Mapping[str, Any], harm: str, use: str, block: str = "") -> Self:
        """Return the card of an item in a survey's document, with the item's mechanism."""
        card = cls(item, harm, use, block=block)
        values = {key: value for key, value in card.treated.items() if key not in ("mechanism", "public")}
        return replace(card.with_treated(values), mechanism=card.treated.get("mechanism"))


@dataclass(frozen=True)
class SurveyDraft:
    """Survey that is being written.

    Attributes:
        head: the survey's document without its questions.
        cards: its questions, notes and matrices.
        people: expected number of respondents; None if unknown.
        group: size of the population; None if unknown.
        tags: tags of the survey's languages, the default one first.
        declining: one of ``DECLINING``.
        blocks: document of each block by its name, without its items; the cards of a block are next to each other.
        direct_half: a random half is asked the sensitive questions directly, see ``to_survey``.
        chooses_columns: files have public questions as ``file_columns`` chooses them, unless a card says otherwise.
        stamp: the visit to the page Design and the number of its save, such as ``4f0c.3``; "" if unknown.
        saved: time of the save, in ISO 8601; "" if unknown.
    """

    head: Mapping[str, Any]
    cards: tuple[DraftItem, ...] = ()
    people: int | None = None
    group: int | None = None
    tags: tuple[str, ...] = ("en",)
    declining: str = "own"
    blocks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    direct_half: bool = False
    chooses_columns: bool = False
    stamp: str = field(default="", compare=False)
    saved: str = field(default="", compare=False)

    def ask_of(self, block: str) -> Any:  # noqa: ANN401 - whatever an imported file has
        """Return how many questions of a block are asked; None for all."""
        return self.blocks.get(block, {}).get("ask")

    @property
    def title(self) -> str:
        """Title in the default language, or ""."""
        return str(self.head.get("title", {}).get(self.tags[0], ""))

    def title_in(self, language: str) -> str:
        """Return the title in this language, else in the default one, else ""."""
        return str(self.head.get("title", {}).get(language, "")) or self.title

    @property
    def access(self) -> str:
        """One of ``ACCESSES``; a published blind survey has a map of its keys instead of the word."""
        found = self.head.get("access", ACCESSES[0])
        return "blind" if isinstance(found, Mapping) else str(found)

    @property
    def waves(self) -> list[Mapping[str, str]]:
        """Opening and closing of each wave as written; empty for a survey with one wave."""
        found = self.head.get("waves")
        listed = found if isinstance(found, list) else []
        return [{key: str(each[key]) for key in each} for each in listed if isinstance(each, Mapping)]

    def entries(self, items: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the survey's list of questions of the cards' ``items``, those of a block within it.

        ``in_one_list`` takes them apart.
        """
        found: list[dict[str, Any]] = []
        before = ""
        for block, item in zip([card.block for card in self.cards], items, strict=True):
            if block and block == before:
                found[-1]["items"].append(item)
            else:
                found.append({"block": block, **self.blocks[block], "items": [item]} if block else {**item})
            before = block
        return found

    @property
    def dumped(self) -> bytes:
        """Bytes for storage; ``read`` restores the draft."""
        questions = self.entries(card.item for card in self.cards)
        notes: dict[str, Any] = {key: value for key in _NOTES if (value := getattr(self, key))}
        notes |= {"tags": list(self.tags), "cards": [{"harm": card.harm, "use": card.use} for card in self.cards]}
        return canonical.dump({"format": FORMAT, "notes": notes, "survey": {**self.head, "questions": questions}})

    @classmethod
    def read(cls, stored: bytes) -> Self:
        """Restore a draft from the bytes of ``dumped``, or from those of release 0.4."""
        found = canonical.load(stored)
        if found["format"] == FORMAT:
            notes, head = found["notes"], found["survey"]
            blocks, items = in_one_list(head.pop("questions"))
            cards = [DraftItem.of(item, **note, block=block)
                     for (block, item), note in zip(items, notes["cards"], strict=True)]  # fmt: skip
        else:
            notes, head = found, found["head"]
            blocks = {name: _entry_of_former(made) for name, made in found.get("blocks", {}).items()}
            cards = [DraftItem(**card) for card in found["cards"]]
        kept = {key: notes[key] for key in _NOTES if key in notes}
        return cls(head, tuple(cards), tags=tuple(notes["tags"]), blocks=blocks, **kept)


_NOTES = ("people", "group", "declining", "direct_half", "chooses_columns", "stamp", "saved")
"""What only the author of a draft has, besides the languages and the cards' levels; stored where there is any."""


def _entry_of_former(mechanism: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever an imported file had
    """Return a block's document: release 0.4 kept how many questions are asked within the mechanism."""
    if not isinstance(mechanism, Mapping) or "ask" not in mechanism:
        return {"mechanism": mechanism}
    return {"mechanism": {key: mechanism[key] for key in mechanism if key != "ask"}, "ask": mechanism["ask"]}


_OF_BLOCKS = ("block", "items")


def in_one_list(questions: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], list[tuple[str, Mapping[str, Any]]]]:
    """Return the blocks of a survey's questions, as a draft has them, and all items, each with its block's name."""
    blocks: dict[str, Any] = {}
    items: list[tuple[str, Mapping[str, Any]]] = []
    for entry in questions:
        # A question that names a block itself, by mistake, says nothing about the block.
        name, inner, own = str(entry.get("block", "")), entry.get("items", [entry]), entry if "items" in entry else {}
        if name and inner:
            blocks[name] = {key: part for key, part in own.items() if key not in (*_OF_BLOCKS, ARM)}
        arm = {ARM: own[ARM]} if name and ARM in own else {}
        items += [(name, {key: part for key, part in item.items() if key not in _OF_BLOCKS} | arm) for item in inner]
    return blocks, items


HEAD_TEXTS = (
    *sorted(SURVEY_TEXTS, key="title".__ne__),
    *(f"researcher.{key}" for key in RESEARCHER_TEXTS),
    *("after.text", "after.screen_out.text"),
)
"""Paths of the texts in the survey's document without its questions, the title first; they name the form's fields."""


SCREENED_OUT = "after.screen_out.when"
"""Path of the answers of people whom the survey is not for."""


def part_at(document: Mapping[str, Any], path: str) -> Any:  # noqa: ANN401 - any part of a document
    """Return the part at a path such as ``after.text``; None if there is none."""
    key, _, rest = path.partition(".")
    return part_at(document.get(key, {}), rest) if rest else document.get(key)


def with_part(document: Mapping[str, Any], path: str, value: object) -> dict[str, Any]:
    """Return a document with another part at a path; an empty part is left out."""
    key, _, rest = path.partition(".")
    changed = {**document, key: with_part(document.get(key, {}), rest, value) if rest else value}
    return {key: part for key, part in changed.items() if part not in ("", {}, None)}


def least_of(card: DraftItem) -> Any:  # noqa: ANN401 - an answer of the card's type
    """Return the lowest answer: no, the first option, no option chosen, or the lower bound of each number."""
    treated, kind = card.treated, card.kind or TYPES["boolean"]
    if kind.truth == "yes_no":
        return "no"
    if kind.is_set:
        return []
    if not kind.single:
        return {each["name"]: treated.get("min", "0") for each in treated.get("coordinates", ())}
    choices = treated.get("choices", ())
    return choices[0]["name"] if kind.takes_category and choices else treated.get("min", "0")


def absent_keys(card: DraftItem, declining: str) -> dict[str, Any]:
    """Return the keys of a question's document for a missing answer: ``absent_category``, ``when_absent`` or none.

    Only an answer of its own causes no bias. Numbers and multiple choices cannot have one; a missing answer to them
    counts as the value that the card names, and for a multiple choice as no option chosen.
    """
    kind, given = card.kind or TYPES["boolean"], card.treated
    # Where a person's own fact hides the answer there is no way to decline.
    if declining == "each" or "procedure" in given:
        return {key: given[key] for key in ABSENT_KEYS if key in given}
    if declining == "own" and kind.takes_category:
        return {"absent_category": True}
    # A conditional question needs a value for respondents who do not see it, even if they may not decline.
    if declining == "never" and not CONDITIONS & set(card.asked):
        return {}
    if kind.is_set:
        return {"when_absent": []}
    if "when_absent" in given:
        return {"when_absent": given["when_absent"]}
    return {"when_absent": least_of(card)} if declining == "counted" else {}


def empty_draft(title: str, tag: str) -> SurveyDraft:
    """Return a draft with nothing but a title in one language."""
    head = {"default_language": tag, "title": {tag: title}, "revision": 1, "check": False}
    return SurveyDraft(head, tags=(tag,), chooses_columns=True)


@dataclass(frozen=True)
class FieldPath:
    """Field of the form: its name, such as ``title`` or ``q0.label``, and the number of its card, or None."""

    field: str
    card: int | None = None


def on_card(number: int, key: str) -> FieldPath:
    """Return the field of a card that a key of its document has."""
    return FieldPath(f"q{number}.{key}", number)


@dataclass(frozen=True)
class DraftProblem:
    """Error or warning about a draft.

    Attributes:
        key: key of its message, without the prefix ``problem_``.
        grave: True for an error, which prevents publishing; False for a warning.
        values: values for the placeholders of the message, besides the number of the card.
        mend: command for ``edit_commands.change`` that fixes the problem; "" if there is none.
    """

    place: FieldPath
    key: str
    grave: bool = True
    values: Mapping[str, object] = field(default_factory=dict)
    mend: str = ""


def arms_of(draft: SurveyDraft) -> dict[str, int]:
    """Return the weight of each arm by its name; empty without arms. What is no arm is left to the survey's checks."""
    found: Any = draft.head.get("arms", ())
    arms = [each for each in found if isinstance(each, dict)] if isinstance(found, list | tuple) else []
    weights = ((str(each.get("name", "")), each.get("weight", 1)) for each in arms)
    return {name: weight if type(weight) is int and weight > 0 else 1 for name, weight in weights}


def written_arms(draft: SurveyDraft) -> str:
    """Return the arms as the page shows them, such as ``direct: 1, protected: 2``; "" without arms."""
    return ", ".join(f"{name}: {weight}" for name, weight in arms_of(draft).items())


def read_arms(text: str) -> list[dict[str, Any]] | None:
    """Read arms as ``written_arms`` writes them; a name without a weight has weight 1. None for an empty text.

    What is no weight is kept as text, so that the page can report it as a problem.
    """
    found = []
    for part in text.split(","):
        name, _, weight = (each.strip() for each in part.partition(":"))
        if name or weight:
            number = whole_number(weight, _LONGEST_WEIGHT)
            found.append({"name": name, "weight": weight or 1 if number is None else number})
    return found or None


def written_plan(draft: SurveyDraft) -> str:
    """Return the planned comparisons, one a line, such as ``copied against copied_direct, ratio``."""
    found: Any = draft.head.get("analysis_plan", ())
    return "\n".join(_written_comparison(each) for each in found if isinstance(each, dict))


def _written_comparison(planned: dict[str, Any]) -> str:
    compared = next((f"{key} {planned[key]}" for key in ("against", "by") if key in planned), "")
    given = {"measure": MEASURES[0], "confidence": "0.95", **planned}
    more = [given["measure"]] if given["measure"] != MEASURES[0] else []
    more += [given["confidence"]] if given["confidence"] != "0.95" else []
    more += [f"{key} {planned[key]}" for key in ("category", "design") if key in planned]
    return ", ".join([f"{planned.get('question', '')} {compared}".strip(), *map(str, more)])


def read_plan(text: str) -> list[dict[str, Any]] | None:
    """Read planned comparisons as ``written_plan`` writes them; None for an empty text."""
    lines = [[part.strip() for part in line.split(",")] for line in text.splitlines() if line.strip()]
    return [_comparison(*line) for line in lines] or None


def _comparison(compared: str, *more: str) -> dict[str, Any]:
    words = compared.split()
    # What is no comparison is kept as it was typed, so that the page can report it as a problem.
    is_whole = len(words) == 3 and words[1] in {"against", "by"}
    found = {"question": words[0], words[1]: words[2]} if is_whole else {"question": compared}
    for each in filter(None, more):
        key, _, value = each.partition(" ")
        is_level = each.startswith("0.")
        is_named = key in {"category", "design"}
        found |= {key: value} if is_named else {"confidence" if is_level else "measure": each}
    return found


def arm_on_card(card: DraftItem) -> str:
    """Return the names of the card's arms as its field has them, such as ``direct``; "" for all arms."""
    named = card.asked.get("arm", ())
    # A file with mistakes may have anything.
    return ", ".join(map(str, named)) if isinstance(named, list | tuple) else str(named)


def arms_in_field(selected: str) -> list[str] | None:
    """Return the names in a card's field, which ``arm_on_card`` wrote; None for all arms."""
    return [name.strip() for name in selected.split(",") if name.strip()] or None


def is_in(card: DraftItem, arm: str) -> bool:
    """Return True if people of this arm are asked the card; a card that names no arm is asked in all."""
    named = card.asked.get("arm", arm)
    return arm in named if isinstance(named, list | tuple) else named == arm


class DraftSample(SampledSurvey):
    """Sample of questions that a person is asked of a draft, complete or not: rows of cards, and a block at once."""

    def __init__(self, draft: SurveyDraft) -> None:
        self.arms = tuple(Arm(name, weight) for name, weight in arms_of(draft).items())
        ask = draft.head.get("ask")
        # None, too, for what an imported file has and is no number of questions.
        self.ask = ask if isinstance(ask, int) and ask > 0 else None
        self.rows = [card for card in draft.cards for _ in range(card.row_count)]
        units: dict[object, list[int]] = {}
        for index, card in enumerate(self.rows):
            # Randomized, by itself or in a block.
            if card.block or (card.harm != "public" and card.type in (*TYPES, "matrix")):
                units.setdefault(card.block or index, []).append(index)
        self.units = tuple(map(tuple, units.values()))
        drawn = ((unit, draft.ask_of(self.rows[unit[0]].block)) for unit in self.units)
        self.asked_by_unit = {unit: m if isinstance(m, int) and m > 0 else len(unit) for unit, m in drawn}
        places = [[index for index, card in enumerate(self.rows) if is_in(card, arm.name)] for arm in self.arms]
        self.places_by_arm = [*map(tuple, places)] or [tuple(range(len(self.rows)))]
