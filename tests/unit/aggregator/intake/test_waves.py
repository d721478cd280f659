"""Waves: each open by the aggregator's clock only, counted by itself, and shown by itself or with the others."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sottovoce.aggregator.analysis.estimates import RevisionCounts, analyse
from sottovoce.aggregator.analysis.published_counts import revisions_of
from sottovoce.aggregator.analysis.results_document import export_document
from sottovoce.aggregator.intake.admission import Admission
from sottovoce.aggregator.storage import Cell, StoredSurvey
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.surveys.housekeeping import close_due
from sottovoce.client.draws import Draws
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.errors import EstimateError, ReportRejected
from sottovoce.shared.report import Report, dump_report

from tests.conftest import FakeClock
from tests.recount import recount
from tests.surveys import ANSWERS, survey

WAVES = [
    {"opens": "2026-01-01T00:00:00Z", "closes": "2026-02-01T00:00:00Z"},
    {"opens": "2026-02-01T00:00:00Z", "closes": "2026-03-01T00:00:00Z"},
    {"opens": "2026-06-01T00:00:00Z", "closes": "2026-07-01T00:00:00Z"},
]
SURVEY = survey(waves=WAVES, privacy={"release_batch": 5})


def at(month: int, day: int = 1) -> datetime:
    return datetime(2026, month, day, tzinfo=UTC)


def body(wave: int) -> bytes:
    return dump_report(randomize(SURVEY, encode(SURVEY, ANSWERS), Draws(), wave), SURVEY)


@pytest.fixture
def admission(storage: SQLiteStorage, clock: FakeClock) -> Admission:
    """Admission to the survey with three waves."""
    storage.publish(SURVEY)
    return Admission(storage, clock)


@pytest.mark.parametrize(
    ("moment", "reasons"),
    [
        (datetime(2025, 12, 31, 23, 59, 59, tzinfo=UTC), ["closed", "closed", "closed"]),
        (at(1), ["", "closed", "closed"]),
        (at(2), ["closed", "", "closed"]),
        (at(4), ["closed", "closed", "closed"]),
        (at(6, 30), ["closed", "closed", ""]),
        (at(7), ["closed", "closed", "closed"]),
    ],
)
def test_clock_of_the_aggregator_decides_which_wave_is_open(
    admission: Admission, clock: FakeClock, moment: datetime, reasons: list[str]
) -> None:
    """One at most, whatever a report says; a wave that the survey does not have is never open."""
    clock.moment = moment
    found = []
    for wave in range(5):
        try:
            admission.admit("exam", body(wave))
            found.append("")
        except ReportRejected as rejection:
            found.append(rejection.code)

    assert found == [*reasons, "out_of_range", "out_of_range"]


def test_report_of_a_past_wave_is_acknowledged_again_but_not_withdrawn(admission: Admission, clock: FakeClock) -> None:
    """Its receipt may have been lost; its wave is over."""
    clock.moment = at(1)
    sent = body(0)
    first = admission.admit("exam", sent)
    clock.moment = at(2)

    assert admission.admit("exam", sent) == first
    with pytest.raises(ReportRejected) as rejected:
        admission.withdraw("exam", b'{"report_id":"%s"}' % first["report_id"].encode())
    assert rejected.value.code == "closed"


@pytest.mark.parametrize("wave", [0, 1])
def test_one_id_is_one_report_in_all_waves(admission: Admission, clock: FakeClock, wave: int) -> None:
    """The same id and values in a later wave, or in one that is over, are a conflict, not a report that is known."""
    clock.moment = at(wave + 1)
    report = Report("exam", SURVEY.digest, wave, "0" * 32, (1, 2, 0))
    admission.admit("exam", dump_report(report, SURVEY))
    clock.moment = at(2)
    with pytest.raises(ReportRejected) as rejected:
        admission.admit("exam", dump_report(replace(report, wave=1 - wave), SURVEY))

    assert rejected.value.code == "id_conflict"


def test_results_are_had_for_each_wave_and_for_all(
    admission: Admission, storage: SQLiteStorage, clock: FakeClock
) -> None:
    """Counted apart, and one wave's reports move no other wave's figures."""
    sizes = (7, 12, 4)
    for wave, (size, moment) in enumerate(zip(sizes, (at(1), at(2), at(6)), strict=True)):
        clock.moment = moment
        for number in range(size):
            report = Report("exam", SURVEY.digest, wave, f"{wave:016x}{number:016x}", (wave % 2, 1, 0))
            admission.admit("exam", dump_report(report, SURVEY))
    clock.moment = at(7)
    close_due(storage, clock())
    revisions = revisions_of(storage, "exam")
    both = analyse(revisions)
    each = [analyse(revisions, wave=wave) for wave in range(3)]

    assert both.closed
    assert both.waves == sizes
    assert (both.reports, both.questions[0].n, both.questions[0].tally) == (23, 23, {0: 11, 1: 12})
    assert [result.reports for result in each] == list(sizes)
    assert [result.questions[0].tally for result in each] == [{0: 7}, {1: 12}, {0: 4}]
    assert [export_document(result)["wave"] for result in [both, *each]] == [None, 0, 1, 2]
    assert recount(storage, storage.surveys()[0]) == storage.live_counts(1)
    # A group of four is too small to be shown by itself, and in the other waves it would be told by subtracting.
    assert [result.cohorts for result in [both, *each]] == [()] * 4
    for wave in (-1, 3):
        with pytest.raises(EstimateError, match="no such wave"):
            analyse(revisions, wave=wave)


def test_waves_under_one_memo_are_not_estimated_together() -> None:
    """Their reports hang together, so an interval for the sum would be too narrow; each wave by itself is estimated."""
    flip = {"name": "coin_flip"}
    memo = {"name": "memoized_rr", "permanent": flip, "instantaneous": flip, "waves": 3}
    boolean = SURVEY.document["questions"][0]
    asked = survey(questions=[{**boolean, "mechanism": memo}, {**boolean, "name": "fresh"}], waves=WAVES)
    stored = StoredSurvey(0, asked.name, asked.revision, asked.digest, asked.canonical, True, 200)
    tallies = {0: {0: 50, 1: 50}, 1: {0: 60, 1: 40}}
    cells = tuple(Cell(wave, ALL, 100, 0, tallies) for wave in (0, 2))

    def estimated(chosen: tuple[Cell, ...], wave: int | None = None) -> list[int]:
        results = analyse([RevisionCounts(stored, asked, chosen)], wave=wave)
        export_document(results)
        return [len(question.estimates) for question in results.questions]

    assert estimated(cells) == [0, 1]
    assert estimated(cells, 0) == estimated(cells, 2) == estimated(cells[:1]) == [1, 1]
