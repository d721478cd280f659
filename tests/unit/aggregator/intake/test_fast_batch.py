"""Batches read without a parser: what they hold, and that nothing is read so which the parser would refuse."""

import json
from dataclasses import replace

import pytest
from sottovoce.aggregator.intake.admission import Admission, decode_fast_batch
from sottovoce.aggregator.intake.decode import MOST_ITEMS, decode_batch, dump
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.report import MAX_WAVE, Report, dump_report

from tests.conftest import FakeClock
from tests.recount import recount
from tests.surveys import document, survey
from tests.unit.aggregator.intake.test_admission import SURVEY, batch, item, report

REPORTS = [Report("exam", SURVEY.digest, 0, f"{number:032x}", (number % 2, number % 3, 0)) for number in range(5)]
GOOD = batch(*map(item, REPORTS))
A, B = (REPORTS[number].report_id for number in (1, 2))


def test_batch_comes_apart_into_what_the_parser_finds() -> None:
    """The same ids, values and head."""
    fast = decode_fast_batch(GOOD, MOST_ITEMS)
    parsed = [found.report for found in decode_batch(GOOD) if found is not None]

    assert (fast.survey, fast.digest, fast.wave) == ("exam", SURVEY.digest, 0)
    assert fast.ids == "".join([found.report_id for found in parsed])
    assert [b"[" + text + b"]" for text in fast.values] == [dump(found.values) for found in parsed]
    assert fast.length == max(len(dump(found)) for found in parsed)


@pytest.mark.parametrize("sizes", [(1,), (5,), (1000,)])
def test_both_ways_give_the_same_reply(storage: SQLiteStorage, clock: FakeClock, sizes: tuple[int]) -> None:
    """New ones, known ones and an id that another report has; the token, of no use here, takes the longer way."""
    storage.publish(SURVEY)
    admission = Admission(storage, clock)
    sent = [report() for _ in range(*sizes)]
    longer = batch(*[item(one, "0" * 16) for one in sent])
    assert decode_fast_batch(longer, MOST_ITEMS) is None
    first = admission.begin_batch("exam", batch(*map(item, sent))).reply()

    assert json.loads(first)["items"][0] == admission.admit("exam", dump_report(sent[0], SURVEY))
    assert first == admission.begin_batch("exam", longer).reply()
    assert first == admission.begin_batch("exam", batch(*map(item, sent))).reply()
    assert storage.surveys()[0].reports == len(sent)
    sent[-1] = replace(sent[-1], values=(1 - (sent[-1].values[0] or 0), *sent[-1].values[1:]))
    mixed = json.loads(admission.begin_batch("exam", batch(*map(item, sent))).reply())["items"]
    assert mixed == [*json.loads(first)["items"][:-1], {"code": "id_conflict"}]
    assert admission.rejected == {"id_conflict": 1}


def test_values_of_different_sizes_are_stored_as_they_came(storage: SQLiteStorage, clock: FakeClock) -> None:
    """One byte, two bytes, a number that one byte keeps for what was not answered: each report is itself."""
    age = {"type": "integer", "name": "age", "label": {"en": "Age?"}, "public": True, "min": 0, "max": 10_000}
    asked = survey(questions=[document()["questions"][0], age])
    storage.publish(asked)
    admission = Admission(storage, clock)
    values = [(number % 2, value) for number, value in enumerate([3, 254, 255, 256, 9_999, 10_000, 300, 0, 255])]
    sent = [Report(asked.name, asked.digest, 0, f"{9 - number:032x}", pair) for number, pair in enumerate(values)]
    body = batch(*[f'{{"report":{dump_report(one, asked).decode().rstrip()}}}' for one in sent])
    assert decode_fast_batch(body, MOST_ITEMS) is not None
    receipts = json.loads(admission.begin_batch(asked.name, body).reply())["items"]

    assert receipts == [admission.admit(asked.name, dump_report(one, asked)) for one in sent]
    assert list(storage.rows(1)) == values[::-1]
    assert storage.live_counts(1) == recount(storage, storage.surveys()[0])


VALUES, WHOLE = "[1,1,0]", GOOD.decode()
CHANGES = [
    (A, A.upper().replace("1", "A")), (A, A[1:]), (A, A + "0"), (A, A[:-1] + "g"), (A, A[:-2] + "é"),
    *((VALUES, wrong) for wrong in (
        "[1, 1,0]", "[1,01,0]", "[1,-0,0]", "[1,true,0]", "[1,1.0,0]", "[1,1,0,]", "[1,1,0]]", "[1,1,[0]]",
        '[1,1,0],"values":[0,0,0]', '[1,1,0],"x":[0]', "[1,1,\x000]", "[1,1,9]", "[1,1]", "[]", "[null,1,0]",
        f"[1,1,{2**70}]",
    )),
    (f'0,"report_id":"{B}', f'-0,"report_id":"{B}'), ('"wave":0', f'"wave":{MAX_WAVE + 1}'), ('"wave":0', '"wave":00'),
    (f'"{A}","', f'"{A}", "'), (SURVEY.digest, "0" * 64), ('"exam"', '"axem"'),
]  # fmt: skip
WRONG = [
    *(WHOLE.replace(right, wrong) for right, wrong in CHANGES), WHOLE + " ", WHOLE[:-1], WHOLE[:-2] + ",]}",
    WHOLE[:-2] + "{}]}", WHOLE[:-2] + ',{"report":{}}]}', WHOLE.replace('"report":{', '"report":{"x":1,', 1),
    WHOLE.replace(f'0,"report_id":"{A}', f'1,"report_id":"{A}').replace(B, "x"),
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_judged_by_the_parser(storage: SQLiteStorage, clock: FakeClock, wrong: str) -> None:
    """Whatever is changed, both ways agree: here the shorter one is shut."""
    storage.publish(SURVEY)
    quick, slow = Admission(storage, clock), Admission(storage, clock)
    slow._begin_fast = lambda *_: None  # type: ignore[method-assign]
    body = wrong.encode()
    assert body != GOOD
    replies = []
    for admission in (quick, slow):
        try:
            replies.append(admission.begin_batch("exam", body).reply())
        except ReportRejected as rejection:
            replies.append(rejection.code.encode())

    assert replies[0] == replies[1]
    assert quick.rejected == slow.rejected
    assert sum(quick.rejected.values()) > 0
