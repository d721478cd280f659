"""What staff did is a chain of entries: nothing is missing from it, and nothing can be changed in it unseen."""

import hashlib
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sottovoce.aggregator.storage import AuditEntry, ChainHead, Storage
from sottovoce.aggregator.storage.audit_log import events as words, table
from sottovoce.aggregator.storage.connect import open_url
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared import canonical

from tests import postgres

ANNE, BERT = "a" * 32, "b" * 32
HEX = "0123456789abcdef" * 4


def fill(store: Storage) -> list[AuditEntry]:
    store.journal.append(words.LOGIN, ANNE, "key")
    store.journal.append(words.PUBLISHED, ANNE, f"exam 1 {HEX}")
    store.journal.append(words.GRANTED, BERT, f"* owner {BERT}")
    store.journal.append(words.TOKENS_MADE, words.MACHINE, "exam-2 30")
    store.journal.append(words.LOGOUT, ANNE)
    return list(store.journal.entries())


def change(store: Storage, *statements: str) -> None:
    """As whoever has the database may."""
    with store.write() as db:  # type: ignore[attr-defined]
        for statement in statements:
            db.execute(statement)


def append_on(store: Storage, day: int, what: str, about: str = "") -> None:
    with store.write() as db:  # type: ignore[attr-defined]
        table.append(db, day, what, ANNE, about)


def test_every_entry_follows_from_the_one_before(store: Storage) -> None:
    assert store.journal.head() == ChainHead(0, bytes(32))
    found = fill(store)

    assert [entry.number for entry in found] == [1, 2, 3, 4, 5]
    before = bytes(32)
    for number, day, what, who, about, previous in found:
        assert previous == before
        before = hashlib.sha256(canonical.dump([number, day, what, who, about, previous.hex()])).digest()
    assert store.journal.head() == ChainHead(5, before)
    assert store.journal.problems() == store.verify() == []


@pytest.mark.parametrize("statement", [
    "UPDATE journal SET who = '' WHERE number = 2",
    "UPDATE journal SET about = 'exam-2 31' WHERE number = 4",
    "UPDATE journal SET day = day - 1 WHERE number = 1",
    "UPDATE journal SET what = 'login', about = 'key' WHERE number = 5",
    "DELETE FROM journal WHERE number = 1",
    "DELETE FROM journal WHERE number = 3",
    "DELETE FROM journal WHERE number = 5",
    "DELETE FROM journal",
    # Two change places, by way of a number that is free.
    "UPDATE journal SET number = 12 WHERE number = 2;UPDATE journal SET number = 2 WHERE number = 5;"
    "UPDATE journal SET number = 5 WHERE number = 12",
    "UPDATE journal SET number = number + 1 WHERE number = 5",
    "INSERT INTO journal SELECT 6, day, what, who, about, previous FROM journal WHERE number = 5",
])  # fmt: skip
def test_entry_changed_dropped_swapped_or_added_is_found(store: Storage, statement: str) -> None:
    fill(store)
    change(store, *statement.split(";"))

    assert len(store.journal.problems()) == 1
    assert store.verify() == store.journal.problems()


def test_entry_added_by_its_rules_is_known_to_who_has_noted_the_head(store: Storage) -> None:
    """Whoever writes all hashes anew leaves a chain that holds; a head that was noted elsewhere is not in it."""
    fill(store)
    noted = store.journal.head()
    assert store.journal.is_known(noted)
    change(store, "DELETE FROM journal", "DELETE FROM journal_head")
    fill(store)
    assert store.journal.is_known(noted)
    change(store, "DELETE FROM journal", "DELETE FROM journal_head")
    for _ in range(6):
        store.journal.append(words.LOGIN, BERT, "key")

    assert store.journal.problems() == []
    assert store.journal.is_known(noted) is False


