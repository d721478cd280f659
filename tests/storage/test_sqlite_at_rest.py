"""Bytes of a SQLite database's files after reports have settled: no order of arrival, nothing of a spent token.

Each report comes in a transaction of its own, which is what one report a minute leaves.
"""

import hashlib
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sottovoce.aggregator.storage import back_end
from sottovoce.aggregator.storage.back_end import MOST_REPORTS
from sottovoce.aggregator.storage.models import Outcome
from sottovoce.aggregator.storage.sqlite import storage as sqlite_storage
from sottovoce.aggregator.storage.sqlite.storage import HEADER_BYTES, PAGE_BYTES, SQLiteStorage
from sottovoce.aggregator.storage.verify_counts import wrong_counts
from sottovoce.shared.errors import StorageError

from tests.invited import blind_survey
from tests.storage.test_contract import arrival, identity, plan
from tests.surveys import survey

REPORTS = 40
LEAF, INTERIOR = 0x0A, 0x02
"""Types of the pages of tables without rowids."""


class Folder:
    """A data folder with a database, and what a copy of it holds."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.storage = SQLiteStorage(path / "db.sqlite")

    def copied(self) -> dict[str, bytes]:
        """All files but the index of the log, which holds numbers of pages alone."""
        copy = self.path.with_suffix(".copy")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.path, copy)
        return {file.name: file.read_bytes() for file in copy.iterdir() if not file.name.endswith("-shm")}

    def pages(self) -> list[bytes]:
        data = self.copied()["db.sqlite"]
        return [data[start : start + PAGE_BYTES] for start in range(0, len(data), PAGE_BYTES)]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    made = Folder(tmp_path / "data")
    yield made
    made.storage.close()


def secret(number: int) -> bytes:
    """The hash of a token or an invitation."""
    return hashlib.sha256(b"token %d" % number).digest()


def send(folder: Folder, numbers: range) -> int:
    """Store reports one by one, each with a token of its own; return the survey's key."""
    key = folder.storage.publish(survey(access="token")).key
    folder.storage.add_tokens(key, sorted(secret(number) for number in numbers))
    for number in numbers:
        assert folder.storage.store([arrival(key, number, token=secret(number))]) == [Outcome.NEW]
    return key


def start_maintenance(storage: SQLiteStorage) -> None:
    """Start the thread, and wait until it has settled what it settles at its start."""
    storage.start_maintenance()
    begun = threading.Event()
    storage._maintenance.request(begun.set)  # type: ignore[union-attr]
    assert begun.wait(10)


def holds(folder: Folder, key: bytes) -> bool:
    return any(key in data for data in folder.copied().values())


def places(page: bytes, keys: list[bytes]) -> list[int]:
    """Offsets of these keys within a page, in the order of the keys."""
    return [page.index(key) for key in sorted(keys) if key in page]


def is_in_order(folder: Folder, keys: list[bytes]) -> bool:
    """True if each page of the file holds its rows in the order of their keys, from its end."""
    orders = [places(page, keys) for page in folder.pages()]
    assert sum(map(len, orders)) == len(keys)
    return all(order == sorted(order, reverse=True) for order in orders)


def unused(page: bytes) -> bytes:
    """Bytes between the pointers and the first row of a page, and those of its free blocks."""
    pointers = (8 if page[0] == LEAF else 12) + 2 * int.from_bytes(page[3:5])
    gap = page[pointers : int.from_bytes(page[5:7])]
    block = int.from_bytes(page[1:3])
    while block:
        size = int.from_bytes(page[block + 2 : block + 4])
        gap += page[block + 4 : block + size]
        block = int.from_bytes(page[block : block + 2])
    return gap


