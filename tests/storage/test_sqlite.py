"""What is particular to the embedded back end: what lies on the disk."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from sottovoce.aggregator.storage.sqlite import SQLiteStorage
from sottovoce.shared.errors import StorageError

from tests.storage.test_contract import arrival
from tests.surveys import survey


def test_every_commit_is_synced_before_it_is_acknowledged(storage: SQLiteStorage) -> None:
    """The database is in WAL mode with synchronous=FULL, and overwrites what it deletes."""
    with storage._write() as db:
        settings = [db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
        secure = db.execute("PRAGMA secure_delete").fetchone()[0]

    assert settings == ["wal", 2]
    assert secure == 1


def test_reports_have_no_rowid_and_no_time(storage: SQLiteStorage) -> None:
    """Nothing in the table tells the order of arrival."""
    with storage._read() as db:
        columns = [row[1] for row in db.execute("PRAGMA table_info(reports)")]
        with pytest.raises(sqlite3.OperationalError, match="rowid"):
            db.execute("SELECT rowid FROM reports")

    assert columns == ["survey", "report_id", "wave", "values"]


def test_a_newer_database_is_refused(tmp_path: Path) -> None:
    """An older program does not touch a newer schema."""
    path = tmp_path / "db.sqlite"
    SQLiteStorage(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 999")
    connection.close()

    with pytest.raises(StorageError, match="newer version"):
        SQLiteStorage(path)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    """The message says so without quoting the file."""
    path = tmp_path / "db.sqlite"
    path.write_bytes(b"secret words" * 1000)

    with pytest.raises(StorageError, match="unavailable") as refused:
        SQLiteStorage(path)
    assert "secret" not in str(refused.value)


def test_check_finds_a_read_only_database(tmp_path: Path) -> None:
    """The check fails as soon as nothing can be written."""
    storage = SQLiteStorage(tmp_path / "db.sqlite")
    storage.check()
    with storage._read() as db:
        db.execute("PRAGMA query_only = ON")

    with pytest.raises(StorageError):
        storage.check()
    storage.close()


def test_a_failed_group_leaves_nothing(storage: SQLiteStorage) -> None:
    """A counted value that no column can hold rolls back the rows that were inserted before it."""
    key = storage.publish(survey()).key
    impossible = replace(arrival(key, 2, (1, 2**64 - 2, 0)), wave=1)
    with pytest.raises(OverflowError):
        storage.store([arrival(key, 1), impossible])

    assert list(storage.rows(key)) == []
    assert storage.live_counts(key) == {}


def test_verify_finds_a_report_of_no_survey(storage: SQLiteStorage) -> None:
    """The table of reports does not refer to that of surveys, so the check does it."""
    key = storage.publish(survey()).key
    storage.store([arrival(key, number) for number in range(3)])
    assert storage.verify() == []
    with storage._write() as db:
        db.execute("UPDATE reports SET survey = 9 WHERE report_id = (SELECT min(report_id) FROM reports)")

    assert storage.verify() == ["a row belongs to no survey"]
