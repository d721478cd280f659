"""Connections count in slots of their own, and what has grown is shown after the reports are durable."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from sottovoce.aggregator.storage import Outcome
from sottovoce.aggregator.storage.copy import copy_all
from sottovoce.aggregator.storage.postgres import storage as postgres_storage
from sottovoce.aggregator.storage.postgres.storage import SHOW_LOCK, PostgresStorage, SnapshotPublisher
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.storage.verify_counts import wrong_counts
from sottovoce.aggregator.surveys.housekeeping import Housekeeping

from tests import postgres as server
from tests.conftest import FakeClock
from tests.recount import recount
from tests.storage.test_contract import arrival, identity, plan
from tests.surveys import survey


@pytest.fixture
def url() -> str:
    return server.with_tables()


@pytest.fixture
def nodes(url: str) -> Iterator[list[PostgresStorage]]:
    with closing(PostgresStorage(url)) as first, closing(PostgresStorage(url)) as second:
        yield [first, second]


def test_slots_are_added_up_by_whoever_reads_or_copies(nodes: list[PostgresStorage], tmp_path: Path) -> None:
    """Withdrawing at another node leaves that one's slot below zero, and every sum as the rows say."""
    key = nodes[0].publish(survey()).key
    nodes[0].store([arrival(key, number) for number in range(30)])
    nodes[1].store([arrival(key, 100, (0, 0, 0))])
    for number in range(3):
        assert nodes[1].withdraw(plan(key), identity(number)) is Outcome.WITHDRAWN
    with nodes[0].read() as db:
        rows = db.execute("SELECT sum(arrived), sum(withdrawn), count(DISTINCT slot) > 1 FROM cells").fetchall()
        lowest = db.execute("SELECT min(reports) < 0 FROM counts").fetchone()
    with closing(SQLiteStorage(tmp_path / "copy.sqlite")) as copy:
        copy_all(nodes[0], copy)
        copied = list(copy.export_table("cells"))
        wrong = [*wrong_counts(copy), *wrong_counts(nodes[0])]

    assert (rows, lowest) == ([(31, 3, True)], (True,))
    assert (copied, wrong) == ([(key, 0, 0, 0, 31, 3)], [])
    assert nodes[0].live_counts(key) == recount(nodes[0], nodes[0].surveys()[0])


def test_who_finds_another_at_showing_waits_for_nobody(nodes: list[PostgresStorage], url: str) -> None:
    """Its reports are durable and not shown; the next group, of any size and at any node, shows them."""
    key = nodes[0].publish(survey()).key
    with psycopg.connect(url) as other:
        other.execute("SELECT pg_advisory_xact_lock(%s)", [(SHOW_LOCK << 32) + key])
        assert nodes[0].store([arrival(key, number) for number in range(30)]) == [Outcome.NEW] * 30
        assert nodes[0].cells(key) == []
    assert nodes[1].store([arrival(key, 30)]) == [Outcome.NEW]
    assert nodes[1].cells(key)[0].reports == 31


def test_showing_leaves_it_to_whoever_closes_or_deletes(nodes: list[PostgresStorage], url: str) -> None:
    """It waits for nobody, and puts no older moment over what a close shows, and nothing of what is deleted."""
    key = nodes[0].publish(survey()).key
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SnapshotPublisher, "want", lambda *_: None)
        nodes[0].store([arrival(key, number) for number in range(30)])
    with psycopg.connect(url) as other:
        other.execute("UPDATE surveys SET retired = 1")
        nodes[0].show_grown({key: 25})
        assert nodes[0].cells(key) == []
        other.rollback()
        nodes[0].show_grown({key: 25})
        assert nodes[0].cells(key)[0].reports == 30
        other.execute("DELETE FROM shown_cells")
        other.execute("DELETE FROM surveys")
        other.commit()
    nodes[0].show_grown({key: 25})
    with nodes[0].read() as db:
        assert db.execute("SELECT count(*) FROM shown_cells").fetchone() == (0,)


def test_groups_that_come_together_are_shown_at_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads or copies hurries it; what brings nothing new is not worth a look."""
    monkeypatch.setattr(postgres_storage, "PAUSE", 60.0)
    wanted: list[object] = []
    with closing(PostgresStorage(url)) as node:
        key = node.publish(survey()).key
        shown = node._publisher._show
        monkeypatch.setattr(node._publisher, "_show", lambda batches: [wanted.append(batches), shown(batches)])
        for start in (0, 100, 200):
            node.store([arrival(key, start + number) for number in range(30)])
        assert wanted == []
        assert list(node.export_table("shown_cells")) == [(key, 0, 0, 90, 0, None)]
        node.store([arrival(key, 0)])
        node.store([arrival(key, 0), arrival(key, 1, (0, 0, 0))])
        assert node.cells(key)[0].reports == 90
    assert wanted == [{key: 25}]


def test_reports_are_acknowledged_by_a_process_that_is_ending(nodes: list[PostgresStorage]) -> None:
    key = nodes[0].publish(survey()).key
    nodes[0]._publisher.end()
    assert nodes[0].store([arrival(key, number) for number in range(30)]) == [Outcome.NEW] * 30
    nodes[1].show_grown({key: 25})
    assert nodes[1].cells(key)[0].reports == 30


def test_nobody_waits_for_ever_for_a_publisher(monkeypatch: pytest.MonkeyPatch) -> None:
    """The database does not answer: who reads is told what is shown by now, and the process can end."""
    monkeypatch.setattr(postgres_storage, "SETTLE_TIMEOUT_SECONDS", 0.01)
    answers = threading.Event()
    showing = SnapshotPublisher(lambda _: answers.wait(60) and None)
    showing.want({1: 25})
    assert not showing.settle()
    showing.end()
    answers.set()
    assert wait([showing._last or Future()], 60).not_done == set()


def test_transactions_see_what_came_while_they_waited_whatever_the_server_defaults_to(url: str) -> None:
    """A close that waited for the last report would else leave it unshown for good."""
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(
            f"ALTER DATABASE {owner.info.dbname} SET default_transaction_isolation = 'repeatable read'"  # type: ignore[call-overload]
        )
    with closing(PostgresStorage(url)) as node, node.write() as db:
        assert db.execute("SHOW transaction_isolation").fetchone() == ("read committed",)


def test_what_a_process_that_ended_left_unshown_is_shown_within_the_minute(
    nodes: list[PostgresStorage], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Housekeeping of any node does it; a crash in between makes it late, never early."""
    key = nodes[0].publish(survey()).key
    clock = FakeClock()
    with monkeypatch.context() as ended:
        ended.setattr(SnapshotPublisher, "want", lambda *_: None)
        nodes[0].store([arrival(key, number) for number in range(24)])
        Housekeeping(nodes[1], clock, lambda: True)()
        assert nodes[1].cells(key) == []
        nodes[0].store([arrival(key, 24)])
    assert nodes[1].cells(key) == []
    clock.moment += timedelta(minutes=1)
    Housekeeping(nodes[1], clock, lambda: True)()

    assert nodes[1].cells(key)[0].reports == 25
