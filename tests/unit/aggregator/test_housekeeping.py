"""What falls due with time, by a clock that the test moves."""

from datetime import timedelta

from sottovoce.aggregator.clock import day_of
from sottovoce.aggregator.housekeeping import Housekeeping
from sottovoce.aggregator.storage.sqlite import SQLiteStorage

from tests.conftest import FakeClock
from tests.storage.test_contract import arrival, identity
from tests.surveys import survey


def test_survey_closes_at_its_time_and_shows_everything(storage: SQLiteStorage, clock: FakeClock) -> None:
    """The last snapshot is whole, although nobody asked for it."""
    key = storage.publish(survey(closes="2026-06-02T00:00:00Z")).key
    storage.store([arrival(key, number) for number in range(3)])
    keep_house = Housekeeping(storage, clock)
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
    keep_house = Housekeeping(storage, clock)
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
    keep_house = Housekeeping(storage, clock)
    keep_house()
    storage.store([arrival(key, 1)])
    keep_house()
    assert log.stat().st_size > 0
    clock.moment += timedelta(days=1)
    keep_house()

    assert log.stat().st_size == 0
