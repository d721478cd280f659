"""Convert a sensitivity level into a mechanism and back, and make the options of a scale from its two ends and their
labels, such as 0 = never to 10 = always.

The levels cost epsilon 2, ln 3 (1.0986...) and ln 2 (0.6931...). Where the mechanism is given by its odds these are
exact (3 to 1, 2 to 1). Elsewhere the survey asks for the epsilon rounded down to four decimals, and publishing finds
the best integers.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from sottovoce.aggregator.authoring.draft import DraftItem
from sottovoce.shared.questions import QuestionReader
from sottovoce.shared.types import TYPES
from sottovoce.shared.types.base import QuestionType

EPSILONS = {"little": "2", "clearly": "1.0986", "badly": "0.6931"}
ODDS = {"clearly": 3, "badly": 2}
_PAIRS = {"clearly": {"name": "coin_flip"}, "badly": {"name": "binary_rr", "a": "2/3", "b": "1/3"}}
"""Mechanisms of a yes/no question by level; the level ``little`` is given by its epsilon."""

USES: Mapping[str, Sequence[str]] = {"number": ("average", "spread", "explain"), "options": ("average", "together")}
"""Planned analyses by kind of true values, the default first; for other kinds they do not affect the mechanism."""

_BY_USE = {
    ("number", "spread"): "square_wave",
    ("number", "explain"): "geometric",
    ("options", "together"): "bitwise_rr",
}

MOST_POINTS, LONGEST_END = 21, 9
_EQUALS = " = "


class Scale(NamedTuple):
    """Whole numbers of the two ends, and the labels of these by language, "" for none; ``typed`` makes no scale."""

    first: int
    last: int
    low: Mapping[str, str]
    high: Mapping[str, str]
    typed: Sequence[str] = ()

    def choices(self, tags: Sequence[str]) -> list[dict[str, Any]]:
        """Return the options, each named as its number."""
        ends, points = {self.first: self.low, self.last: self.high}, range(self.first, self.last + 1)
        return [
            {"name": str(point), "label": {tag: _label(point, ends.get(point, {}).get(tag, "")) for tag in tags}}
            for point in points
        ]


def _label(point: int, text: str) -> str:
    return f"{point}{_EQUALS}{text}" if text else str(point)


NEW = Scale(0, 10, {}, {})
"""Scale that a button makes."""


def scale_of(choices: Sequence[Mapping[str, Any]], tags: Sequence[str]) -> Scale | None:
    """Return the scale whose options these are; None if any option has another name or label."""
    names = [str(each.get("name", "")) for each in choices]
    if not 2 <= len(names) <= MOST_POINTS or not _is_scale(names[0], names[-1]):
        return None
    low, high = ({tag: each["label"].get(tag, "").partition(_EQUALS)[2] for tag in tags}
                 for each in (choices[0], choices[-1]))  # fmt: skip
    found = Scale(int(names[0]), int(names[-1]), low, high)
    return found if found.choices(tags) == list(choices) else None


def posted_scale(form: Mapping[str, str], prefix: str, tags: Sequence[str], before: Scale | None) -> Scale | None:
    """Return the scale in a card's fields, with the ends from ``before`` where its own make none; None without any."""
    first, last = typed = [" ".join(form.get(f"{prefix}.{end}", "").split())[:LONGEST_END] for end in ("first", "last")]
    if not _is_scale(first, last):
        # A person may be half done, and keeps the labels; the page shows again what they typed.
        if before is None or f"{prefix}.first" not in form:
            return None
        first, last = str(before.first), str(before.last)
    low, high = ({tag: form.get(f"{prefix}.{end}.{tag}", "").strip() for tag in tags} for end in ("low", "high"))
    return Scale(int(first), int(last), low, high, () if [first, last] == typed else tuple(typed))


def typed_ends(asked: Mapping[str, Any]) -> Sequence[str]:
    """Return the ends in a draft's question that make no scale, as they were typed; empty if there are none."""
    ends = asked.get("ends")
    # A file may have anything under this key.
    return ends.split("\n") if isinstance(ends, str) and ends.count("\n") == 1 else ()


def _is_scale(first: str, last: str) -> bool:
    return all(end.isascii() and end.isdigit() and len(end) < 4 for end in (first, last)) and (
        0 < int(last) - int(first) < MOST_POINTS
    )


def uses_of(kind: QuestionType | None) -> Sequence[str]:
    """Return the planned analyses to choose from for a question type; empty if they do not affect the mechanism."""
    return USES.get(kind.truth, ()) if kind else ()


def mechanism_for(card: DraftItem, has_category: bool) -> Mapping[str, Any]:
    """Return a private card's mechanism as in a survey file; ``has_category``: "prefer not to say" is an answer."""
    if card.harm == "other":
        return card.mechanism or {"epsilon": EPSILONS["clearly"]}
    kind, epsilon = card.kind or TYPES["boolean"], {"epsilon": EPSILONS[card.harm]}
    if not kind.takes_category:
        name = _BY_USE.get((kind.truth, card.use))
        return {"name": name, **epsilon} if name else epsilon
    is_yes_no = kind.truth == "yes_no"
    if is_yes_no and not has_category:
        return _PAIRS.get(card.harm, epsilon)
    size = (2 if is_yes_no else len(card.treated.get("choices", ()))) + has_category
    # With more options subset selection has less variance at the same epsilon. Publishing chooses it for an epsilon.
    if card.harm in ODDS and size <= ODDS[card.harm] + 3:
        return {"name": "kary_rr", "odds": str(ODDS[card.harm])}
    return epsilon


def harm_of(asked: Mapping[str, Any]) -> tuple[str, str, Mapping[str, Any] | None]:
    """Return level, planned analysis and mechanism of a question's document, for a matrix the part under ``of``.

    If a level and a planned analysis give the same mechanism, that pair is returned with None; else ``other`` and the
    mechanism itself. Without a mechanism the level is ``public`` or ``clearly``.
    """
    mechanism = asked.get("mechanism")
    if not isinstance(mechanism, Mapping):
        return ("public" if "public" in asked or asked.get("type") in ("note", "acknowledge") else "clearly"), "", None
    has_category = asked.get("absent_category") is True
    for is_same in (_is_same_mechanism, partial(_is_same_channel, asked)):
        for harm in EPSILONS:
            for use in ("", *uses_of(DraftItem(asked).kind)):
                if is_same(mechanism_for(DraftItem(asked, harm, use), has_category), mechanism):
                    return harm, use, None
    return "other", "", mechanism


_COINS: Sequence[Mapping[str, Any]] = (
    {"name": "coin_flip"},
    {"name": "binary_rr", "a": "3/4", "b": "1/4"},
    {"name": "kary_rr", "odds": "3"},
)
"""Different spellings of odds 3 to 1, which authors use with or without "prefer not to say"."""


def _is_same_mechanism(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    if one == other or (one in _COINS and other in _COINS):
        return True
    if set(one) == set(other) == {"epsilon"}:
        return _level_settings(one["epsilon"]) == _level_settings(other["epsilon"])
    return False


def _is_same_channel(asked: Mapping[str, Any], one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Compare two mechanisms of a question as publishing writes them: it turns an epsilon into integers."""
    reader = QuestionReader()
    read = [reader.read({**asked, "mechanism": each}, "", tuple(TYPES)).mechanism for each in (one, other)]
    return not reader.problems and read[0] == read[1]


def _level_settings(epsilon: object) -> object:
    try:
        return round(Fraction(str(epsilon)), 3)
    except ValueError:
        return None
