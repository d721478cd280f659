"""Read and write the order of options and rows in a draft: whether devices draw it, and what stays at the end."""

from collections.abc import Mapping, Sequence
from typing import Any

from sottovoce.aggregator.authoring.draft import DraftItem
from sottovoce.shared.order.orders import RANDOM, REVERSED_HALF, SCALES
from sottovoce.shared.types import TYPES

_LONGEST_NUMBER = 3


def orders_of(card: DraftItem) -> Sequence[str]:
    """Return the orders that a card can have besides the written one; empty without options or rows."""
    if card.type == "matrix":
        return (RANDOM,)
    has_choices = card.type in TYPES and TYPES[card.type].list_key == "choices"
    return () if not has_choices else (RANDOM, REVERSED_HALF) if card.type in SCALES else (RANDOM,)


def written_last(card: DraftItem) -> str:
    """Return what stays at the end as its field has it: how many, or names if they are not the last ones."""
    last = [str(name) for name in card.asked.get("keep_last", ())]
    return str(len(last)) if last and last == _names(card.asked)[-len(last) :] else ", ".join(last)


def with_order(asked: Mapping[str, Any], order: str, last: str) -> dict[str, Any]:
    """Return a card's document with the order of its options or rows; what is wrong is left to the survey's checks.

    ``order`` is a word of ``orders_of``, or "" for the written order; ``last`` is as ``written_last`` writes it.
    """
    found = {key: value for key, value in asked.items() if key not in ("order", "keep_last")}
    if order not in orders_of(DraftItem(found, "", "")):
        return found
    names = _names(found)
    is_number = last.isascii() and last.isdigit() and len(last) <= _LONGEST_NUMBER
    kept = names[len(names) - min(int(last), len(names)) :] if is_number else [each.strip() for each in last.split(",")]
    kept = [name for name in kept if name]
    return found | {"order": order} | ({"keep_last": kept} if kept else {})


def _names(asked: Mapping[str, Any]) -> list[str]:
    listed = asked.get("rows" if asked.get("type") == "matrix" else "choices", ())
    return [str(each["name"]) for each in listed]