def test_settled_reports_lie_in_the_order_of_their_ids(folder: Folder) -> None:
    """Before, the places show the order of arrival, and the log shows which token came with which report."""
    send(folder, range(REPORTS))
    ids = [identity(number) for number in range(REPORTS)]
    log = folder.copied()["db.sqlite-wal"]
    assert [each for each in ids if each in log] == ids == sorted(ids, key=log.index) != sorted(ids)

    assert folder.storage.settle()

    files = folder.copied()
    assert files.pop("db.sqlite-wal", b"") == b""
    assert list(files) == ["db.sqlite"]
    assert all(files["db.sqlite"].count(each) == 1 for each in ids)
    assert not any(secret(number) in files["db.sqlite"] for number in range(REPORTS))
    assert is_in_order(folder, ids)
    assert not any(any(unused(page)) for page in folder.pages() if page[0] in (LEAF, INTERIOR))
    assert wrong_counts(folder.storage) == folder.storage.verify() == []


def test_pages_of_tokens_do_not_show_which_were_used_since_the_night(tmp_path: Path) -> None:
    """Else few links remain for the few reports that settled since: the unused tokens alone determine each page."""
    found = []
    unspent = [secret(number) for number in range(33, 3000)]
    for days in ((range(30), range(30, 33)), (range(3, 33), range(3)), (range(0), range(33))):
        folder = Folder(tmp_path / str(days))
        key = folder.storage.publish(survey(access="token")).key
        folder.storage.add_tokens(key, sorted(secret(number) for number in range(3000)))
        for day in days:
            folder.storage.scrub()
            for number in day:
                assert folder.storage.store([arrival(key, number, token=secret(number))]) == [Outcome.NEW]
            assert folder.storage.settle()
        found.append(
            sorted(page for page in folder.pages() if page[0] == LEAF and any(each in page for each in unspent))
        )
        folder.storage.close()
    assert len(found[0]) > 40
    assert found[0] == found[1] == found[2]


