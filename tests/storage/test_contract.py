"""What every storage back end must do; run over all of them."""

import hashlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sottovoce.aggregator.admission import counted, recount
from sottovoce.aggregator.storage import Arrival, Outcome, Storage
from sottovoce.aggregator.storage.base import ALL
from sottovoce.aggregator.storage.sqlite import SESSION_IDLE, SESSION_MOST, SQLiteStorage
from sottovoce.shared.errors import StorageError
from sottovoce.shared.report import Report

from tests.surveys import survey

BACK_ENDS: dict[str, Callable[[Path], Storage]] = {"sqlite": lambda path: SQLiteStorage(path / "db.sqlite")}


@pytest.fixture(params=BACK_ENDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """An empty database of each kind."""
    database = BACK_ENDS[request.param](tmp_path)
    yield database
    database.close()


def arrival(key: int, number: int, values: tuple[int, ...] = (1, 2, 0), batch: int = 25) -> Arrival:
    """An admitted report with an id made from a number."""
    asked = survey()
    report = Report(asked.name, asked.digest, 0, hashlib.sha256(b"%d" % number).hexdigest()[:32], values)
    return Arrival(key, report, values[2], counted(asked, values), batch)


def test_publish_twice_changes_nothing(store: Storage) -> None:
    """Publishing is idempotent."""
    assert store.publish(survey()) == store.publish(survey())
    assert len(store.surveys()) == 1


def test_publish_refuses_another_text_under_the_same_revision(store: Storage) -> None:
    """A published survey cannot change; a correction is a higher revision."""
    store.publish(survey())
    with pytest.raises(StorageError, match="higher revision"):
        store.publish(survey(title={"en": "Changed"}))
    store.publish(survey(title={"en": "Changed"}, revision=2))

    assert [row.revision for row in store.revisions("exam")] == [1, 2]


def test_store_classifies_new_same_and_conflict_also_within_a_group(store: Storage) -> None:
    """One id counts once, and its first values stay."""
    key = store.publish(survey()).key
    group = [arrival(key, 1), arrival(key, 1), arrival(key, 1, (0, 2, 0)), arrival(key, 2)]

    assert store.store(group) == [Outcome.NEW, Outcome.SAME, Outcome.CONFLICT, Outcome.NEW]
    found = store.find_report(key, arrival(key, 1).report.report_id)
    assert found is not None
    assert found.values == (1, 2, 0)
    assert store.surveys()[0].reports == 2


def test_store_counts_64_parallel_copies_once(store: Storage) -> None:
    """Many threads with one report make one report."""
    key = store.publish(survey()).key
    barrier = threading.Barrier(16)

    def send(_: int) -> Outcome:
        barrier.wait()
        return store.store([arrival(key, 7)])[0]

    with ThreadPoolExecutor(16) as pool:
        outcomes = list(pool.map(send, range(64)))

    assert outcomes.count(Outcome.NEW) == 1
    assert set(outcomes) == {Outcome.NEW, Outcome.SAME}
    assert store.live_counts(key) == {0: {1: 1}, 1: {2: 1}, 2: {0: 1}}


def test_store_keeps_counts_equal_to_a_recount(store: Storage) -> None:
    """The kept counts are those of the rows."""
    key = store.publish(survey()).key
    store.store([arrival(key, number, (number % 2, number % 3, number % 5 % 2)) for number in range(97)])

    assert store.live_counts(key) == recount(store, store.surveys()[0])
    assert sum(store.live_counts(key)[0].values()) == 97


def test_cells_move_only_when_a_batch_has_come(store: Storage) -> None:
    """Results after 25 to 49 reports are the same, to the byte."""
    key = store.publish(survey()).key
    store.store([arrival(key, number) for number in range(24)])
    assert all(cell.reports == 0 for cell in store.cells(key))
    store.store([arrival(key, 24)])
    shown = store.cells(key)
    for number in range(25, 49):
        store.store([arrival(key, number, (0, 0, 0))])
        assert store.cells(key) == shown
    store.store([arrival(key, 49)])

    assert store.cells(key) != shown
    assert {cell.cohort: cell.reports for cell in store.cells(key)} == {ALL: 50, 0: 50}


def test_cells_of_a_cohort_wait_for_their_own_batch(store: Storage) -> None:
    """A small cohort does not move with the others."""
    key = store.publish(survey()).key
    store.store([arrival(key, number) for number in range(30)])
    store.store([arrival(key, 100 + number, (1, 1, 1)) for number in range(20)])

    assert {cell.cohort: cell.reports for cell in store.cells(key)} == {ALL: 50, 0: 25, 1: 0}


def test_close_shows_everything_and_admits_nothing(store: Storage) -> None:
    """After closing, the snapshot is whole and stays."""
    key = store.publish(survey()).key
    store.store([arrival(key, number) for number in range(3)])
    store.close_survey("exam")

    assert {cell.cohort: cell.reports for cell in store.cells(key)} == {ALL: 3, 0: 3}
    assert store.store([arrival(key, 9), arrival(key, 1)]) == [Outcome.CLOSED, Outcome.SAME]
    assert store.surveys()[0].closed


def test_rows_come_in_no_order_of_arrival(store: Storage) -> None:
    """Reports are read back by their random ids."""
    key = store.publish(survey()).key
    numbers = list(range(80))
    for number in numbers:
        store.store([arrival(key, number, (number % 2, 0, 0))])

    assert [values[0] for values in store.rows(key)] != [number % 2 for number in numbers]


def test_sessions_end_when_idle_old_or_ended(store: Storage) -> None:
    """A session lives half an hour without use and half a day at most."""
    store.start_session(b"s", "ann", 1000)
    assert store.session(b"s", 1000 + SESSION_IDLE) == "ann"
    assert store.session(b"s", 1000 + 2 * SESSION_IDLE) == "ann"
    assert store.session(b"s", 1000 + 3 * SESSION_IDLE + 1) is None
    assert store.session(b"s", 1000 + SESSION_MOST + 1) is None
    store.end_session(b"s")
    assert store.session(b"s", 1000) is None


def test_researchers_are_known_by_hash(store: Storage) -> None:
    """Only the right hash lets in."""
    assert not store.has_researchers()
    store.add_researcher("ann", b"hash")

    assert store.has_researchers()
    assert store.researcher(b"hash") == "ann"
    assert store.researcher(b"other") is None