@pytest.mark.parametrize(("what", "who", "about"), [
    ("slept", ANNE, ""), (words.LOGOUT, "Anne", ""), (words.LOGOUT, ANNE, "10.0.0.1"), (words.LOGIN, ANNE, "12:30"),
    (words.EXPORTED, ANNE, "exam ../../etc/passwd"), (words.EXPORTED, ANNE, "exam /home/anne/file.csv"),
    (words.TOKENS_MADE, ANNE, "exam 30 3F2K-9Q"), (words.RESULTS_READ, ANNE, "exam 3 <b>"),
    (words.PUBLISHED, ANNE, f"exam 1 {HEX}\n"), (words.GRANTED, ANNE, f"exam king {BERT}"),
])  # fmt: skip
def test_nothing_but_its_form_comes_into_the_journal(store: Storage, what: str, who: str, about: str) -> None:
    with pytest.raises(ValueError, match=r"^an entry of the journal does not match the form of its event$"):
        store.journal.append(what, who, about)
    assert list(store.journal.entries()) == []


def test_entries_are_found_by_survey_and_day(store: Storage) -> None:
    """What concerns all surveys concerns each; a name that begins alike, or is another word, is another."""
    fill(store)
    today = next(store.journal.entries()).day

    def numbers(*asked: object) -> list[int]:
        return [entry.number for entry in store.journal.entries(*asked)]  # type: ignore[arg-type]

    assert numbers("exam") == [2, 3]
    assert numbers("exam-2") == [3, 4]
    assert numbers("key") == [3]
    assert numbers(None, today) == numbers(None, 0, today) == [1, 2, 3, 4, 5]
    assert numbers(None, today + 1) == numbers(None, 0, today - 1) == []
    assert [entry.number for entry in store.journal.latest(2)] == [5, 4]
    assert [entry.number for entry in store.journal.latest(9, before=4)] == [3, 2, 1]
    assert [entry.number for entry in store.journal.latest(9, "exam")] == [3, 2]


def test_same_thing_is_noted_once_a_day(store: Storage) -> None:
    """By whatever number of threads at once; another account, survey or snapshot is another thing."""
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: store.journal.append_once(words.RESULTS_READ, ANNE, "exam 3"), range(12)))
    store.journal.append_once(words.RESULTS_READ, BERT, "exam 3")
    store.journal.append_once(words.RESULTS_READ, ANNE, "exam 4")
    store.journal.append_once(words.RESULTS_READ, ANNE, "exam 5", per_survey=True)

    assert [(entry.who, entry.about) for entry in store.journal.entries()] == [
        (ANNE, "exam 3"), (BERT, "exam 3"), (ANNE, "exam 4")
    ]  # fmt: skip


def test_cut_leaves_the_hash_at_which_the_rest_goes_on(store: Storage) -> None:
    """Entries go after 366 days; the rest holds together, and heads are known as far as can be."""
    today = store.journal.append_once(words.LOGIN, ANNE, "key")
    change(store, "DELETE FROM journal", "DELETE FROM journal_head")
    heads = []
    for age in (400, 367, 366, 3):
        append_on(store, today - age, words.LOGIN, "key")
        heads.append(store.journal.head())
    store.journal.cut()
    found = list(store.journal.entries())

    assert [(entry.number, today - entry.day, entry.what) for entry in found] == [
        (3, 366, words.LOGIN), (4, 3, words.LOGIN), (5, 0, words.CUT)
    ]  # fmt: skip
    assert found[-1].about == f"2 {heads[1].hash.hex()}"
    assert store.journal.problems() == []
    assert [store.journal.is_known(head) for head in heads] == [None, True, True, True]
    assert store.journal.is_known(ChainHead(2, bytes(32))) is not True
    store.journal.cut()
    assert list(store.journal.entries()) == found


@pytest.mark.parametrize("statement", [
    "DELETE FROM journal WHERE number = 3", "DELETE FROM journal WHERE number <= 4",
    "UPDATE journal SET about = replace(about, '2 ', '3 ') WHERE number = 5", "DELETE FROM journal WHERE number = 5",
])  # fmt: skip
def test_more_taken_out_than_was_cut_is_found(store: Storage, statement: str) -> None:
    """The entry of the cut says where the rest goes on, and is itself in the chain."""
    today = store.journal.append_once(words.LOGIN, ANNE, "key")
    change(store, "DELETE FROM journal", "DELETE FROM journal_head")
    for age in (400, 367, 366, 3):
        append_on(store, today - age, words.LOGIN, "key")
    store.journal.cut()
    change(store, statement)

    assert len(store.journal.problems()) == 1


