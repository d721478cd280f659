"""Ledgers of public answers in every back end: lines only ever follow the last one, and go with their survey."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.copy import copy_all
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.errors import StorageError

from tests.surveys import survey


@pytest.fixture
def store(store: Storage) -> Storage:
    store.publish(survey())
    return store


def test_lines_are_kept_in_their_order(store: Storage) -> None:
    releases = store.releases
    assert not releases.has_any("exam")
    releases.begin("exam", b"0\n")
    for number in range(1, 12):
        releases.add("exam", number, b"%d\n" % number)
    assert releases.lines("exam") == [b"%d\n" % number for number in range(12)]
    assert releases.has_any("exam")
    assert not releases.has_any("exam2")


def test_line_that_does_not_follow_is_refused(store: Storage) -> None:
    """Of two writers that saw the same ledger the second is; nobody adds to one that was never begun."""
    with pytest.raises(StorageError, match="another person"):
        store.releases.add("exam", 0, b"x\n")
    store.releases.begin("exam", b"0\n")
    store.releases.add("exam", 1, b"first\n")
    for after in (0, 1, 3):
        with pytest.raises(StorageError, match="another person"):
            store.releases.add("exam", after, b"second\n")
    assert store.releases.lines("exam") == [b"0\n", b"first\n"]


def test_ledger_that_has_answered_is_never_begun_anew(store: Storage) -> None:
    """Not even by a node that looked before the answer and has another folder of heads: the answer was shown."""
    for _ in range(2):
        store.releases.begin("exam", b"0\n")
    store.releases.add("exam", 1, b"shown\n")
    with pytest.raises(StorageError, match="has answered something"):
        store.releases.begin("exam", b"0\n")
    assert store.releases.lines("exam") == [b"0\n", b"shown\n"]


def test_of_many_writers_at_once_one_adds_its_line(store: Storage) -> None:
    """Also where they are no processes of one machine, which the lock beside the heads would hold back."""
    store.releases.begin("exam", b"0\n")

    def add(number: int) -> None:
        with suppress(StorageError):
            store.releases.add("exam", 1, b"%d\n" % number)

    with ThreadPoolExecutor(8) as people:
        list(people.map(add, range(8)))
    assert len(store.releases.lines("exam")) == 2


def test_ledger_goes_with_its_survey_and_into_copies(store: Storage, tmp_path: Path) -> None:
    store.releases.begin("exam", b"0\n")
    store.releases.add("exam", 1, b"1\n")
    copied = SQLiteStorage(tmp_path / "copy.sqlite", unfinished=True)
    copy_all(store, copied)
    assert copied.releases.lines("exam") == [b"0\n", b"1\n"]
    copied.close()
    store.delete_survey("exam")
    assert not store.releases.has_any("exam")
    for write in (lambda: store.releases.begin("exam", b"0\n"), lambda: store.releases.add("exam", 1, b"1\n")):
        with pytest.raises(StorageError, match="no survey of this name"):
            write()
