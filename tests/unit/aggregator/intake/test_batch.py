"""Batches and withdrawals at admission: each item by itself, each withdrawal for good."""

import json
from dataclasses import replace
from typing import Any

import pytest
from sottovoce.aggregator.intake.admission import Admission
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.report import Report, dump_report

from tests.conftest import FakeClock
from tests.surveys import survey
from tests.unit.aggregator.intake.test_admission import SURVEY, report
from tests.unit.shared.test_schema import validator


@pytest.fixture
def admission(storage: SQLiteStorage, clock: FakeClock) -> Admission:
    """Admission to a published survey."""
    storage.publish(SURVEY)
    return Admission(storage, clock)


def item(sent: Report, token: str = "") -> str:
    """A batch's item as a program writes it."""
    text = dump_report(sent, SURVEY).decode().rstrip()
    return f'{{"report":{text},"token":"{token}"}}' if token else f'{{"report":{text}}}'


def batch(*items: str) -> bytes:
    """The batch of these items."""
    return f'{{"format":"sottovoce-batch/1","items":[{",".join(items)}]}}'.encode()


def replies(admission: Admission, *items: str) -> list[Any]:
    """What a batch is answered."""
    document = json.loads(admission.begin_batch("exam", batch(*items)).reply())
    validator("batch-receipt").validate(document)
    return list(document["items"])


def test_batch_answers_each_item_in_order_and_keeps_the_good_ones(admission: Admission, storage: SQLiteStorage) -> None:
    """Nine ways to be wrong, one good report, and its copy."""
    good, known = report(), report()
    admission.admit("exam", dump_report(known, SURVEY))
    other = survey(title={"en": "Changed"})
    answered = replies(
        admission,
        "1",
        '{"reports":{}}',
        item(replace(report(), values=(2, 0, 0))),
        item(replace(report(), digest=other.digest)),
        item(replace(report(), survey="axem")),
        item(good),
        item(good).replace('"wave":0', '"wave":-0'),
        item(good).replace(":{", ": {"),
        item(replace(known, values=(1 - (known.values[0] or 0), *known.values[1:]))),
        item(known),
        item(good),
    )

    receipt = admission.admit("exam", dump_report(good, SURVEY))
    assert [reply.get("code", "-") for reply in answered] == [
        "malformed", "malformed", "out_of_range", "digest_mismatch", "unknown_survey", "-", "malformed", "malformed",
        "id_conflict", "-", "-",
    ]  # fmt: skip
    assert answered[5] == answered[10] == receipt
    assert storage.surveys()[0].reports == 2
    assert admission.rejected["malformed"] == 4


def test_batch_whose_ids_are_all_too_short_stores_nothing(admission: Admission, storage: SQLiteStorage) -> None:
    """Ids of one length are looked at together; the wrong length must fail then too."""
    short = [item(one).replace(one.report_id, one.report_id[1:]) for one in (report(), report())]

    assert [reply["code"] for reply in replies(admission, *short)] == ["malformed", "malformed"]
    assert storage.surveys()[0].reports == 0


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        batch(),
        batch(*["1"] * 1001),
        batch("1") + b" ",
        batch("1").replace(b":[", b": ["),
        batch("1").replace(b"batch/1", b"batch/2"),
        batch("1").replace(b'{"format', b'{"items":[],"format'),
        batch("[" * 200_000),
        b"\xff" + batch("1"),
    ],
    ids=lambda body: body[:40],
)
def test_batch_that_is_none_is_refused_as_a_whole(admission: Admission, body: bytes) -> None:
    """Empty, too many, not canonical, nested, not UTF-8: one reason, and nothing is stored."""
    with pytest.raises(ReportRejected) as rejected:
        admission.begin_batch("exam", body)
    assert rejected.value.code == "malformed"


def test_withdraw_takes_a_report_back_until_close(admission: Admission, storage: SQLiteStorage) -> None:
    """The same confirmation twice; the report is 410 afterwards; a closed survey keeps what it has."""
    first, second = report(), report()
    for sent in (first, second):
        admission.admit("exam", dump_report(sent, SURVEY))
    asked = json.dumps({"report_id": first.report_id}, separators=(",", ":")).encode()
    confirmation = admission.withdraw("exam", asked)
    validator("withdrawal").validate(confirmation)
    with pytest.raises(ReportRejected) as rejected:
        admission.admit("exam", dump_report(first, SURVEY))
    assert rejected.value.code == "withdrawn"
    storage.close_survey("exam", 20_000)

    assert admission.withdraw("exam", asked) == confirmation
    assert admission.withdraw("exam", asked.replace(first.report_id.encode(), b"0" * 32)) is None
    with pytest.raises(ReportRejected) as rejected:
        admission.withdraw("exam", asked.replace(first.report_id.encode(), second.report_id.encode()))
    assert rejected.value.code == "closed"
    with pytest.raises(ReportRejected) as rejected:
        admission.admit("exam", dump_report(first, SURVEY))
    assert rejected.value.code == "withdrawn"


@pytest.mark.parametrize(
    "body", [b"", b"{}", b'{"report_id":1}', b'{"report_id": "x"}', b'{"report_id":"' + b"F" * 32 + b'"}']
)
def test_withdraw_refuses_what_is_no_withdrawal(admission: Admission, body: bytes) -> None:
    """Strict, like reports."""
    with pytest.raises(ReportRejected) as rejected:
        admission.withdraw("exam", body)
    assert rejected.value.code == "malformed"


def test_purged_survey_answers_closed_to_everything(admission: Admission, storage: SQLiteStorage) -> None:
    """Once ids are gone no report is known again, whatever was remembered before."""
    sent = report()
    admission.admit("exam", dump_report(sent, SURVEY))
    storage.close_survey("exam", 20_000)
    storage.purge(1)
    asked = json.dumps({"report_id": sent.report_id}, separators=(",", ":")).encode()

    with pytest.raises(ReportRejected) as rejected:
        admission.admit("exam", dump_report(sent, SURVEY))
    assert rejected.value.code == "closed"
    assert replies(admission, item(sent)) == [{"code": "closed"}]
    with pytest.raises(ReportRejected) as rejected:
        admission.withdraw("exam", asked)
    assert rejected.value.code == "closed"
