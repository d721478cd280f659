import threading
from collections.abc import Callable, Iterator

import pytest
from sottovoce.aggregator.storage.back_end import (
    LATE_SECONDS,
    MOST_REPORTS,
    OLDEST_SECONDS,
    QUIET_SECONDS,
    RETRY_SECONDS,
    MaintenanceThread,
)
from sottovoce.shared.errors import StorageError

WAIT = 20


class Scene:
    """A thread with a clock that stands still between steps, and the number of settlings so far."""

    def __init__(self, results: list[bool]) -> None:
        self.time = 0.0
        self.settled = 0
        self.results = results
        self._done = threading.Condition()
        self.thread = MaintenanceThread(self._settle, lambda: self.time)

    def _settle(self) -> bool:
        with self._done:
            self.settled += 1
            self._done.notify_all()
        return self.results.pop(0) if self.results else True

    def wait_for(self, settled: int) -> None:
        with self._done:
            assert self._done.wait_for(lambda: self.settled >= settled, WAIT)

    def after(self, seconds: float) -> int:
        self.time += seconds
        looked = threading.Event()
        self.thread.request(looked.set)
        assert looked.wait(WAIT)
        return self.settled


@pytest.fixture
def scene() -> Iterator[Callable[..., Scene]]:
    made: list[Scene] = []

    def make(*results: bool) -> Scene:
        made.append(Scene(list(results)))
        made[-1].wait_for(1)
        return made[-1]

    yield make
    for one in made:
        one.thread.end()


def test_it_settles_at_the_start_and_after_a_quiet_time(scene: Callable[..., Scene]) -> None:
    """Each report begins the quiet time anew."""
    one = scene()
    one.thread.note_stored(1)
    assert one.after(QUIET_SECONDS - 1) == 1
    one.thread.note_stored(1)
    assert one.after(QUIET_SECONDS - 1) == 1
    assert one.after(1) == 2
    assert one.after(1000) == 2


def test_steady_reports_settle_before_the_oldest_is_too_old(scene: Callable[..., Scene]) -> None:
    one = scene()
    for _ in range(int(OLDEST_SECONDS / 10)):
        one.thread.note_stored(1)
        assert one.settled == 1
        one.after(10)
    assert one.settled == 2


def test_a_rush_settles_at_once(scene: Callable[..., Scene]) -> None:
    one = scene()
    one.thread.note_stored(MOST_REPORTS)
    one.wait_for(2)


def test_a_reader_that_prevents_it_leads_to_another_attempt(scene: Callable[..., Scene]) -> None:
    one = scene(True, False)
    one.thread.note_stored(1)
    assert one.after(QUIET_SECONDS) == 2
    assert one.after(RETRY_SECONDS - 1) == 2
    assert one.after(1) == 3
    assert one.after(1000) == 3


def test_settling_that_is_prevented_for_ten_minutes_is_late_until_it_succeeds(scene: Callable[..., Scene]) -> None:
    """However many attempts there were since; reports that come meanwhile do not begin it anew."""
    attempts = int(LATE_SECONDS / RETRY_SECONDS) + 1
    one = scene(*[False] * attempts)
    told = [one.thread.is_late]
    for _ in range(attempts - 1):
        one.thread.note_stored(1)
        one.after(RETRY_SECONDS)
    told.append(one.thread.is_late)
    one.after(1)
    told.append(one.thread.is_late)
    one.results.clear()
    one.after(QUIET_SECONDS)
    one.after(1)

    assert [*told, one.thread.is_late] == [False, False, True, False]


def test_requested_work_runs_in_turn_and_once(scene: Callable[..., Scene]) -> None:
    thread, begun, go_on, ended = scene().thread, threading.Event(), threading.Event(), threading.Event()
    done: list[str] = []

    def first() -> None:
        begun.set()
        go_on.wait(WAIT)
        raise StorageError("not now")

    def second() -> None:
        done.append("second")

    thread.request(first)
    assert begun.wait(WAIT)
    for work in (second, second, ended.set, second):
        thread.request(work)
    assert done == []
    go_on.set()

    assert ended.wait(WAIT)
    assert done == ["second"]


def test_its_end_does_not_wait_for_a_moment_that_is_due(scene: Callable[..., Scene]) -> None:
    """The rest is for the process that ends it."""
    one = scene()
    one.thread.note_stored(1)
    one.thread.end()
    assert one.settled == 1
