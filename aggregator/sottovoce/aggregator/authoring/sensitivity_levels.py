"""
From a step of harm to a mechanism, and back.

The steps cost epsilon 2, ln 3 and ln 2. Where a mechanism has odds of its own they are exact (3 to 1, 2 to 1);
elsewhere the nearest decimal below is asked for, and publishing finds the best integers.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from sottovoce.aggregator.authoring.draft import DraftItem
from sottovoce.shared.types import TYPES

_EPSILONS = {"little": "2", "clearly": "1.0986", "badly": "0.6931"}
_ODDS = {"clearly": 3, "badly": 2}
_PAIRS = {
    "clearly": {"name": "coin_flip"},
    "badly": {"name": "binary_rr", "a": "2/3", "b": "1/3"},
}
"""Channels of a yes/no question."""

USES: Mapping[str, Sequence[str]] = {"number": ("average", "spread", "explain"), "options": ("average", "together")}
"""What answers may be for, by the kind of true values; the first is the usual one. Others have no choice to make."""

_BY_USE = {
    ("number", "spread"): "square_wave",
    ("number", "explain"): "geometric",
    ("options", "together"): "bitwise_rr",
}


def uses_of(kind: str) -> Sequence[str]:
    """What the answers to a question of this type may be for; none where that changes nothing."""
    return USES.get(TYPES[kind].truth, ()) if kind in TYPES else ()


def mechanism_for(card: DraftItem, has_category: bool) -> Mapping[str, Any]:
    """
    The mechanism of a private card, as a survey file names it.

    Args:
        card: whose harm is not ``public``.
        has_category: "prefer not to say" is one of the answers.
    """
    if card.harm == "other":
        return card.mechanism or {"epsilon": _EPSILONS["clearly"]}
    kind = TYPES.get(str(card.treated.get("type", "")), TYPES["boolean"])
    epsilon = {"epsilon": _EPSILONS[card.harm]}
    if kind.truth in ("yes_no", "option"):
        return _of_options(card, kind.truth == "yes_no", has_category) or epsilon
    name = _BY_USE.get((kind.truth, card.use))
    return {"name": name, **epsilon} if name else epsilon


def _of_options(card: DraftItem, is_yes_no: bool, has_category: bool) -> Mapping[str, Any] | None:
    if is_yes_no and not has_category:
        return _PAIRS.get(card.harm)
    if card.harm not in _ODDS:
        return None
    odds = _ODDS[card.harm]
    size = (2 if is_yes_no else len(card.treated.get("choices", ()))) + has_category
    # With more options subsets say more at the same cost: what publishing chooses for an epsilon.
    return {"name": "kary_rr", "odds": str(odds)} if size <= odds + 3 else None


def harm_of(asked: Mapping[str, Any]) -> tuple[str, str, Mapping[str, Any] | None]:
    """
    Step, use and own mechanism of a question's document: a step where that says just the same, else ``other``.

    Args:
        asked: with ``mechanism`` or ``public``; of a matrix, what stands under ``of``.
    """
    mechanism = asked.get("mechanism")
    if not isinstance(mechanism, Mapping):
        return ("public" if "public" in asked or asked.get("type") in ("note", "acknowledge") else "clearly"), "", None
    has_category = asked.get("absent_category") is True
    for harm in _EPSILONS:
        for use in ("", *uses_of(str(asked.get("type", "")))):
            if _same(mechanism_for(DraftItem(asked, harm, use), has_category), mechanism):
                return harm, use, None
    return "other", "", mechanism


_COINS: Sequence[Mapping[str, Any]] = (
    {"name": "coin_flip"},
    {"name": "binary_rr", "a": "3/4", "b": "1/4"},
    {"name": "kary_rr", "odds": "3"},
)
"""All of odds 3 to 1: with "prefer not to say" or without, an author may have written any of them."""


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    if one == other or (one in _COINS and other in _COINS):
        return True
    if set(one) == set(other) == {"epsilon"}:
        return _about(one["epsilon"]) == _about(other["epsilon"])
    return False


def _about(epsilon: object) -> object:
    try:
        return round(Fraction(str(epsilon)), 3)
    except ValueError:
        return None
