"""From ``order`` and ``keep_last`` of a survey, a matrix and a question to the keys of the canonical survey."""

from collections.abc import Mapping, Sequence
from typing import Any

from sottovoce.shared.checks import Reader
from sottovoce.shared.mechanisms.blocks import flat_items
from sottovoce.shared.order.orders import RANDOM, REVERSED_HALF, names_of, units
from sottovoce.shared.spec import Item

KEYS = ("order", "keep_last")
SCALES = ("select_one", "rating")
"""Types of questions whose options may be a scale, which is read from either end."""

_UNORDERED = ("note", "acknowledge")


def read_orders(
    reader: Reader, fields: Mapping[str, Any], items: Sequence[Item], pointers: Sequence[str], written: dict[str, Any]
) -> None:
    """
    Add the keys of each list whose order is drawn to its canonical document.

    Args:
        reader: takes the mistakes.
        fields: the survey's map.
        items: what the survey shows.
        pointers: JSON pointer of each item.
        written: the canonical survey, whose questions are written.
    """
    written |= _read(reader, fields, "", [name for name, _ in units(items)], (RANDOM,))
    documents: list[Any] = [entry for entry in flat_items(written) if "block" not in entry]
    for place, (item, pointer) in enumerate(zip(items, pointers, strict=True)):
        given: Any = fields
        for part in pointer.split("/")[1:]:
            given = given[int(part)] if isinstance(given, list) else given[part]
        if isinstance(given, dict):
            kinds = (RANDOM, REVERSED_HALF) if item.type in SCALES else (RANDOM,)
            documents[place].update(_read(reader, given, pointer, names_of(item), kinds))


def _read(
    reader: Reader, given: Mapping[str, Any], pointer: str, names: Sequence[str], kinds: tuple[str, ...]
) -> dict[str, Any]:
    if "order" not in given:
        if "keep_last" in given:
            reader.problem(f"{pointer}/keep_last", "goes with order only")
        return {}
    if not names:
        reader.problem(f"{pointer}/order", "there are no options or rows here whose order could be drawn")
        return {}
    written: dict[str, Any] = {"order": reader.one_of(given["order"], f"{pointer}/order", kinds)}
    last = given.get("keep_last", [])
    is_known = isinstance(last, list) and all(isinstance(name, str) and name in names for name in last)
    if not is_known or len(set(last)) < len(last) or len(names) - len(last) < 2:
        place = "keep_last" if "keep_last" in given else "order"
        reader.problem(f"{pointer}/{place}", "must be names from this list, each once, and leave two that can move")
        return {}
    return written | ({"keep_last": last} if last else {})
