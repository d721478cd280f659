"""Admission: the order of its checks, the strictness of its parser, the reasons it gives."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sottovoce.aggregator.intake.admission import Admission, Pending, check_values
from sottovoce.aggregator.intake.decode import decode_report
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.client.draws import Draws
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.errors import REJECTIONS, ReportRejected
from sottovoce.shared.report import Report, dump_report, parse_report

from tests.conftest import FakeClock
from tests.recount import recount
from tests.surveys import ANSWERS, survey

SURVEY = survey(opens="2026-01-01T00:00:00Z", closes="2027-01-01T00:00:00Z")


@pytest.fixture
def admission(storage: SQLiteStorage, clock: FakeClock) -> Admission:
    """Admission to a published survey."""
    storage.publish(SURVEY)
    return Admission(storage, clock)


def report() -> Report:
    """A fresh, honest report."""
    return randomize(SURVEY, encode(SURVEY, ANSWERS), Draws())


def reason(admission: Admission, body: bytes, name: str = "exam") -> str:
    """Why a body is not admitted."""
    with pytest.raises(ReportRejected) as rejected:
        admission.admit(name, body)
    return rejected.value.code


def test_admit_gives_the_same_receipt_to_every_copy(admission: Admission, storage: SQLiteStorage) -> None:
    """A retry is acknowledged like the first try and counted once."""
    body = dump_report(report(), SURVEY)

    assert admission.admit("exam", body) == admission.admit("exam", body)
    assert storage.surveys()[0].reports == 1


def test_admit_acknowledges_a_known_report_after_close(admission: Admission, storage: SQLiteStorage) -> None:
    """Who lost the receipt gets it even when the survey has closed meanwhile."""
    body = dump_report(report(), SURVEY)
    first = admission.admit("exam", body)
    storage.close_survey("exam", 20_000)

    assert admission.admit("exam", body) == first
    assert reason(admission, dump_report(report(), SURVEY)) == "closed"


def test_begin_from_memory_does_without_the_database_or_does_nothing(
    admission: Admission, storage: SQLiteStorage, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A survey that is not remembered, a report that fails a check: whoever must not wait is told so, and no more."""

    def begin(sent: Report) -> Pending | None:
        return admission.begin_from_memory(admission.read("exam", dump_report(sent, SURVEY)))

    assert begin(report()) is None
    admission.admit("exam", dump_report(report(), SURVEY))
    monkeypatch.setattr(storage, "read", None)  # whatever reads now fails
    begun = begin(report())
    assert begun is not None
    assert json.loads(begun.reply())["format"] == "sottovoce-receipt/1"
    assert begin(replace(report(), values=(9, 0, 0))) is None
    assert begin(replace(report(), digest="0" * 64)) is None
    clock.moment = clock.moment.replace(year=2020)
    assert begin(report()) is None
    monkeypatch.undo()
    assert not admission.rejected
    assert storage.surveys()[0].reports == 2


def test_admit_refuses_another_report_under_a_known_id(admission: Admission, storage: SQLiteStorage) -> None:
    """The first one stays."""
    first = report()
    admission.admit("exam", dump_report(first, SURVEY))
    other = replace(first, values=(1 - (first.values[0] or 0), *first.values[1:]))

    assert reason(admission, dump_report(other, SURVEY)) == "id_conflict"
    assert list(storage.rows(1)) == [first.values]


@pytest.mark.parametrize(
    ("seconds", "admitted"), [(-1, False), (0, True), (365 * 86400 - 1, True), (365 * 86400, False)]
)
def test_admit_keeps_the_window(admission: Admission, clock: FakeClock, seconds: int, admitted: bool) -> None:
    """The window is closed at its start and open at its end, by the aggregator's clock."""
    assert SURVEY.opens is not None
    clock.moment = SURVEY.opens + timedelta(seconds=seconds)
    body = dump_report(report(), SURVEY)

    if admitted:
        admission.admit("exam", body)
    else:
        assert reason(admission, body) == "closed"


def test_admit_names_the_reason(admission: Admission) -> None:
    """Each kind of wrong report has its reason, and the reasons are counted."""
    good = report()
    other_text = survey(title={"en": "Changed"})
    cases = [
        ("unknown_survey", dump_report(good, SURVEY), "nothing"),
        ("unknown_survey", dump_report(replace(good, survey="axem"), SURVEY), "exam"),
        ("digest_mismatch", dump_report(replace(good, digest=other_text.digest), SURVEY), "exam"),
        ("out_of_range", dump_report(replace(good, values=(2, 0, 0)), SURVEY), "exam"),
        ("out_of_range", dump_report(replace(good, values=(0, 3, 0)), SURVEY), "exam"),
        ("out_of_range", dump_report(replace(good, values=(0, 0)), SURVEY), "exam"),
        ("malformed", dump_report(replace(good, values=(None, 0, 0)), SURVEY), "exam"),
        ("malformed", dump_report(good, SURVEY) + b" ", "exam"),
        ("malformed", dump_report(good, SURVEY).rstrip()[:-1], "exam"),
    ]

    assert [reason(admission, body, name) for _, body, name in cases] == [code for code, _, _ in cases]
    assert admission.rejected == {"unknown_survey": 2, "digest_mismatch": 1, "out_of_range": 3, "malformed": 3}
    assert set(admission.rejected) <= set(REJECTIONS)


