"""All truths behind one report, and random bytes with which each gives it: for tests of what may tell them apart."""

from collections.abc import Callable, Iterator
from itertools import count, product
from typing import Any

from sottovoce.client.draws import Draws
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.documents import names, survey
from tests.vectors.tape import Tape

COIN = {"name": "coin_flip"}

ASKED: Survey = parse_survey(
    survey(
        {"type": "boolean", "name": "pills", "label": {"en": "Pills?"}, "mechanism": COIN},
        {
            "type": "boolean", "name": "study", "label": {"en": "To study?"}, "mechanism": COIN,
            "when_absent": "no", "visible_if": {"pills": "yes"},
        },
        {
            "type": "select_one", "name": "from", "label": {"en": "From whom?"}, "choices": names(2),
            "mechanism": {"name": "kary_rr", "odds": "3"}, "absent_category": True, "visible_if": {"pills": "yes"},
        },
        {
            "type": "select_one", "name": "year", "label": {"en": "Which year?"}, "choices": names(2, "y"),
            "public": True,
        },
        name="pills",
        after={"text": {"en": "Need to talk?"}, "link": "https://help.example.org/"},
    )
)  # fmt: skip
"""Two of its questions are shown to those alone who say yes to the first."""

REPORT_ID = bytes(range(16))


def truths() -> Iterator[dict[str, Any]]:
    """Every way to fill it in, the public question apart: hidden, answered and refused."""
    yield {"pills": "no", "year": "y1"}
    for study, source in product(("no", "yes", None), ("c0", "c1", None)):
        given = {"study": study, "from": source}
        yield {"pills": "yes", "year": "y1"} | {name: answer for name, answer in given.items() if answer is not None}


def reports() -> list[tuple[int, ...]]:
    """Every report of it, the public answer fixed; each truth can give each of them."""
    return list(product((0, 1), (0, 1), (0, 1, 2), (1,)))


def bytes_for(answers: dict[str, Any], report: tuple[int, ...]) -> bytes:
    """Random bytes, the id's first, with which these answers give this report."""
    values = encode(ASKED, answers)
    for seed in count():
        tape = Tape(f"one report {seed}")
        drawn = randomize(ASKED, values, Draws(beginning_with(REPORT_ID, tape)))
        if drawn.values == report:
            return REPORT_ID + bytes(tape.taken)
    raise AssertionError


def beginning_with(first: bytes, then: Callable[[int], bytes]) -> Callable[[int], bytes]:
    rest = bytearray(first)

    def read(wanted: int) -> bytes:
        taken = bytes(rest[:wanted])
        del rest[:wanted]
        return taken if len(taken) == wanted else taken + then(wanted - len(taken))

    return read
