"""By whose time a survey opens and closes, and which node may say so."""

from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import SharedClock, now, present
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.aggregator.surveys.housekeeping import Housekeeping
from sottovoce.shared.errors import StorageError

from tests import postgres
from tests.conftest import FakeClock
from tests.surveys import survey


class Machine:
    """A machine with a clock, one that nobody sets, and a database whose clock is ``ahead``, or which has none."""

    def __init__(self, ahead: float | None) -> None:
        self.wall = FakeClock()
        self.running = 1000.0
        self.ahead = ahead
        self.answer = 0.0
        database: Any = self
        self.shared = SharedClock(database, self.wall, lambda: self.running)

    def clock(self) -> float | None:
        told = None if self.ahead is None else self.wall().timestamp() + self.ahead
        self.wall.moment += timedelta(seconds=self.answer)
        return told


@pytest.mark.parametrize("ahead", [5.001, -5.001, 3600.0, -86400.0 * 400])
def test_clock_that_differs_is_told_of_in_a_sentence(ahead: float) -> None:
    """In either direction, for as long as it does."""
    machine = Machine(ahead)
    with pytest.raises(StorageError, match="more than five seconds apart; set the one that is wrong"):
        machine.shared.check()
    machine.ahead = 0

    machine.shared.check()


@pytest.mark.parametrize(("ahead", "answer"), [(4.999, 0), (-4.999, 0), (None, 0), (0.0, 3.0), (0.0, 30.0)])
def test_small_difference_and_slow_answer_are_none(ahead: float | None, answer: float) -> None:
    machine = Machine(ahead)
    machine.answer = answer
    machine.shared.check()


def test_time_is_the_databases_however_this_machines_is_set() -> None:
    """It goes on between two questions, and follows the database at the next."""
    machine = Machine(3600.0)
    begin = machine.wall.moment
    assert machine.shared() == begin + timedelta(hours=1)
    machine.running += 20
    machine.wall.moment += timedelta(days=9)
    assert machine.shared() == begin + timedelta(hours=1, seconds=20)
    machine.wall.moment = begin + timedelta(seconds=20)
    machine.ahead = 2.0
    machine.shared.check()

    assert machine.shared() == begin + timedelta(seconds=22)


def test_without_a_clock_of_the_databases_it_is_this_machines() -> None:
    machine = Machine(None)
    machine.wall.moment += timedelta(days=9)

    assert machine.shared() == machine.wall.moment


@pytest.mark.external
@pytest.mark.parametrize("wrong", [timedelta(hours=3), timedelta(hours=-3)])
def test_one_wrong_node_of_two_decides_nothing(wrong: timedelta) -> None:
    """By PostgreSQL's clock a survey opens and closes for all; the wrong one is not ready, and says why."""
    url = postgres.fresh()
    window = {"opens": _iso(now() - timedelta(hours=1)), "closes": _iso(now() + timedelta(hours=1))}
    with closing(PostgresStorage(url)) as storage, closing(PostgresStorage(url)) as other:
        storage.publish(survey(**window))
        good = create_app(Settings(), storage, now, {}).test_client()
        bad = create_app(Settings(), other, lambda: now() + wrong, {}).test_client()
        Housekeeping(other, lambda: now() + wrong, lambda: True)()
        refused = bad.get("/readyz")
        waves = [node.get("/api/v1/surveys/exam/status").json["revisions"][0]["waves"] for node in (good, bad)]

        assert not storage.surveys()[0].closed
        assert abs(present(other, lambda: now() + wrong) - now()) < timedelta(seconds=60)
        assert waves == [["open"], ["open"]]
        assert good.get("/readyz").status_code == 200
    assert (refused.status_code, refused.json["code"]) == (503, "storage")
    assert "more than five seconds apart" in refused.json["detail"]


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
