"""What falls due with time, by a clock that the test moves, and when a clock may decide what cannot be undone."""

from datetime import UTC, datetime, timedelta

import pytest
from sottovoce.aggregator.clock import SteadyClock, day_of
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.surveys.housekeeping import Housekeeping
from sottovoce.shared.errors import StorageError

from tests.conftest import FakeClock
from tests.invited import blind_survey
from tests.storage.test_contract import arrival, identity
from tests.surveys import survey


def test_survey_closes_at_its_time_and_shows_everything(storage: SQLiteStorage, clock: FakeClock) -> None:
    """The last snapshot is whole, although nobody asked for it."""
    key = storage.publish(survey(closes="2026-06-02T00:00:00Z")).key
    storage.store([arrival(key, number) for number in range(3)])
    keep_house = Housekeeping(storage, clock, lambda: True)
    keep_house()
    assert not storage.surveys()[0].closed
    clock.moment += timedelta(hours=12)
    keep_house()

    assert storage.surveys()[0].closed_on == day_of(clock.moment)
    assert {cell.reports for cell in storage.cells(key)} == {3}


def test_ids_go_when_the_survey_said_so_and_not_before(storage: SQLiteStorage, clock: FakeClock) -> None:
    """Two days after the closing day; a clock that is set back brings nothing back."""
    key = storage.publish(survey(retention={"ids_days": 2})).key
    storage.store([arrival(key, 1)])
    keep_house = Housekeeping(storage, clock, lambda: True)
    storage.close_survey("exam", day_of(clock.moment))
    for days, known in ((0, True), (2, True), (3, False), (-1, False)):
        clock.moment = FakeClock().moment + timedelta(days=days)
        keep_house()
        assert (storage.find_report(key, identity(1)) is not None) == known
    assert len(list(storage.rows(key))) == 1


def test_log_is_emptied_once_a_day(storage: SQLiteStorage, clock: FakeClock) -> None:
    """Until then it tells the order in which groups were written."""
    key = storage.publish(survey()).key
    log = storage._path.with_name(storage._path.name + "-wal")
    keep_house = Housekeeping(storage, clock, lambda: True)
    keep_house()
    storage.store([arrival(key, 1)])
    keep_house()
    assert log.stat().st_size > 0
    clock.moment += timedelta(days=1)
    keep_house()

    assert log.stat().st_size == 0


@pytest.mark.parametrize("closed_on", [None, "2026-06-02T00:00:00Z"])
def test_survey_is_deleted_on_its_day_and_never_before(
    storage: SQLiteStorage, clock: FakeClock, closed_on: str | None
) -> None:
    """Also when it was closed long before, or is open still; another one, and one that names no day, stays."""
    given = {"closes": closed_on, "retention": {"delete_on": "2026-06-05"}}
    for name, more in (("exam", given), ("later", {"retention": {"delete_on": "2026-06-06"}}), ("kept", {})):
        storage.publish(survey(name=name, **more))
    keep_house = Housekeeping(storage, clock, lambda: True)
    clock.moment = datetime(2026, 6, 4, 23, 59, 59, tzinfo=UTC)
    keep_house()
    assert [row.name for row in storage.surveys()] == ["exam", "kept", "later"]
    clock.moment += timedelta(seconds=1)
    keep_house()

    assert [row.name for row in storage.surveys()] == ["kept", "later"]
    assert storage.record()[-1][2:4] == ("deleted", "exam")


def test_day_of_the_newest_revision_counts(storage: SQLiteStorage, clock: FakeClock) -> None:
    storage.publish(survey(retention={"delete_on": "2027-01-01"}))
    storage.publish(survey(revision=2, retention={"delete_on": "2026-06-01"}))
    Housekeeping(storage, clock, lambda: True)()

    assert storage.surveys() == []


def test_ids_that_are_signed_are_forgotten_once_no_revision_takes_reports(
    storage: SQLiteStorage, clock: FakeClock
) -> None:
    """So many days after the last one has closed; of other surveys each revision by itself."""
    kept = {"retention": {"ids_days": 5}}
    for asked in (blind_survey(**kept), survey(name="open", **kept)):
        storage.publish(asked)
        storage.close_survey(asked.name, day_of(clock.moment))
    keep_house = Housekeeping(storage, clock, lambda: True)
    keep_house()
    storage.publish(blind_survey(revision=2, replaces=blind_survey(**kept).digest, **kept))
    _days(6, clock, keep_house)
    assert [(row.name, row.purged) for row in storage.surveys()] == [("exam", False)] * 2 + [("open", True)]
    storage.close_survey("exam", day_of(clock.moment))
    _days(5, clock, keep_house)
    assert [row.purged for row in storage.revisions("exam")] == [False, False]
    _days(1, clock, keep_house)
    assert [row.purged for row in storage.revisions("exam")] == [True, True]


def _days(count: int, clock: FakeClock, keep_house: Housekeeping) -> None:
    for _ in range(count):
        clock.moment += timedelta(days=1)
        keep_house()


