"""The order in which one person is shown items, rows and options: drawn once, before any is shown, and kept.

It depends on no answer and is not reported. The ledger keeps it, so that a person who comes back sees the same order;
what the ledger gives is used only if it could have been drawn.
"""

import hashlib
from collections.abc import Sequence

from sottovoce.client.draws import Draws
from sottovoce.client.ledger import Key, Ledger
from sottovoce.shared.canonical import dump
from sottovoce.shared.errors import BudgetExhausted
from sottovoce.shared.order.orders import REVERSED_HALF, Arrangement, OrderedList, arrange, ordered_lists
from sottovoce.shared.spec import Survey


def draw_order(ordered: OrderedList, draws: Draws) -> tuple[int, ...]:
    """An order of 0 .. m - 1 for the m that may move; ``random`` all equally likely, ``reversed_half`` two.

    Bytes: those of below(m), below(m - 1), ..., below(2); for ``reversed_half`` those of below(2).
    """
    places = list(range(len(ordered.movable)))
    if ordered.kind == REVERSED_HALF:
        return tuple(reversed(places) if draws.below(2) else places)
    for place in range(len(places) - 1):
        other = place + draws.below(len(places) - place)
        places[place], places[other] = places[other], places[place]
    return tuple(places)


def keep_order(ledger: Ledger, key: Key, survey: Survey, draws: Draws) -> Arrangement:
    """The order that stands for ``key``: one kept earlier, else one drawn now and kept.

    Args:
        ledger: where it is kept.
        key: what is answered.
        survey: whose items they are.
        draws: the source of randomness.

    Raises:
        BudgetExhausted: the ledger cannot be written or read.
    """
    lists = ordered_lists(survey)
    if not lists:
        return arrange(survey, [], [])
    named = [[each.kind, *each.names, "", *each.last] for each in lists]
    pool = hashlib.sha256(dump({"orders": named})).hexdigest()
    kept = ledger.prepare(key, pool, lambda: tuple(place for each in lists for place in draw_order(each, draws)))
    drawn = _split(lists, kept)
    if not all(_is_possible(each, places) for each, places in zip(lists, drawn, strict=True)):
        raise BudgetExhausted("the ledger cannot be read; nothing was drawn and nothing was sent")
    return arrange(survey, lists, drawn)


def _split(lists: Sequence[OrderedList], kept: Sequence[int]) -> list[tuple[int, ...]]:
    """The part of each list; what is left over goes to the last, which then is no order."""
    parts, start = [], 0
    for each in lists:
        end = start + len(each.movable) if each is not lists[-1] else len(kept)
        parts.append(tuple(kept[start:end]))
        start = end
    return parts


def _is_possible(ordered: OrderedList, places: Sequence[int]) -> bool:
    forwards = list(range(len(ordered.movable)))
    if ordered.kind == REVERSED_HALF:
        return list(places) in (forwards, forwards[::-1])
    return sorted(places) == forwards
