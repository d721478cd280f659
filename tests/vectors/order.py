"""Vectors of random order: surveys, the bytes of a draw, and what is shown; and texts that both clients must refuse."""

import hashlib
from typing import Any

from sottovoce.client.draws import Draws
from sottovoce.client.respondent import draw_order
from sottovoce.shared.order.orders import arrange, ordered_lists
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.absences import COIN, asks
from tests.documents import names, survey
from tests.vectors.cases import bad_changes

TAPES = 12


def mixed() -> Survey:
    """Every list that can have an order, a note, a block, conditions, and names that stay last."""
    together = [asks("boolean", name) for name in ("x", "y")]
    return parse_survey(
        survey(
            asks("note", "intro"),
            asks("select_one", "reason", choices=names(4), mechanism={"name": "kary_rr", "odds": "3"}, order="random",
                 keep_last=["c0", "c2"], absent_category=True),
            asks("boolean", "fear", mechanism=COIN, when_absent="no", visible_if={"reason": "c1"}, order="random"),
            {"block": "both", "mechanism": {"epsilon": "1"}, "items": together},
            asks("rating", "mood", choices=names(5), public=True, order="reversed_half"),
            asks("matrix", "habits", rows=names(3), of={"type": "boolean", "mechanism": COIN}, order="random"),
            asks("note", "end"),
            order="random",
            keep_last=["both"],
        )
    )  # fmt: skip


def plain() -> Survey:
    return parse_survey(survey(asks("select_multiple", "q", choices=names(3), mechanism={"epsilon": "1"},
                                    order="random")))  # fmt: skip


def order_vectors() -> dict[str, Any]:
    """What each client draws and shows, from the same bytes."""
    refused = bad_changes("order.json", mixed().canonical.decode())
    return {"drawn": [_drawn(each) for each in (mixed(), plain())], "bad_changes": refused}


def _drawn(asked: Survey) -> dict[str, Any]:
    lists = ordered_lists(asked)
    cases = []
    for number in range(TAPES):
        tape = b"".join(hashlib.sha256(f"order {number} {part}".encode()).digest() for part in range(4))
        taken: list[bytes] = []

        def read(size: int, tape: bytes = tape, taken: list[bytes] = taken) -> bytes:
            taken.append(tape[sum(map(len, taken)) :][:size])
            return taken[-1]

        draws = Draws(read)
        drawn = [draw_order(each, draws) for each in lists]
        made = arrange(asked, lists, drawn)
        shown = [[index, list(order)] for index, order in sorted(made.lists.items())]
        cases.append({"bytes": b"".join(taken).hex(), "drawn": drawn, "items": made.items, "lists": shown})
    return {"survey": asked.canonical.decode(), "digest": asked.digest, "cases": cases}
