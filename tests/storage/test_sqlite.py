"""What is particular to the embedded back end: what lies on the disk."""

import os
import re
import sqlite3
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sottovoce.aggregator.storage.audit_log.events import TOKENS_MADE
from sottovoce.aggregator.storage.define_tables import SQLITE, definition
from sottovoce.aggregator.storage.invitations import tokens
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.errors import StorageError

from tests.storage.test_contract import arrival, plan
from tests.surveys import survey


def test_every_commit_is_synced_before_it_is_acknowledged(storage: SQLiteStorage) -> None:
    with storage.write() as db:
        settings = [db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
        secure = db.execute("PRAGMA secure_delete").fetchone()[0]

    assert settings == ["wal", 2]
    assert secure == 1


def test_only_threads_that_write_keep_many_pages(storage: SQLiteStorage) -> None:
    """An analysis reads all reports once, in a thread of its own: 64 MiB of them would stay with the node."""
    kept = []

    def analysis() -> None:
        with storage.read() as db:
            kept.append(db.execute("PRAGMA cache_size").fetchone()[0])

    thread = threading.Thread(target=analysis)
    thread.start()
    thread.join()
    with storage.write() as db:
        kept.append(db.execute("PRAGMA cache_size").fetchone()[0])
    with storage.read() as db:
        kept.append(db.execute("PRAGMA cache_size").fetchone()[0])
    # Writing the whole file anew keeps them no longer: it would hold two times 64 MiB.
    storage.scrub()
    with storage.read() as db:
        kept.append(db.execute("PRAGMA cache_size").fetchone()[0])
    assert kept == [-2048, -65536, -65536, -2048]


def test_another_process_writes_while_many_links_are_made(
    storage: SQLiteStorage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One transaction for all would keep it waiting; and the log says it once, from the first link on."""
    key = storage.publish(survey(access="token")).key
    monkeypatch.setattr(tokens, "TOKENS_AT_ONCE", 2)
    with closing(SQLiteStorage(tmp_path / "sottovoce.sqlite")) as other:
        told: list[list[str]] = []

        def meanwhile(_: float) -> None:
            other.check()
            told.append([entry.about for entry in other.journal.entries() if entry.what == TOKENS_MADE])

        monkeypatch.setattr(time, "sleep", meanwhile)
        storage.add_tokens(key, [bytes([number]) * 32 for number in (4, 2, 0, 1, 3)])
        meanwhile(0)

    assert told == [[f"{survey().name} 5"]] * 3
    assert storage.token_counts(key).unspent == 5


def test_thread_that_has_ended_leaves_no_connection(storage: SQLiteStorage) -> None:
    """Each analysis has a thread of its own, and a node computes thousands of them."""

    def logs_open() -> int:
        return sum(os.path.realpath(each).endswith("-wal") for each in Path("/proc/self/fd").iterdir())

    storage.surveys()
    before = logs_open()
    for _ in range(5):
        thread = threading.Thread(target=storage.surveys)
        thread.start()
        thread.join()
    assert before > 0
    assert logs_open() == before


def test_reports_have_no_rowid_and_no_time(storage: SQLiteStorage) -> None:
    """Nothing in the table tells the order of arrival."""
    with storage.read() as db:
        for table in ("fresh", "settled"):
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            assert columns == ["survey", "report_id", "wave", "values"]
            with pytest.raises(sqlite3.OperationalError, match="rowid"):
                db.execute(f"SELECT rowid FROM {table}")  # noqa: S608 - a constant


def test_a_newer_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "db.sqlite"
    SQLiteStorage(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 999")
    connection.close()

    with pytest.raises(StorageError, match="newer version"):
        SQLiteStorage(path)


def test_a_new_file_that_another_process_is_writing_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where SQLite itself would refuse at once: while the file is given its log."""
    path, here = tmp_path / "db.sqlite", threading.get_ident()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        # Threads that earlier tests have started may sleep meanwhile.
        monkeypatch.setattr("time.sleep", lambda _: threading.get_ident() == here and other.execute("ROLLBACK"))
        storage = SQLiteStorage(path)
    storage.check()
    storage.close()


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "db.sqlite"
    path.write_bytes(b"secret words" * 1000)

    with pytest.raises(StorageError, match="unavailable") as refused:
        SQLiteStorage(path)
    assert "secret" not in str(refused.value)


def test_check_finds_a_read_only_database(tmp_path: Path) -> None:
    storage = SQLiteStorage(tmp_path / "db.sqlite")
    storage.check()
    with storage.read() as db:
        db.execute("PRAGMA query_only = ON")

    with pytest.raises(StorageError):
        storage.check()
    storage.close()


def test_a_failed_group_leaves_nothing(storage: SQLiteStorage) -> None:
    """A fault that is met while counting rolls back the rows that were inserted before it."""
    key = storage.publish(survey()).key
    impossible = replace(plan(key), cohort=99)
    with pytest.raises(IndexError):
        storage.store([replace(arrival(key, number), plan=impossible) for number in (1, 2)])

    assert list(storage.rows(key)) == []
    assert storage.live_counts(key) == {}


def test_verify_finds_rows_of_no_survey(storage: SQLiteStorage) -> None:
    """The table of reports does not refer to that of surveys, so the check does it."""
    key = storage.publish(survey()).key
    storage.store([arrival(key, number) for number in range(3)])
    assert storage.verify() == []
    with storage.write() as db:
        db.execute("UPDATE fresh SET survey = 9 WHERE report_id = (SELECT min(report_id) FROM fresh)")

    assert storage.verify() == ["rows of the table reports that belong to no survey: 1"]


def made_again(table: str, old: str, new: str) -> tuple[str, ...]:
    """The statements that make a table in another way than this program does."""
    statement = definition(table, SQLITE)
    assert old in statement
    return f"DROP TABLE {table}", statement.replace(old, new)


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (["DROP TABLE tombstones"], "there is no table tombstones"),
        (["ALTER TABLE surveys DROP closed_on"], "the table surveys has no column closed_on"),
        (["ALTER TABLE settled ADD came_at INTEGER"], "the table reports has a column came_at too many"),
        (made_again("tokens", '"token_hash" BLOB', '"token_hash" TEXT'),
         "the column token_hash of the table tokens is for text, part of the key;"
         " it should be for bytes, part of the key"),
        (made_again("surveys", '"name" TEXT NOT NULL', '"name" TEXT'),
         "the column name of the table surveys is for text, or nothing; it should be for text"),
        (made_again("keys", "STRICT, WITHOUT", "WITHOUT"), "the table keys takes values of any kind"),
        (made_again("tombstones", ", WITHOUT ROWID", ""),
         "the table tombstones keeps the order in which its rows were written"),
        (made_again("counts", '"reports" INTEGER NOT NULL DEFAULT 0', '"reports" INTEGER NOT NULL DEFAULT 1'),
         "the table counts fills in other values than it should"),
        (made_again("surveys", ", UNIQUE (digest)", ""),
         "the table surveys tells rows apart in another way than it should"),
        (made_again("cells", '"survey" INTEGER', '"survey" INTEGER REFERENCES surveys (key)'),
         "the table cells refers to other tables than it should"),
        (["CREATE TRIGGER t AFTER INSERT ON fresh BEGIN SELECT 1; END"],
         "the table fresh has triggers, which this program never sets"),
        (["CREATE TABLE arrivals (report_id BLOB)"], "there is a table arrivals, which is none of this program's"),
    ],
)  # fmt: skip
def test_verify_says_which_table_is_not_as_it_should_be(
    storage: SQLiteStorage, statements: Sequence[str], words: str
) -> None:
    assert storage.verify() == []
    with storage.write() as db:
        for statement in statements:
            db.execute(statement)

    assert storage.verify() == [words]


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("CREATE INDEX by_wave ON settled (wave)", r"the table settled has an index by_wave, .*; stop .*drop index"),
        ("UPDATE surveys SET closed_on = 10000000000", r"the table surveys has days in closed_on .*: 1; reopen"),
        ("UPDATE keys SET expires_on = -40000", r"the table keys has days in expires_on .*: 1; revoke"),
        ("UPDATE record SET day = 400000", r"the table record has days in day .*: 1; .* restore a backup"),
        ("UPDATE keys SET scopes = 'metrics:read all'", r"the key 'researcher' has a scope .*; revoke"),
    ],
)
def test_faults_that_no_backup_mends_are_named_with_advice(storage: SQLiteStorage, statement: str, words: str) -> None:
    storage.publish(survey())
    storage.add_researcher("maria", bytes(32))
    assert storage.faults() == []
    with storage.write() as db:
        db.execute(statement)

    (fault,) = storage.faults()
    assert re.match(words, fault)


