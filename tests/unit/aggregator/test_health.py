import threading

import pytest
from sottovoce.aggregator import health
from sottovoce.aggregator.health import FailureLog, Readiness
from sottovoce.shared.errors import StorageError


class Database:
    def __init__(self) -> None:
        self.asked = 0
        self.go = threading.Event()
        self.error: Exception | None = None

    def check(self) -> None:
        self.asked += 1
        assert self.go.wait(30)
        if self.error is not None:
            raise self.error


def readiness(patience: float) -> tuple[Database, Readiness]:
    database = Database()
    return database, Readiness(database.check, patience)


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every answer is out of date at once, and nobody asks but the test."""
    monkeypatch.setattr(health, "AGE", 0)
    monkeypatch.setattr(health, "PAUSE", 1e6)


def test_database_that_does_not_answer_is_not_ready_and_is_asked_once() -> None:
    """Nobody waits for it, no second question is put to it, and once it answers all is well."""
    database, ready = readiness(0.01)
    for _ in range(3):
        with pytest.raises(StorageError, match="does not answer"):
            ready.check()
    assert database.asked == 1
    database.go.set()
    ready._probe.result(10)

    ready.check()
    assert database.asked == 2


def test_probe_that_waits_for_a_write_of_this_process_is_no_failure() -> None:
    """A file written anew keeps others waiting for seconds; when it has taken too long, the database hangs."""
    database = Database()
    writes = True
    ready = Readiness(database.check, 0.01, lambda: writes)
    ready.check()
    assert not ready.is_red
    writes = False

    with pytest.raises(StorageError, match="does not answer"):
        ready.check()
    database.go.set()


def test_failure_passes_on_and_passes() -> None:
    """The database's own words, for as long as it fails."""
    database, ready = readiness(10)
    database.go.set()
    database.error = StorageError("full")
    with pytest.raises(StorageError, match="full"):
        ready.check()
    database.error = None

    ready.check()


def test_database_is_not_asked_for_every_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody may ask for readiness, and each question costs a durable write."""
    monkeypatch.setattr(health, "AGE", 1e9)
    database, ready = readiness(10)
    database.go.set()
    for _ in range(50):
        ready.check()

    assert database.asked == 1


def test_red_turns_green_without_being_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever was let down once makes it watch the database; to look at the colour asks nobody."""
    monkeypatch.setattr(health, "PAUSE", 0.001)
    database, ready = readiness(10)
    green = threading.Event()
    monkeypatch.setattr(ready, "_record", lambda failure: (Readiness._record(ready, failure), failure or green.set()))
    database.go.set()
    database.error = StorageError("full")
    assert not ready.is_red
    with pytest.raises(StorageError):
        ready.check()
    assert ready.is_red
    database.error = None

    assert green.wait(30)
    assert not ready.is_red


def test_watched_readiness_turns_red_without_being_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema may change, or a clock go wrong, while no request fails."""
    monkeypatch.setattr(health, "ROUND", 0.001)
    database, ready = readiness(10)
    red = threading.Event()
    monkeypatch.setattr(ready, "_record", lambda failure: (Readiness._record(ready, failure), failure and red.set()))
    database.go.set()
    ready.watch()
    database.error = StorageError("another clock")

    assert red.wait(30)
    assert ready.is_red
    # Without its executor it ends, and asks no more while other tests run.
    ready._thread.shutdown()


def test_repeated_failure_is_logged_once_a_minute_with_a_count(caplog: pytest.LogCaptureFixture) -> None:
    """A hundred failed requests a second write two lines in a minute and a second; another failure is told at once."""
    seconds = 0.0
    log = FailureLog(lambda: seconds)
    for _ in range(61):
        log.note("full")
        log.note("read-only")
        seconds += 1
    log.note("damaged")

    lines = [record.getMessage() for record in caplog.records]
    assert [line.split(" since ")[0] for line in lines] == [
        "storage: full (1 time",
        "storage: read-only (1 time",
        "storage: full (61 times",
        "storage: read-only (61 times",
        "storage: damaged (1 time",
    ]