def test_old_cuts_alone_are_no_cause_of_another_one(store: Storage) -> None:
    """Else each would leave one more, for ever."""
    today = store.journal.append_once(words.LOGIN, ANNE, "key")
    append_on(store, today - 800, words.CUT, f"1 {HEX}")
    change(store, "DELETE FROM journal", "DELETE FROM journal_head")
    append_on(store, today - 800, words.CUT, f"1 {HEX}")
    store.journal.cut()

    assert [entry.number for entry in store.journal.entries()] == [1]


def test_threads_leave_no_gap(store: Storage) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: store.journal.append(words.LOGIN, ANNE, "key"), range(24)))

    assert [entry.number for entry in store.journal.entries()] == list(range(1, 25))
    assert store.journal.problems() == []


def test_nodes_on_one_database_leave_no_gap() -> None:
    """Two that share nothing but PostgreSQL."""
    url = postgres.with_tables()
    nodes = [PostgresStorage(url, connections=2) for _ in range(2)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: nodes[number % 2].journal.append(words.LOGIN, ANNE, "key"), range(24)))

    assert [entry.number for entry in nodes[0].journal.entries()] == list(range(1, 25))
    assert nodes[1].journal.problems() == []
    for node in nodes:
        node.close()


def test_database_of_an_earlier_version_says_that_it_was_brought_further(tmp_path: Path) -> None:
    """In the step that did it; a new one has nothing to say."""
    kept = Path(__file__).parent / "schemas"
    with sqlite3.connect(tmp_path / "old.sqlite") as connection:
        connection.executescript((kept / "sqlite-8.sql").read_text())
        (before,) = connection.execute("SELECT count(*) FROM journal").fetchone()
    connection.close()
    old, new = SQLiteStorage(tmp_path / "old.sqlite"), SQLiteStorage(tmp_path / "new.sqlite")

    assert [(entry.what, entry.who) for entry in old.journal.entries()][before:] == [(words.MIGRATED, words.NO_ACTOR)]
    assert list(new.journal.entries()) == []
    old.close()
    new.close()


ACTS = """
import sys
from pathlib import Path
from sottovoce.aggregator.storage.connect import open_url
from tests.surveys import survey
storage = open_url(sys.argv[1], Path(sys.argv[2]))
key = storage.publish(survey(access="token")).key
print(flush=True)
number = storage.token_counts(key).created
while True:
    storage.add_tokens(key, [(number + 1).to_bytes(32)])
    number += 1
    storage.close_survey("exam", 20_000)
    storage.reopen_survey("exam")
"""

ADDRESSES: dict[str, Callable[[], str]] = {"sqlite": lambda: "", "postgres": postgres.fresh}


def check(storage: Storage) -> int:
    """Hold the entries against what is there; returns how many there are."""
    entries = list(storage.journal.entries())
    assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))
    assert storage.verify() == []
    kinds = [entry.what for entry in entries]
    assert kinds.count(words.TOKENS_MADE) == storage.token_counts(1).created == storage.token_counts(1).unspent
    # The record is written by the same steps, in lines of its own.
    steps = [line.what for line in storage.record()]
    for entry, line in ((words.PUBLISHED, "published"), (words.CLOSED, "closed"), (words.REOPENED, "reopened")):
        assert kinds.count(entry) == steps.count(line)
    assert storage.surveys()[0].closed == (kinds.count(words.CLOSED) > kinds.count(words.REOPENED))
    return len(entries)


def kill_again_and_again(url: str, folder: Path, times: int) -> None:
    """Each time at another moment of its work."""
    found = 0
    for number in range(times):
        process = subprocess.Popen([sys.executable, "-c", ACTS, url, str(folder)], stdout=subprocess.PIPE)
        process.stdout.readline()
        time.sleep(0.05 + 0.0137 * (number % 17))
        process.kill()
        process.wait()
        process.stdout.close()
        storage = open_url(url, folder)
        last, found = found, check(storage)
        storage.close()
        # On a busy machine a process may be killed before its first act.
        assert found >= last
    assert found > times


@pytest.mark.parametrize(
    ("back_end", "times"), [("sqlite", 5), *(pytest.param(each, 50, marks=pytest.mark.slow) for each in ADDRESSES)]
)
def test_kills_leave_every_act_with_its_entry(tmp_path: Path, back_end: str, times: int) -> None:
    kill_again_and_again(ADDRESSES[back_end](), tmp_path, times)