def test_full_disk_and_damaged_file_are_named(storage: SQLiteStorage, tmp_path: Path) -> None:
    with storage.write() as db:
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages:d}")
    with pytest.raises(StorageError, match="its disk is full") as refused, storage.write() as db:
        db.execute("CREATE TABLE more AS SELECT 'secret' || hex(randomblob(99999)) AS one")
    assert "secret" not in str(refused.value)

    damaged = tmp_path / "damaged.sqlite"
    storage.backup(damaged)
    content = damaged.read_bytes()
    damaged.write_bytes(content[:2048] + b"\xff" * (len(content) - 2048))
    with pytest.raises(StorageError, match="its file is damaged; "), closing(SQLiteStorage(damaged)) as opened:
        opened.surveys()


def test_own_write_is_told_from_a_lock_of_another_process(storage: SQLiteStorage, tmp_path: Path) -> None:
    """While this process writes, VACUUM included, others wait for work; for another process's lock, perhaps in vain."""
    with closing(sqlite3.connect(next(tmp_path.glob("*.sqlite")), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting = threading.Thread(target=storage.check)
        waiting.start()
        waiting.join(0.1)
        assert not storage.is_writing()
        other.execute("ROLLBACK")
        waiting.join(30)
    seen = []
    with storage.write() as db:
        assert storage.is_writing()
        db.database.conn.set_trace_callback(lambda statement: seen.append((statement, storage.is_writing())))
    storage.scrub()

    assert ("VACUUM", True) in seen
    assert not storage.is_writing()


def test_write_that_does_not_end_is_no_work(storage: SQLiteStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a minute, the disk is taken for one that hangs."""
    with storage.write():
        monkeypatch.setattr("sottovoce.aggregator.storage.sqlite.storage.WRITE_SECONDS", 0)

        assert not storage.is_writing()