def test_what_cannot_be_undone_waits_for_a_clock_that_is_sure(storage: SQLiteStorage, clock: FakeClock) -> None:
    """Closing by date, forgetting ids and deleting; the log is emptied all the same."""
    storage.publish(survey(name="over", closes="2026-06-01T00:00:00Z"))
    storage.publish(survey(name="gone", retention={"delete_on": "2026-06-01"}))
    key = storage.publish(survey(retention={"ids_days": 0})).key
    storage.store([arrival(key, 1)])
    storage.close_survey("exam", day_of(clock.moment) - 9)
    sure: list[bool] = []
    keep_house = Housekeeping(storage, clock, lambda: bool(sure))
    keep_house()
    assert [(row.name, row.closed, row.purged) for row in storage.surveys()] == [
        ("exam", True, False), ("gone", False, False), ("over", False, False)
    ]  # fmt: skip
    sure.append(True)
    keep_house()

    assert [(row.name, row.closed, row.purged) for row in storage.surveys()] == [
        ("exam", True, True), ("over", True, False)
    ]  # fmt: skip


def test_forgetting_waits_after_a_pause_and_closing_does_not(storage: SQLiteStorage, clock: FakeClock) -> None:
    """Nobody knows that the time is right: ids and surveys stay for a day of running, or until somebody says so."""
    storage.publish(survey(name="over", closes="2026-06-02T00:00:00Z"))
    storage.publish(survey(name="gone", retention={"delete_on": "2026-06-03"}))
    key = storage.publish(survey(retention={"ids_days": 0})).key
    storage.close_survey("exam", day_of(clock.moment))
    keep_house = Housekeeping(storage, clock, lambda: True)
    keep_house()
    clock.moment += timedelta(days=8)
    keep_house()
    assert [(row.name, row.closed, row.purged) for row in storage.surveys()] == [
        ("exam", True, False), ("gone", False, False), ("over", True, False)
    ]  # fmt: skip
    for _ in range(24 * 60):
        clock.moment += timedelta(minutes=1)
        assert not storage.surveys()[0].purged
        keep_house()

    assert [(row.key, row.purged) for row in storage.surveys() if row.name != "over"] == [(key, True)]


def test_node_that_is_not_ready_does_nothing(storage: SQLiteStorage, clock: FakeClock) -> None:
    """Its schema or its clock is not that of the database: not even that it runs is noted."""
    storage.publish(survey(name="gone", retention={"delete_on": "2026-06-01"}))

    def check_ready() -> None:
        raise StorageError("its clock is wrong")

    with pytest.raises(StorageError, match="its clock is wrong"):
        Housekeeping(storage, clock, lambda: True, check_ready)()
    assert [row.name for row in storage.surveys()] == ["gone"]
    storage.note_running(0)
    assert storage.forgetting_waits(1) == 0


class Machine:
    """A machine whose clock can be set, a clock that runs since its start, and a database with a clock of its own."""

    def __init__(self, shared: bool = False) -> None:
        self.wall = FakeClock()
        self.running = 0.0
        self.ahead = 0.0
        self.shared = shared
        self.is_sure = SteadyClock(self.wall, self.database, lambda: self.running)

    def database(self) -> float | None:
        """The database's clock, which is ``ahead``."""
        return self.wall().timestamp() + self.ahead if self.shared else None

    def after(self, seconds: float, drift: float = 0.0) -> bool:
        """Whether the clock is sure, asked every minute until then; it has been set by ``drift`` on the way."""
        self.wall.moment += timedelta(seconds=drift)
        for _ in range(int(seconds // 60)):
            self.running += 60
            self.wall.moment += timedelta(seconds=60)
            self.is_sure()
        return self.is_sure()


@pytest.mark.parametrize("shared", [False, True])
def test_clock_is_sure_after_ten_minutes_and_not_before(shared: bool) -> None:
    """A machine that has just started may have any time."""
    machine = Machine(shared)
    assert [machine.after(seconds) for seconds in (0, 540, 60, 60)] == [False, False, True, True]


@pytest.mark.parametrize(("drift", "sure"), [(-6, False), (6, False), (86400 * 400, False), (4, True)])
def test_clock_that_is_set_is_unsure_for_ten_minutes(drift: float, sure: bool) -> None:
    """In either direction; one that is corrected a little stays sure, as time servers do."""
    machine = Machine()
    assert machine.after(600)
    assert (machine.after(60, drift), machine.after(540), machine.after(60)) == (sure, sure, True)


@pytest.mark.parametrize("ahead", [-6, 6])
def test_clock_that_differs_from_the_databases_is_never_sure(ahead: float) -> None:
    """Until the two agree, and then ten minutes more: one wrong node must not close for all."""
    machine = Machine(shared=True)
    machine.ahead = ahead
    assert not machine.after(3600)
    machine.ahead = 0
    assert [machine.after(540), machine.after(60)] == [False, True]
