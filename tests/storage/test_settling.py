"""Reports settle on PostgreSQL while others come, are sent again and are withdrawn; nothing is left of their order."""

import hashlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sottovoce.aggregator.storage import Outcome
from sottovoce.aggregator.storage.back_end import MaintenanceThread
from sottovoce.aggregator.storage.copy import copy_all
from sottovoce.aggregator.storage.models import Known
from sottovoce.aggregator.storage.postgres import settling, storage as storing
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.storage.verify_counts import wrong_counts
from sottovoce.shared.errors import StorageError

from tests import postgres
from tests.bench.disorder import correlation
from tests.recount import recount
from tests.storage.keep_schema import dumped
from tests.storage.test_contract import arrival, identity, plan
from tests.storage.test_postgres import wait_for_waiters
from tests.surveys import survey

PLACES = """
    SELECT report_id, ctid, xmin, 1 AS place FROM settled UNION ALL SELECT report_id, ctid, xmin, 2 FROM fresh
"""


class Killed(Exception):
    """Stands for a process that is gone."""


@pytest.fixture
def store(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresStorage]:
    """A node on it that moves ten reports at a time."""
    monkeypatch.setattr(settling, "MOVED_ROWS", 10)
    monkeypatch.setattr(settling, "PAUSE_SECONDS", 0.01)
    node = PostgresStorage(url)
    yield node
    node.close()