def test_file_tells_neither_the_order_of_reports_nor_one_that_was_taken_back(tmp_path: Path) -> None:
    """Nor do pages of counts, whose rows move as they grow and shrink; before it settles, both are seen there."""
    values = [(number % 2, number % 2, number // 5 % 2) for number in range(REPORTS)]
    before, settled = set(), set()
    for place, (order, taken_back) in enumerate([(1, (1, 2, 1)), (-1, (1, 2, 1)), (1, (0, 1, 1))]):
        folder = Folder(tmp_path / str(place))
        key = folder.storage.publish(survey()).key
        for number in range(REPORTS)[::order]:
            assert folder.storage.store([arrival(key, number, values[number])]) == [Outcome.NEW]
        assert folder.storage.store([arrival(key, REPORTS, taken_back)]) == [Outcome.NEW]
        assert folder.storage.withdraw(plan(key), identity(REPORTS)) is Outcome.WITHDRAWN
        for pages in (before, settled):
            # The first page counts the changes of the file.
            pages.add(tuple(folder.pages()[1:]))
            assert folder.storage.settle()
        assert folder.storage.withdraw(plan(key), identity(0)) is Outcome.WITHDRAWN
        assert "counts" in folder.storage._used
        folder.storage.close()

    assert (len(before), len(settled)) == (3, 1)


def test_index_of_the_log_forgets_which_pages_changed(folder: Folder) -> None:
    """Else each report's page of ``fresh`` comes before or behind the page of its token, in the order of arrival."""
    index = folder.path / "db.sqlite-shm"
    send(folder, range(REPORTS))
    assert any(index.read_bytes()[HEADER_BYTES:])

    with SQLiteReader(folder.path / "db.sqlite"):
        assert not folder.storage.settle()
        assert any(index.read_bytes()[HEADER_BYTES:])
    assert folder.storage.settle()
    left = index.read_bytes()

    assert not any(left[HEADER_BYTES:])
    send(folder, range(REPORTS, 2 * REPORTS))
    assert wrong_counts(folder.storage) == folder.storage.verify() == []


def test_night_removes_the_order_of_settlings(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports of two settlings lie by settling until all rows are written anew, some at a time."""
    monkeypatch.setattr(sqlite_storage, "MOVED_ROWS", 7)
    send(folder, range(REPORTS))
    folder.storage.settle()
    send_more = range(REPORTS, 2 * REPORTS)
    key = send(folder, send_more)
    folder.storage.settle()
    ids = [identity(number) for number in range(2 * REPORTS)]
    assert not is_in_order(folder, ids)

    folder.storage.scrub()

    assert is_in_order(folder, ids)
    assert len(list(folder.storage.rows(key))) == 2 * REPORTS
    assert wrong_counts(folder.storage) == folder.storage.verify() == []


def test_redeemed_invitations_lie_in_the_order_of_their_hashes(folder: Folder) -> None:
    """Redeeming one moves it within its page."""
    hashes = [secret(number) for number in range(REPORTS)]
    key = folder.storage.publish(blind_survey()).key
    folder.storage.add_tokens(key, hashes, blind=True)
    folder.storage.settle()
    for each in hashes:
        assert folder.storage.redeem_invitation(key, each, hashlib.sha256(each).digest()) is Outcome.NEW
    folder.storage._empty_log()
    assert not is_in_order(folder, hashes)

    assert folder.storage.settle()

    assert folder.copied().get("db.sqlite-wal", b"") == b""
    assert is_in_order(folder, hashes)


def test_only_the_table_that_was_used_is_written_anew(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    key = send(folder, range(2))
    blind = folder.storage.publish(blind_survey(name="blind")).key
    folder.storage.add_tokens(blind, [secret(7)], blind=True)
    folder.storage.add_tokens(key, [secret(2)])
    assert folder.storage.settle()

    def rewrite(write: sqlite_storage.Write, table: str) -> None:
        written.append(table)
        if len(written) == 1:
            raise StorageError("busy")
        sqlite_rewrite(write, table)

    sqlite_rewrite = sqlite_storage.rewrite
    monkeypatch.setattr(sqlite_storage, "rewrite", rewrite)
    folder.storage.store([arrival(key, 2, token=secret(2))])
    with pytest.raises(StorageError, match="busy"):
        folder.storage.settle()
    assert folder.storage.settle()
    assert folder.storage.settle()
    assert folder.storage.redeem_invitation(blind, secret(7), secret(8)) is Outcome.NEW
    assert folder.storage.settle()

    assert written == ["tokens", "tokens", "cells", "counts", "blind_invitations"]
    assert not holds(folder, secret(2))


def test_reports_and_links_never_lie_in_a_nameless_file(folder: Folder) -> None:
    """SQLite would copy pages of a large group, and unused links, into a file that is deleted but still open."""
    key = folder.storage.publish(survey()).key
    folder.storage.add_tokens(key, sorted(map(secret, range(60_000))))
    folder.storage.store([arrival(key, number) for number in range(4000)])
    folder.storage.settle()
    limits, place = resource.getrlimit(resource.RLIMIT_NOFILE), os.dup(0)
    os.close(place)

    resource.setrlimit(resource.RLIMIT_NOFILE, (place, limits[1]))  # so that no further file can be opened
    try:
        folder.storage.store([arrival(key, number) for number in range(4000, 5000)])
        folder.storage.store([arrival(key, 5000, token=secret(0))])
        assert folder.storage.settle()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)

    assert not holds(folder, secret(0))


def test_report_is_found_repeated_and_withdrawn_before_and_after_settling(folder: Folder) -> None:
    key = folder.storage.publish(survey()).key
    for number in range(4):
        folder.storage.store([arrival(key, number)])
        if number == 1:
            folder.storage.settle()
    for number in range(4):
        assert folder.storage.find_report(key, identity(number)) is not None
        assert folder.storage.store([arrival(key, number)]) == [Outcome.SAME]
        assert folder.storage.store([arrival(key, number, (0, 0, 1))]) == [Outcome.CONFLICT]
    for number in (0, 2):
        assert folder.storage.withdraw(plan(key), identity(number)) is Outcome.WITHDRAWN
        assert folder.storage.store([arrival(key, number)]) == [Outcome.WITHDRAWN]
        assert not holds(folder, identity(number))
    assert len(list(folder.storage.rows(key))) == 2
    assert wrong_counts(folder.storage) == []


def test_reader_of_the_file_delays_settling(folder: Folder) -> None:
    """It says so, so that it is tried again; the reports have moved already."""
    send(folder, range(3))
    with SQLiteReader(folder.path / "db.sqlite"):
        assert not folder.storage.settle()
    assert folder.storage.settle()
    assert folder.copied().get("db.sqlite-wal", b"") == b""


def test_withdrawn_report_goes_as_soon_as_a_reader_has_ended(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Although nothing else happens on this node."""
    for name in ("QUIET_SECONDS", "RETRY_SECONDS"):
        monkeypatch.setattr(back_end, name, 0.1)
    key = send(folder, range(3))
    assert folder.storage.settle()
    start_maintenance(folder.storage)

    with SQLiteReader(folder.path / "db.sqlite"):
        assert folder.storage.withdraw(plan(key), identity(1)) is Outcome.WITHDRAWN
        assert holds(folder, identity(1))
    end = time.monotonic() + 20
    while holds(folder, identity(1)) and time.monotonic() < end:
        time.sleep(0.1)
    assert not holds(folder, identity(1))


def test_process_that_ends_leaves_nothing(folder: Folder) -> None:
    """Neither does one that begins where another was killed."""
    # What is settled at the start is done, so that all reports settle together at the end.
    start_maintenance(folder.storage)
    send(folder, range(REPORTS))
    folder.storage.close()
    ids = [identity(number) for number in range(REPORTS)]
    assert is_in_order(folder, ids)


def test_purged_reports_lie_in_no_order_of_their_former_ids(folder: Folder) -> None:
    """Their new ids are random, and they lie in the order of these."""
    key = send(folder, range(REPORTS))
    folder.storage.close_survey("exam", 1)
    folder.storage.purge(key)

    new = [bytes(row[1]) for row in folder.storage.export_table("reports")]
    assert len(new) == REPORTS
    assert not set(new) & {identity(number) for number in range(REPORTS)}
    assert is_in_order(folder, new)


def test_rush_is_settled_whole(folder: Folder) -> None:
    """More rows than one transaction moves, of several surveys."""
    keys = [folder.storage.publish(survey(name=name)).key for name in ("one", "two")]
    for key in keys:
        folder.storage.store([arrival(key, number) for number in range(MOST_REPORTS // 2)])
    assert folder.storage.settle()
    assert [len(list(folder.storage.rows(key))) for key in keys] == [MOST_REPORTS // 2] * 2
    assert wrong_counts(folder.storage) == folder.storage.verify() == []


SENDING = """
import sys, threading
from itertools import count
from pathlib import Path
from sottovoce.aggregator.storage.sqlite import storage as sqlite_storage
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from tests.storage.test_contract import arrival

sqlite_storage.MOVED_ROWS = 3
storage = SQLiteStorage(Path(sys.argv[1]))
key = storage.surveys()[0].key

def settle():
    while True:
        storage.settle()

threading.Thread(target=settle, daemon=True).start()
for number in count(int(sys.argv[2])):
    storage.store([arrival(key, number)])
    print(number, flush=True)
"""


def test_killed_while_it_settles_it_loses_and_doubles_nothing(folder: Folder) -> None:
    """Each acknowledged report is there once, in one of the two tables; the next process goes on."""
    key = folder.storage.publish(survey()).key
    sent = 0
    for number in range(4):
        process = subprocess.Popen(
            [sys.executable, "-c", SENDING, str(folder.path / "db.sqlite"), str(sent)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        for _ in range(20 + 7 * number):
            sent = int(process.stdout.readline()) + 1
        process.kill()
        # Those that were acknowledged while it was killed.
        sent = max([sent, *(int(line) + 1 for line in process.stdout.read().splitlines() if line.isdecimal())])
        process.wait()
        process.stdout.close()
        stored = len(list(folder.storage.rows(key)))
        assert sent <= stored <= sent + 1
        assert all(folder.storage.find_report(key, identity(each)) is not None for each in range(sent))
        assert wrong_counts(folder.storage) == folder.storage.verify() == []
        sent = stored
    assert folder.storage.settle()


class SQLiteReader:
    """Another process's read transaction."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)

    def __enter__(self) -> None:
        self._connection.execute("BEGIN")
        self._connection.execute("SELECT count(*) FROM surveys").fetchall()

    def __exit__(self, *_: object) -> None:
        self._connection.close()
