"""A node that remembers a survey follows what another one does with it."""

import json

import pytest
from sottovoce.aggregator.intake.admission import Admission
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.report import Report, dump_report

from tests.conftest import FakeClock
from tests.surveys import survey

SURVEY = survey()


@pytest.fixture
def node(storage: SQLiteStorage, clock: FakeClock) -> Admission:
    """A node that has admitted a report, and so remembers the survey."""
    storage.publish(SURVEY)
    admission = Admission(storage, clock)
    admission.admit("exam", body(0))
    return admission


def body(number: int) -> bytes:
    """A report of its own."""
    return dump_report(Report("exam", SURVEY.digest, 0, f"{number:032x}", (1, 2, 0)), SURVEY)


def refused(node: Admission, number: int) -> str:
    """Why a report is not admitted."""
    with pytest.raises(ReportRejected) as rejected:
        node.admit("exam", body(number))
    return rejected.value.code


def test_reopened_survey_is_open_at_a_node_that_saw_it_closed(node: Admission, storage: SQLiteStorage) -> None:
    """What it remembers of the closed one is read again."""
    storage.close_survey("exam", 1)
    assert [refused(node, 1), refused(node, 1)] == ["closed", "closed"]
    storage.reopen_survey("exam")

    assert node.admit("exam", body(1))["report_id"] == f"{1:032x}"


@pytest.mark.parametrize("closed", [False, True])
def test_deleted_survey_is_unknown_at_a_node_that_remembers_it(
    node: Admission, storage: SQLiteStorage, closed: bool
) -> None:
    """Also a report that it admitted; a withdrawal finds nothing; nothing is stored for the next survey."""
    if closed:
        storage.close_survey("exam", 1)
        assert refused(node, 1) == "closed"
    storage.delete_survey("exam")
    other = storage.publish(survey(name="other")).key
    found = [refused(node, 2), refused(node, 2), refused(node, 0)]
    with pytest.raises(ReportRejected) as rejected:
        node.withdraw("exam", json.dumps({"report_id": f"{0:032x}"}, separators=(",", ":")).encode())

    assert [*found, rejected.value.code] == ["unknown_survey"] * 4
    assert list(storage.rows(other)) == []