def stop_after(store: PostgresStorage, moves: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settle until so many tens have moved."""
    with monkeypatch.context() as patch:
        execute, left = psycopg.Connection.execute, count(moves, -1)

        def stopping(connection: Any, statement: Any, *given: Any, **options: Any) -> Any:
            if statement == settling._MOVE_PART and next(left) == 0:
                raise Killed
            return execute(connection, statement, *given, **options)

        patch.setattr(psycopg.Connection, "execute", stopping)
        with pytest.raises(Killed):
            store.scrub()


def places(url: str) -> dict[str, int]:
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT 'fresh', count(*) FROM fresh UNION SELECT 'settled', count(*) FROM settled")
        return {table: number for table, number in found if number}


def check(store: PostgresStorage, key: int, reports: int) -> None:
    """So many are stored, and all that is kept beside them follows from them."""
    assert store.surveys()[0].reports == reports == len(list(store.rows(key)))
    assert store.live_counts(key) == recount(store, store.surveys()[0])
    assert wrong_counts(store) == store.verify() == []


def test_report_is_known_wherever_it_lies(store: PostgresStorage, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    key = store.publish(survey()).key
    store.store([arrival(key, number) for number in range(40)])
    stop_after(store, 2, monkeypatch)
    store.store([arrival(key, number) for number in range(40, 60)])
    assert places(url) == {"fresh": 40, "settled": 20}
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "(SELECT report_id FROM fresh LIMIT 1) UNION (SELECT report_id FROM settled LIMIT 1)"
        )
        ids = [bytes(row[0]) for row in found]

    for place, known in enumerate(ids):
        again = replace(arrival(key, 0), report_ids=known)
        assert store.find_report(key, known) == Known(0, (1, 2, 0))
        assert store.store([again]) == [Outcome.SAME]
        assert store.store([arrival(key, 100 + place), again]) == [Outcome.NEW, Outcome.SAME]
        assert store.store([replace(arrival(key, 0, (0, 0, 1)), report_ids=known)]) == [Outcome.CONFLICT]
        assert store.withdraw(plan(key), known) is store.withdraw(plan(key), known) is Outcome.WITHDRAWN
        assert store.store([again]) == [Outcome.WITHDRAWN]
    assert (len(ids), store.withdraw(plan(key), identity(999))) == (2, Outcome.UNKNOWN)
    check(store, key, 60)
    store.scrub()
    assert places(url) == {"settled": 60}
    check(store, key, 60)


def test_who_is_killed_at_any_step_leaves_every_report_once(
    store: PostgresStorage, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time one statement later, until it comes to the end; meanwhile others come, and one is withdrawn."""
    key = store.publish(survey()).key
    execute, came, killed = psycopg.Connection.execute, 0, 0
    for last in count():
        store.store([arrival(key, number) for number in range(came, came + 12)])
        assert store.withdraw(plan(key), identity(came)) is Outcome.WITHDRAWN
        came += 12
        left = count(last, -1)

        def dying(connection: Any, statement: Any, *given: Any, left: Any = left, **options: Any) -> Any:
            # Another thread shows what has grown.
            if threading.current_thread() is threading.main_thread() and next(left) == 0:
                raise Killed
            return execute(connection, statement, *given, **options)

        with monkeypatch.context() as patch:
            patch.setattr(psycopg.Connection, "execute", dying)
            try:
                store.scrub()
            except Killed:
                killed += 1
                assert store.surveys()[0].reports == came // 12 * 11 == len(list(store.rows(key)))
                continue
        break
    check(store, key, came // 12 * 11)

    assert killed > 20
    assert places(url) == {"settled": came // 12 * 11}


def test_reports_come_again_and_go_while_all_settle(store: PostgresStorage, url: str) -> None:
    other = PostgresStorage(url)
    key = store.publish(survey()).key

    def come_and_go(node: PostgresStorage, number: int) -> None:
        again = other if node is store else store
        assert node.store([arrival(key, number)]) == [Outcome.NEW]
        assert again.store([arrival(key, number), arrival(key, 1000 + number)]) == [Outcome.SAME, Outcome.NEW]
        assert {one.withdraw(plan(key), identity(number)) for one in (again, node)} == {Outcome.WITHDRAWN}
        assert again.store([arrival(key, number)]) == [Outcome.WITHDRAWN]

    with ThreadPoolExecutor(6) as pool:
        coming = [pool.submit(come_and_go, (store, other)[number % 2], number) for number in range(60)]
        while not all(one.done() for one in coming):
            store.scrub()
        for one in coming:
            one.result()
    other.close()
    store.scrub()

    check(store, key, 60)
    assert places(url) == {"settled": 60}


def test_reader_sees_all_reports_as_of_its_moment_and_reports_go_on(store: PostgresStorage) -> None:
    """What settles waits for whoever reads, in turns between which others store."""
    key = store.publish(survey()).key
    store.store([arrival(key, number) for number in range(30)])
    with ThreadPoolExecutor(1) as pool:
        with store.snapshot() as rows:
            settling = pool.submit(store.scrub)
            for number in range(100, 120):
                assert store.store([arrival(key, number)]) == [Outcome.NEW]
            assert not settling.done()
            assert len(list(rows("reports"))) == 30
        settling.result(60)

    assert len(list(store.rows(key))) == 50


def test_server_closes_a_survey_without_waiting_for_what_settles(store: PostgresStorage, url: str) -> None:
    """A thread of its own waits for whoever reads, and then does it."""
    key = store.publish(survey()).key
    store.store([arrival(key, number) for number in range(30)])
    store.start_maintenance()
    with store.snapshot() as rows:
        store.close_survey("exam", 20_000)
        assert store.surveys()[0].closed
        assert len(list(rows("reports"))) == 30
    while places(url) != {"settled": 30}:
        time.sleep(0.01)


def test_nothing_of_the_order_is_left_once_settled(store: PostgresStorage, url: str) -> None:
    """Neither in the files, nor in the numbers of transactions, nor in a dump; after the night it is one sequence."""
    key = store.publish(survey()).key
    came = [identity(7919 * number) for number in range(200)]
    before, settled = [], []
    for day in range(2):
        for each in came[100 * day : 100 * (day + 1)]:
            store.store([replace(arrival(key, 0), report_ids=each)])
        before.append(orders(url, came[100 * day : 100 * (day + 1)]))
        assert store.settle()
        settled.append(orders(url, came[100 * day : 100 * (day + 1)]))
    # Which reports settled together can be told until the night, and no more.
    assert [one for stage in before for one in stage if one < 0.9] == []
    assert all(abs(one) < 0.25 for stage in settled for one in stage)
    store.scrub()
    with psycopg.connect(url) as connection:
        ids = [bytes(row[0]) for row in connection.execute("SELECT report_id FROM settled ORDER BY ctid")]
        transactions = connection.execute("SELECT count(DISTINCT xmin::text) FROM settled").fetchone()

    assert ids == sorted(came)
    assert transactions == (1,)
    assert max(map(abs, orders(url, came))) < 0.25


def orders(url: str, came: list[bytes]) -> list[float]:
    """How far places in the files, numbers of transactions, and a dump follow the order of arrival."""
    place = {each: number for number, each in enumerate(came)}
    with psycopg.connect(url) as connection:
        found = [
            [bytes(row[0]) for row in connection.execute(query)]
            for query in (
                f"SELECT report_id FROM ({PLACES}) AS places ORDER BY place, ctid",  # noqa: S608 - constants
                f"SELECT report_id FROM ({PLACES}) AS places ORDER BY xmin::text::bigint, place, ctid",  # noqa: S608
            )
        ]
    text = dumped(url, "--data-only")
    found.append(sorted((each for each in came if each.hex() in text), key=lambda each: text.index(each.hex())))
    assert set(came) <= set(found[-1])
    return [correlation([place[each] for each in ids if each in place]) for ids in found]


def test_withdrawn_and_purged_ids_are_in_no_file(store: PostgresStorage, url: str) -> None:
    """What something was taken out of is written anew, open or closed; the files of before are gone."""
    key = store.publish(survey()).key
    store.store([arrival(key, number) for number in range(50)])
    store.scrub()
    assert store.withdraw(plan(key), identity(7)) is Outcome.WITHDRAWN
    store.scrub()
    found = pages(url)
    assert [each in found for each in (identity(6), identity(7))] == [True, False]
    assert store.store([arrival(key, 60)]) == [Outcome.NEW]
    assert store.withdraw(plan(key), identity(60)) is Outcome.WITHDRAWN
    store.scrub()
    assert identity(60) not in pages(url)
    store.close_survey("exam", 20_000)
    store.purge(key)

    found = pages(url)
    assert not [number for number in range(50) if identity(number) in found]
    assert store.surveys()[0].reports == len(list(store.rows(key))) == 49


def test_deleted_surveys_are_in_no_file_once_a_reader_has_ended(
    store: PostgresStorage, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the server keeps for whoever might see it is written anew after that, and the node settles meanwhile."""
    key, requested = store.publish(survey()).key, list[Callable[[], object]]()
    assert store.store([arrival(key, 0)]) == [Outcome.NEW]
    monkeypatch.setattr(settling, "TRIES", 1)
    monkeypatch.setattr(MaintenanceThread, "request", lambda _, work: requested.append(work))
    store.start_maintenance()
    with store.read() as db:
        db.execute("SELECT count(*) FROM accounts")
        store.delete_survey("exam")
        requested.pop()()
    while requested:
        requested.pop()()

    check_gone(url)


def test_deleted_surveys_are_in_no_file_after_a_night_if_the_node_was_killed(
    store: PostgresStorage, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the deletion and the rewriting of what it leaves, which a start does not know of."""
    key = store.publish(survey()).key
    assert store.store([arrival(key, 0)]) == [Outcome.NEW]
    monkeypatch.setattr(store, "_forget", lambda: None)
    store.delete_survey("exam")
    store.scrub()

    check_gone(url)


def check_gone(url: str) -> None:
    """Check that no version of a row is left, nor bytes of one, where a survey's texts and counts were."""
    tables = ("surveys", "counts", "shown_counts", "cells")
    assert [traces(url, table) for table in tables] == [(set(), False)] * len(tables)


def test_spent_tokens_are_in_no_file_once_settled(store: PostgresStorage, url: str) -> None:
    """Neither the hash of one, nor, beside it, the number of the transaction that stored the report."""
    key = store.publish(survey(access="token")).key
    tokens = [hashlib.sha256(b"%d" % number).digest() for number in range(40)]
    store.add_tokens(key, sorted(tokens))
    for number, token in enumerate(tokens[:30]):
        assert store.store([arrival(key, number, token=token)]) == [Outcome.NEW]
    assert all(token in pages(url, "^tokens") for token in tokens)

    assert store.settle()

    found = pages(url, "")
    assert [token in found for token in tokens] == [False] * 30 + [True] * 10
    check(store, key, 30)


def test_token_spent_right_after_a_settling_settles_next(
    store: PostgresStorage, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where that settling ran after the report had come, before its transaction began."""
    key = store.publish(survey(access="token")).key
    token, begin = hashlib.sha256(b"late").digest(), storing.store_new
    store.add_tokens(key, [token])

    def settle_first(*given: Any) -> bool:
        assert store.settle()
        return begin(*given)

    monkeypatch.setattr(storing, "store_new", settle_first)
    assert store.store([arrival(key, 0, token=token)]) == [Outcome.NEW]
    assert store.settle()

    assert token not in pages(url, "")
    assert [len(found) for found, _ in (traces(url, table) for table in ("cells", "counts"))] == [1, 1]
    check(store, key, 1)


def test_counts_tell_no_transaction_once_settled(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, each report leaves a version of each count that it changed: its values, in the order of arrival.

    Also while the node's own thread shows what has grown, whose transaction would see the former versions.
    """
    show, is_read = PostgresStorage.show_grown, threading.Event()

    def show_slowly(node: PostgresStorage, batches: dict[int, int]) -> None:
        with node.read() as db:
            db.execute("SELECT count(*) FROM surveys")
            is_read.set()
            time.sleep(0.5)
        show(node, batches)

    monkeypatch.setattr(PostgresStorage, "show_grown", show_slowly)
    with closing(PostgresStorage(url)) as node:
        key = node.publish(survey()).key
        for number in range(40):
            is_read.clear()
            assert node.store([arrival(key, number, (number % 2, number % 3, 0))]) == [Outcome.NEW]
        before = [traces(url, table) for table in ("cells", "counts")]
        assert is_read.wait(30)
        assert node.settle()
        settled = [traces(url, table) for table in ("cells", "counts")]
        # Not before, since it might be settling while this reads what it has not yet rewritten.
        node.start_maintenance()
        assert node.store([arrival(key, 40)]) == [Outcome.NEW]
        check(node, key, 41)
    # What is left for its end is done there.
    ended = [traces(url, table) for table in ("cells", "counts")]

    assert all(len(found) > 1 for found, _ in before)
    assert [(len(found), left) for found, left in settled + ended] == [(1, False)] * 4


def test_counts_tell_no_transaction_once_a_reader_has_ended(
    store: PostgresStorage, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server keeps former versions for whoever might see them: those who read other tables, too."""
    monkeypatch.setattr(settling, "TRIES", 1)
    wait, left = settling.are_seen, []
    key = store.publish(survey()).key
    for number in range(4):
        assert store.store([arrival(key, number, (number % 2, number % 3, 0))]) == [Outcome.NEW]
    with ExitStack() as reader:

        def begin_to_read(connection: psycopg.Connection[Any], tries: int) -> bool:
            are_seen = wait(connection, tries)
            reader.enter_context(store.read()).execute("SELECT count(*) FROM surveys")
            return are_seen

        monkeypatch.setattr(settling, "are_seen", begin_to_read)
        for _ in range(2):
            with pytest.raises(StorageError, match="read for too long"):
                store.settle()
            left.append([traces(url, table) for table in ("cells", "counts")])
    monkeypatch.setattr(settling, "are_seen", wait)
    assert store.settle()
    left.append([traces(url, table) for table in ("cells", "counts")])

    # The second attempt, which is in vain from the start, writes nothing.
    assert left[0] == left[1]
    assert [(len(found), is_more) for found, is_more in left[2]] == [(1, False)] * 2


def test_counts_tell_no_connection_once_settled(url: str) -> None:
    """Connections take turns: of the first reports each has its own, so that slots tell values in order of arrival."""
    with closing(PostgresStorage(url)) as first, closing(PostgresStorage(url)) as second:
        key = first.publish(survey()).key
        for number, node in enumerate((first, second, first)):
            assert node.store([arrival(key, number, (number % 2, number, 0))]) == [Outcome.NEW]
        assert second.withdraw(plan(key), identity(2)) is Outcome.WITHDRAWN
        slots = "SELECT DISTINCT slot FROM counts UNION SELECT DISTINCT slot FROM cells"
        assert len(first.rows_of(slots)) > 1
        assert first.settle()

        assert first.rows_of(slots) == [(0,)]
        check(second, key, 2)
        assert second.store([arrival(key, 3)]) == [Outcome.NEW]
        check(second, key, 3)


def traces(url: str, table: str) -> tuple[set[bytes], bool]:
    """The transactions of all versions of a table's rows, dead ones included, and whether free bytes hold more."""
    found, is_more, data = set(), False, pages(url, f"^{table}$")
    for page in (data[start : start + 8192] for start in range(0, len(data), 8192)):
        lower, upper = (int.from_bytes(page[place : place + 2], "little") for place in (12, 14))
        is_more |= any(page[lower:upper])
        pointers = (int.from_bytes(page[place : place + 4], "little") for place in range(24, lower, 4))
        # Places of versions that the server has not taken out.
        places = [pointer & 0x7FFF for pointer in pointers if pointer >> 15 & 3 == 1]
        found |= {page[place : place + 4] for place in places}
    return found, is_more


def pages(url: str, names: str = "^(fresh|settled)") -> bytes:
    """The bytes of all files of tables and indexes with such names: those of reports, or "" for all of the program."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        files = connection.execute(
            "SELECT pg_read_binary_file(pg_relation_filepath(oid)) FROM pg_class"
            " WHERE relname ~ %s AND relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace",
            [names],
        )
        return b"".join(bytes(row[0]) for row in files)


def test_reports_are_written_anew_only_after_a_change(store: PostgresStorage, url: str) -> None:
    """And vacuumed at once, else the log gets a copy of the pages from whoever reads them first."""
    key = store.publish(survey()).key
    vacuumed = "SELECT relid, vacuum_count FROM pg_stat_user_tables WHERE relname = 'settled'"
    found = []
    for act in (lambda: store.store([arrival(key, 1)]), int, lambda: store.withdraw(plan(key), identity(1)), int):
        act()
        store.scrub()
        with psycopg.connect(url) as connection:
            found.append(connection.execute(vacuumed).fetchone() or (0, 0))

    assert [times for _, times in found] == [1, 1, 1, 1]
    assert found[0] == found[1] != found[2] == found[3]


def test_deleted_survey_takes_its_reports_with_it(store: PostgresStorage, url: str) -> None:
    """And what has not settled; another survey keeps its own."""
    key, other = store.publish(survey()).key, store.publish(survey(name="other")).key
    for first in (0, 100):
        store.store([arrival(one, first + number) for one in (key, other) for number in range(20)])
        if first == 0:
            store.scrub()
    store.delete_survey("exam")

    assert places(url) == {"settled": 40}
    assert pages(url).count(identity(3)) < 4
    check(store, other, 40)


@pytest.mark.parametrize("to_file", [True, False])
def test_copy_holds_what_has_settled_and_what_has_not(store: PostgresStorage, tmp_path: Path, to_file: bool) -> None:
    """Into either kind of database; there, all of it settles."""
    key = store.publish(survey()).key
    for first in (0, 100):
        store.store([arrival(key, first + number) for number in range(30)])
        if first == 0:
            store.scrub()
    there: Any = SQLiteStorage(tmp_path / "db") if to_file else PostgresStorage(postgres.with_tables(), unfinished=True)
    with closing(there):
        copy_all(store, there)
        assert list(there.export_table("reports")) == list(store.export_table("reports"))
        assert len(list(there.rows(key))) == 60
        assert there.store([arrival(key, 3), arrival(key, 103)]) == [Outcome.SAME] * 2


SETTLE_FOR_EVER = """
import sys
import threading
import time
from sottovoce.aggregator.storage.postgres import settling
from sottovoce.aggregator.storage.postgres import storage as storing
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
settling.MOVED_ROWS = 3
storage = PostgresStorage(sys.argv[1])
print(flush=True)
while True:
    storage.scrub()
"""


@pytest.mark.slow
def test_processes_that_settle_are_killed_again_and_again(store: PostgresStorage, url: str) -> None:
    key = store.publish(survey()).key
    numbers = count()
    for _ in range(15):
        command = [sys.executable, "-c", SETTLE_FOR_EVER, url]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            for number in [next(numbers) for _ in range(40)]:
                assert store.store([arrival(key, number)]) == [Outcome.NEW]
                assert store.store([arrival(key, number)]) == [Outcome.SAME]
            process.kill()
    came = next(numbers)
    assert store.store([arrival(key, number) for number in range(came)]) == [Outcome.SAME] * came
    store.scrub()

    check(store, key, came)
    assert places(url) == {"settled": came}


@pytest.mark.parametrize("size", [1, 2])
def test_known_report_that_meets_settling_before_its_commit_is_known(
    store: PostgresStorage, url: str, size: int
) -> None:
    """Held open between the insert and the commit: with the same body the same, with another one a conflict."""
    monitor = psycopg.connect(url, autocommit=True)
    key = store.publish(survey()).key
    store.store([arrival(key, number) for number in range(4)])
    with psycopg.connect(url) as other, ThreadPoolExecutor(2) as pool:
        for statement in ("LOCK TABLE fresh IN ACCESS EXCLUSIVE MODE", settling._MOVE, "TRUNCATE fresh"):
            other.execute(statement.encode())
        same = pool.submit(store.store, [arrival(key, 0), arrival(key, 10)][:size])
        another = pool.submit(store.store, [arrival(key, 1, (0, 0, 1)), arrival(key, 11)][:size])
        wait_for_waiters(monitor, 2)
        other.commit()
    monitor.close()

    assert (same.result(), another.result()) == (
        [Outcome.SAME, Outcome.NEW][:size],
        [Outcome.CONFLICT, Outcome.NEW][:size],
    )
    check(store, key, 4 + 2 * (size - 1))


def test_known_report_that_settles_between_the_statements_is_undone(
    store: PostgresStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first statement did not see it; the second one does, and nothing of the group is counted twice."""
    key = store.publish(survey()).key
    store.store([arrival(key, 0)])
    assert store.settle()
    # As if it had settled since the first statement began.
    monkeypatch.setattr(storing, "_STORE", storing._STORE.replace(storing._SETTLED, "false"))

    assert store.store([arrival(key, 0), arrival(key, 1)]) == [Outcome.SAME, Outcome.NEW]
    assert store.store([arrival(key, 0, (0, 0, 1))]) == [Outcome.CONFLICT]
    check(store, key, 2)


def test_node_settles_at_its_end(url: str) -> None:
    """One that took reports, whether or not the moment to settle had come."""
    with closing(PostgresStorage(url)) as node:
        node.start_maintenance()
        key = node.publish(survey()).key
        assert node.store([arrival(key, 1)]) == [Outcome.NEW]
    assert places(url) == {"settled": 1}


def test_settling_ends_although_reports_go_on(store: PostgresStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    key = store.publish(survey()).key
    store.store([arrival(key, number) for number in range(3)])
    execute, numbers = psycopg.Connection.execute, count(100)

    def arriving(connection: Any, statement: Any, *given: Any, **options: Any) -> Any:
        found = execute(connection, statement, *given, **options)
        if str(statement).startswith("SELECT pg_relation_size") and next(numbers) < 200:
            assert store.store([arrival(key, next(numbers))]) == [Outcome.NEW]
        return found

    monkeypatch.setattr(psycopg.Connection, "execute", arriving)
    assert store.settle()
    assert next(numbers) < 110
