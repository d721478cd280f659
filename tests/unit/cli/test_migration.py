"""Tests of migrating a SQLite database of an earlier release: a copy first, never under a running node."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import Result
from sottovoce.aggregator.storage.sqlite import storage as sqlite_storage
from sottovoce.aggregator.storage.sqlite.schema import EARLIEST, VERSION
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.cli import database

from tests.commands import done, run as command

SCHEMAS = Path(__file__).parents[2] / "storage" / "schemas"
COPY = f"sottovoce-before-{VERSION}.sqlite"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder of the release before, whose last heartbeat is old."""
    with closing(sqlite3.connect(tmp_path / "sottovoce.sqlite")) as connection:
        connection.executescript((SCHEMAS / f"sqlite-{EARLIEST}.sql").read_text(encoding="utf-8"))
    beat(tmp_path, time.time() - 1000)
    return tmp_path


def beat(data: Path, moment: float) -> None:
    with closing(sqlite3.connect(data / "sottovoce.sqlite")) as connection, connection:
        connection.execute("UPDATE pulse SET seen = ?", [int(moment)])


def state(file: Path) -> tuple[int, list[tuple[object, ...]]]:
    """Number of the schema, and the surveys."""
    with closing(sqlite3.connect(file)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        return version, connection.execute("SELECT name, revision, digest FROM surveys").fetchall()


def run(data: Path, *words: str) -> Result:
    return command(*words, "--data", data)


@pytest.mark.parametrize("words", [
    ("survey", "list"), ("db", "doctor"), ("db", "backup", "saved.sqlite"), ("db", "purge"), ("db", "journal", "show"),
])  # fmt: skip
def test_other_commands_leave_the_database_as_it_is(data: Path, words: tuple[str, ...]) -> None:
    """A node of the release before may be running on it."""
    before = state(data / "sottovoce.sqlite")
    ended = run(data, *words)
    assert (ended.exit_code, "sottovoce db migrate" in ended.stderr) == (1, True)
    assert state(data / "sottovoce.sqlite") == before


@pytest.mark.parametrize("words", [("survey", "list"), ("db", "doctor"), ("db", "migrate"), ("serve",)])
def test_database_from_before_the_earliest_release_is_refused(data: Path, words: tuple[str, ...]) -> None:
    """Nothing says that it was migrated, or could be; it stays as it is, and no copy of it is left."""
    with closing(sqlite3.connect(data / "sottovoce.sqlite")) as connection:
        connection.execute(f"PRAGMA user_version = {EARLIEST - 1}")
    before = state(data / "sottovoce.sqlite")
    ended = run(data, *words)

    assert (ended.exit_code, ended.stderr) == (
        1,
        "Error: the database was made by a release before 0.4; upgrade through 0.4, which migrates it.\n",
    )
    assert state(data / "sottovoce.sqlite") == before
    assert not (data / COPY).exists()


def test_migration_copies_first_and_done_removes_the_copy(data: Path) -> None:
    before = state(data / "sottovoce.sqlite")
    assert COPY in done(run(data, "db", "migrate")).stderr
    assert state(data / COPY) == before
    assert (data / COPY).stat().st_mode & 0o777 == 0o600
    assert state(data / "sottovoce.sqlite") == (VERSION, before[1])
    assert COPY in run(data, "db", "doctor").stderr

    assert run(data, "db", "migrate", "--done").exit_code == 0
    assert not (data / COPY).exists()
    assert COPY not in run(data, "db", "doctor").stderr


def test_migration_waits_for_a_node_that_may_run(data: Path) -> None:
    before = state(data / "sottovoce.sqlite")
    beat(data, time.time() - 5)
    refused = run(data, "db", "migrate")
    assert (refused.exit_code, "Stop it and try again" in refused.stderr) == (1, True)
    assert state(data / "sottovoce.sqlite") == before
    assert not (data / COPY).exists()
    assert run(data, "db", "migrate", "--now").exit_code == 0


@pytest.mark.parametrize("goes_on", [True, False])
def test_serving_tells_a_running_node_from_a_stopped_one(
    data: Path, monkeypatch: pytest.MonkeyPatch, goes_on: bool
) -> None:
    """By whether it notes another heartbeat within the time in which it would."""
    beat(data, time.time() - 5)
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        if goes_on:
            beat(data, time.time() + 60)

    # This module's clock alone: threads of other tests sleep too.
    monkeypatch.setattr(database, "time", SimpleNamespace(time=time.time, sleep=sleep))
    monkeypatch.setattr("sottovoce.cli.serve.run", lambda _: None)
    monkeypatch.setattr("sottovoce.cli.serve.bind", lambda _: SimpleNamespace(close=lambda: None))
    ended = run(data, "serve")
    assert len(waited) == 1
    assert 80 < waited[0] < 90
    assert ("Stop it first" in ended.stderr, state(data / "sottovoce.sqlite")[0] == VERSION) == (goes_on, not goes_on)


def test_migration_needs_room_for_the_copy(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = state(data / "sottovoce.sqlite")
    monkeypatch.setattr(sqlite_storage.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1000}))
    refused = run(data, "db", "migrate")
    assert (refused.exit_code, "MB of free space" in refused.stderr) == (1, True)
    assert state(data / "sottovoce.sqlite") == before
    assert not (data / COPY).exists()


@pytest.mark.parametrize("act", [
    lambda storage: storage.delete_survey(storage.surveys()[0].name),
    lambda storage: [storage.close_survey(storage.surveys()[0].name, 1), storage.purge(storage.surveys()[0].key)],
])  # fmt: skip
def test_deleting_removes_the_copy_too(data: Path, act: Callable[[SQLiteStorage], object]) -> None:
    """It would keep what is deleted."""
    assert run(data, "db", "migrate").exit_code == 0
    with closing(SQLiteStorage(data / "sottovoce.sqlite")) as storage:
        act(storage)
    assert not (data / COPY).exists()


def test_night_removes_an_old_copy(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(data, "db", "migrate").exit_code == 0
    with closing(SQLiteStorage(data / "sottovoce.sqlite")) as storage:
        storage.scrub()
        assert (data / COPY).exists()
        later = time.time() + sqlite_storage.KEPT_SECONDS + 1
        monkeypatch.setattr(sqlite_storage.time, "time", lambda: later)
        storage.scrub()
    assert not (data / COPY).exists()


def test_copy_waits_for_a_node_that_may_run(data: Path, tmp_path: Path) -> None:
    """Reports that arrive meanwhile would not be in the copy."""
    assert run(data, "db", "migrate").exit_code == 0
    beat(data, time.time() - 5)
    other = f"sqlite:///{tmp_path / 'other.sqlite'}"
    refused = run(data, "db", "copy", "--to", other)
    assert (refused.exit_code, "Stop it and try again" in refused.stderr) == (1, True)
    assert run(data, "db", "copy", "--to", other, "--now").exit_code == 0
