"""When a clock may decide what cannot be undone."""

from datetime import timedelta

import pytest
from sottovoce.aggregator.clock import SteadyClock

from tests.conftest import FakeClock


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
