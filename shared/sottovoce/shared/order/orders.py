"""Arrange what a survey shows in random order: its items, the rows of a matrix, the options of a question.

The order is drawn by the device before any question is shown, independently of every answer. It changes what is seen
and nothing else: values, columns and results stay in the survey's order.
``order`` and ``keep_last`` in the file say which order it is.

Law
    random          all orders of what may move are equally likely; what ``keep_last`` names follows, as it names it.
    reversed_half   the survey's order or its reverse, 1/2 each.
    Items: an item that would come before one which its condition names waits until that one has been shown. A block
    moves as a whole; a note moves with the item after it, and notes at the end stay there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sottovoce.shared.arms.arms import flat_items
from sottovoce.shared.checks import Reader, document_at
from sottovoce.shared.spec import Item, Survey

RANDOM, REVERSED_HALF = "random", "reversed_half"


@dataclass(frozen=True)
class OrderedList:
    """A list whose order is drawn.

    Attributes:
        item: index of its item; None for the list of all items.
        kind: ``random`` or ``reversed_half``.
        names: of the whole list, in the survey's order.
        last: names that stay at the end, in their order.
    """

    item: int | None
    kind: str
    names: tuple[str, ...]
    last: tuple[str, ...] = ()

    @property
    def movable(self) -> list[int]:
        """Indices of what may move."""
        return [index for index, name in enumerate(self.names) if name not in self.last]

    def shown(self, drawn: Sequence[int]) -> tuple[int, ...]:
        """Return the indices of the list in the order shown, given an order of 0 .. m - 1 for the m that may move."""
        movable = self.movable
        return (*(movable[place] for place in drawn), *(self.names.index(name) for name in self.last))


@dataclass(frozen=True)
class Arrangement:
    """The order in which one person is shown items (their indices) and, by an item's index, its rows or options."""

    items: tuple[int, ...]
    lists: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


def ordered_lists(survey: Survey) -> list[OrderedList]:
    """Return the lists whose order is drawn, the list of all items first; empty for most surveys."""
    documents = [entry for entry in flat_items(survey.document) if "block" not in entry]
    found = [_ordered(survey.document, None, [name for name, _ in units(survey.items)])]
    for index, (document, item) in enumerate(zip(documents, survey.items, strict=True)):
        found.append(_ordered(document, index, names_of(item)))
    return [each for each in found if each is not None]


def _ordered(document: Mapping[str, Any], item: int | None, names: Sequence[str]) -> OrderedList | None:
    if "order" not in document:
        return None
    return OrderedList(item, document["order"], tuple(names), tuple(document.get("keep_last", ())))


def names_of(item: Item) -> list[str]:
    """Return the names of a matrix's rows, or of a question's options; empty for a note."""
    if item.rows:
        return [row.name for row in item.rows]
    return [name for asked in item.questions for name in asked.options[: asked.domain.size - asked.domain.absent]]


def units(items: Sequence[Item]) -> list[tuple[str, list[int]]]:
    """Return name and indices of what moves as a whole: a block is one unit, notes go with the item after them."""
    found: list[tuple[str, list[int]]] = []
    notes: list[int] = []
    for index, item in enumerate(items):
        if not item.questions:
            notes.append(index)
        elif item.block and found and found[-1][0] == item.block:
            found[-1][1].extend([*notes, index])
            notes = []
        else:
            found.append((item.block or item.name, [*notes, index]))
            notes = []
    return found


def arrange(survey: Survey, lists: Sequence[OrderedList], drawn: Sequence[Sequence[int]]) -> Arrangement:
    """Return what is shown in which order; ``drawn`` has for each of the ``lists`` an order of what may move."""
    items = tuple(range(len(survey.items)))
    orders: dict[int, tuple[int, ...]] = {}
    for each, places in zip(lists, drawn, strict=True):
        if each.item is None:
            items = _after_conditions(survey.items, each.shown(places))
        else:
            orders[each.item] = each.shown(places)
    return Arrangement(items, orders)


def _after_conditions(items: Sequence[Item], order: Sequence[int]) -> tuple[int, ...]:
    """Place the units in this order, each once all questions that its conditions name are placed."""
    waiting = [units(items)[place][1] for place in order]
    placed: list[int] = []
    known: set[str] = set()
    while waiting:
        # In the survey's own order no unit waits for a later one, so that there is always one that may come.
        unit = next(each for each in waiting if _named(items, each) <= known)
        waiting.remove(unit)
        placed += unit
        known |= {question.name for index in unit for question in items[index].questions}
    return (*placed, *(index for index in range(len(items)) if index not in placed))


def _named(items: Sequence[Item], unit: Sequence[int]) -> set[str]:
    """Return the names of the questions of other units on which a unit hangs."""
    own = {question.name for index in unit for question in items[index].questions}
    return {condition.question for index in unit for condition in items[index].conditions} - own


KEYS = ("order", "keep_last")
SCALES = ("select_one", "rating")
"""Types of questions whose options may be a scale, which is read from either end."""


def read_orders(
    reader: Reader, fields: Mapping[str, Any], items: Sequence[Item], pointers: Sequence[str], written: dict[str, Any]
) -> None:
    """Add the keys of each list whose order is drawn to its document in ``written``, the canonical survey."""
    if not fields.keys().isdisjoint(KEYS):
        written |= _read(reader, fields, "", [name for name, _ in units(items)], (RANDOM,))
    documents: list[Any] = [entry for entry in flat_items(written) if "block" not in entry]
    for place, (item, pointer) in enumerate(zip(items, pointers, strict=True)):
        given = document_at(fields, pointer)
        if not given.keys().isdisjoint(KEYS):
            kinds = (RANDOM, REVERSED_HALF) if item.type in SCALES else (RANDOM,)
            documents[place].update(_read(reader, given, pointer, names_of(item), kinds))


def _read(
    reader: Reader, given: Mapping[str, Any], pointer: str, names: Sequence[str], kinds: tuple[str, ...]
) -> dict[str, Any]:
    if "order" not in given:
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