def test_admit_wants_exactly_as_many_answers_as_are_asked(storage: SQLiteStorage, clock: FakeClock) -> None:
    """Under ``ask``: not one private answer more or less, and every public one; also with values seen before."""
    asking = survey(ask=1)
    storage.publish(asking)
    admission = Admission(storage, clock)
    base = Report("exam", asking.digest, 0, "0" * 32, (1, None, 0))

    def body(number: int, *values: int | None) -> bytes:
        return dump_report(replace(base, report_id=f"{number:032x}", values=values), asking)

    admission.admit("exam", body(1, 1, None, 0))
    admission.admit("exam", body(2, None, 2, 0))
    for number, values in enumerate([(1, 2, 0), (1, 2, None), (None, 3, 0)], 3):
        assert reason(admission, body(number, *values)) == "out_of_range"
    # More nulls make a report longer than any honest one.
    for number, values in enumerate([(None, None, 0), (1, None, None)], 6):
        assert reason(admission, body(number, *values)) == "malformed"
        with pytest.raises(ReportRejected, match="as many questions"):
            check_values(asking, values)
    assert recount(storage, storage.surveys()[0]) == storage.live_counts(1) == {0: {1: 1}, 1: {2: 1}, 2: {0: 2}}


def mutants(body: str) -> list[bytes]:
    """Texts that mean nearly the same and must not pass."""
    document: dict[str, Any] = json.loads(body)
    texts = [
        body.replace('"wave":0', '"wave":-0'),
        body.replace('"wave":0', '"wave":0.0'),
        body.replace('"wave":0', '"wave":0e0'),
        body.replace('"wave":0', '"wave":false'),
        body.replace('"wave":0', '"wave":null'),
        body.replace('"wave":0', '"wave":"0"'),
        body.replace('"wave":0', '"wave":10000'),
        body.replace('"wave":0', '"wave":0,"wave":0'),
        body.replace('"wave":0', '"wave": 0'),
        body.replace('"wave":0', '"wave":0,"extra":1'),
        body.replace('"wave":0,', ""),
        body.replace('"values":[', '"values":[true,'),
        body.replace('"values":[', '"values":[NaN,'),
        body.replace('"values":[', '"values":[1e999,'),
        body.replace('"values":[', '"values":[00,'),
        body.replace('"values":[', '"values":[[],'),
        body.replace('"values":[', '"values":{'),
        body.replace("sottovoce-report/1", "sottovoce-report/2"),
        body.replace("sottovoce-report/1", "sottovoce\\u002dreport/1"),
        body.replace('"survey":"exam"', '"survey":"\\ud800"'),
        body.replace(document["report_id"], document["report_id"].upper().replace("0", "A")),
        body.replace(document["report_id"], document["report_id"][:-1]),
        body.replace(document["report_id"], "g" * 32),
        body.replace(document["digest"], document["digest"].upper()),
        json.dumps(document),
        json.dumps(document, sort_keys=True, separators=(",", ":")),
        f"[{body}]",
        f" {body}",
        f"{body}\n",
        f"{body}{body}",
        "\ufeff" + body,
        "",
        "null",
        "1",
        '"x"',
        "[" * 60_000,
        '{"a":' * 12_000,
    ]
    bytes_only = [body.encode("utf-16"), body.encode() + b"\xff", body.encode() + b"\0", b"\xed\xa0\x80"]
    return [text.encode() for text in texts] + bytes_only


def test_both_parsers_refuse_every_mutant() -> None:
    """The aggregator's fast parser and the reference refuse the same texts, with one reason."""
    body = dump_report(report(), SURVEY)
    fast, reference = decode_report(body), parse_report(body)
    assert all(getattr(fast, field) == value for field, value in vars(reference).items())
    for mutant in mutants(body.decode().rstrip()):
        for parse in (decode_report, parse_report):
            with pytest.raises(ReportRejected) as rejected:
                parse(mutant)
            assert rejected.value.code == "malformed", mutant[:200]


@pytest.mark.parametrize("question", ["is_withdrawn", "find_report"])
def test_withdrawal_that_another_overtakes_is_confirmed(
    admission: Admission, storage: SQLiteStorage, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    """Somebody else withdraws the report just after one of the questions, whether it is there or withdrawn."""
    sent = report()
    admission.admit("exam", dump_report(sent, SURVEY))
    body = json.dumps({"report_id": sent.report_id}, separators=(",", ":")).encode()
    original = getattr(storage, question)

    def overtaken(*where: Any) -> Any:
        told = original(*where)
        monkeypatch.setattr(storage, question, original)
        assert admission.withdraw("exam", body) is not None
        return told

    monkeypatch.setattr(storage, question, overtaken)
    assert admission.withdraw("exam", body) == admission.withdraw("exam", body) is not None
