"""Convert a sensitivity level into a mechanism, and back.

The levels cost epsilon 2, ln 3 (1.0986...) and ln 2 (0.6931...). Where the mechanism is given by its odds these are
exact (3 to 1, 2 to 1). Elsewhere the survey asks for the epsilon rounded down to four decimals, and publishing finds
the best integers.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from sottovoce.aggregator.authoring.draft import DraftItem
from sottovoce.shared.questions import QuestionReader
from sottovoce.shared.types import TYPES

_EPSILONS = {"little": "2", "clearly": "1.0986", "badly": "0.6931"}
_ODDS = {"clearly": 3, "badly": 2}
_PAIRS = {"clearly": {"name": "coin_flip"}, "badly": {"name": "binary_rr", "a": "2/3", "b": "1/3"}}
"""Mechanisms of a yes/no question by level; the level ``little`` is given by its epsilon."""

USES: Mapping[str, Sequence[str]] = {"number": ("average", "spread", "explain"), "options": ("average", "together")}
"""Planned analyses by kind of true values, the default first; for other kinds they do not affect the mechanism."""

_BY_USE = {
    ("number", "spread"): "square_wave",
    ("number", "explain"): "geometric",
    ("options", "together"): "bitwise_rr",
}


def uses_of(kind: str) -> Sequence[str]:
    """Return the planned analyses to choose from for a question type; empty if they do not affect the mechanism."""
    return USES.get(TYPES[kind].truth, ()) if kind in TYPES else ()


def mechanism_for(card: DraftItem, has_category: bool) -> Mapping[str, Any]:
    """Return a private card's mechanism as in a survey file; ``has_category``: "prefer not to say" is an answer."""
    if card.harm == "other":
        return card.mechanism or {"epsilon": _EPSILONS["clearly"]}
    kind = TYPES.get(str(card.treated.get("type", "")), TYPES["boolean"])
    epsilon = {"epsilon": _EPSILONS[card.harm]}
    if kind.takes_category:
        return _mechanism_of_options(card, kind.truth == "yes_no", has_category) or epsilon
    name = _BY_USE.get((kind.truth, card.use))
    return {"name": name, **epsilon} if name else epsilon


def _mechanism_of_options(card: DraftItem, is_yes_no: bool, has_category: bool) -> Mapping[str, Any] | None:
    if is_yes_no and not has_category:
        return _PAIRS.get(card.harm)
    if card.harm not in _ODDS:
        return None
    odds = _ODDS[card.harm]
    size = (2 if is_yes_no else len(card.treated.get("choices", ()))) + has_category
    # With more options subset selection has less variance at the same epsilon. Publishing chooses it for an epsilon.
    return {"name": "kary_rr", "odds": str(odds)} if size <= odds + 3 else None


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
        for harm in _EPSILONS:
            for use in ("", *uses_of(str(asked.get("type", "")))):
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
