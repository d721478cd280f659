"""Reports settle on PostgreSQL while others come, are sent again and are withdrawn; nothing is left of their order."""

import hashlib
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sottovoce.aggregator.storage import Outcome
from sottovoce.aggregator.storage.copy import copy_all
from sottovoce.aggregator.storage.models import Known
from sottovoce.aggregator.storage.postgres import reorder_reports
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.storage.verify_counts import recount, wrong_counts

from tests import postgres
from tests.bench.disorder import correlation
from tests.storage.keep_schema import dumped
from tests.storage.test_contract import arrival, identity, plan
from tests.surveys import survey

OLDER_SCRUB = (
    "LOCK TABLE reports",
    "CREATE TEMPORARY TABLE kept ON COMMIT DROP AS SELECT * FROM reports",
    "TRUNCATE reports",
    "INSERT INTO reports SELECT * FROM kept ORDER BY survey, report_id",
)
"""What a node of the release before this one does each day."""


class Killed(Exception):
    """Stands for a process that is gone."""


@pytest.fixture
def url() -> str:
    """The address of an empty database."""
    return postgres.with_tables()


@pytest.fixture
def store(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresStorage]:
    """A node on it that moves ten reports at a time."""
    monkeypatch.setattr(reorder_reports, "ROWS", 10)
    monkeypatch.setattr(reorder_reports, "PAUSE", 0.01)
    node = PostgresStorage(url)
    yield node
    node.close()


def stop_after(store: PostgresStorage, moves: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settle until so many tens have moved."""
    with monkeypatch.context() as patch:
        execute, left = psycopg.Connection.execute, count(moves, -1)

        def stopping(connection: Any, statement: Any, *given: Any, **options: Any) -> Any:
            if "sottovoce_move_9" in str(statement) and next(left) == 0:
                raise Killed
            return execute(connection, statement, *given, **options)

        patch.setattr(psycopg.Connection, "execute", stopping)
        with pytest.raises(Killed):
            store.scrub()


def places(url: str) -> dict[str, int]:
    """How many reports lie in each table."""
    with psycopg.connect(url) as connection:
        return dict(connection.execute("SELECT tableoid::regclass::text, count(*) FROM reports GROUP BY 1").fetchall())


def check(store: PostgresStorage, key: int, reports: int) -> None:
    """So many are stored, and all that is kept beside them follows from them."""
    assert store.surveys()[0].reports == reports == len(list(store.rows(key)))
    assert store.live_counts(key) == recount(store, store.surveys()[0])
    assert wrong_counts(store) == store.verify() == []


def test_report_is_known_wherever_it_lies(store: PostgresStorage, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sent again, alone, beside others and with another body, found, and withdrawn for good: in each of the places."""
    key = store.publish(survey()).key
    store.store([arrival(key, number) for number in range(40)])
    stop_after(store, 2, monkeypatch)
    store.store([arrival(key, number) for number in range(40, 60)])
    assert places(url) == {"reports": 20, "settling": 20, "settled_1": 20}
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT DISTINCT ON (tableoid) report_id FROM reports ORDER BY tableoid, report_id")
        ids = [bytes(row[0]) for row in found]

    for place, known in enumerate(ids):
        again = replace(arrival(key, 0), report_ids=known)
        assert store.find_report(key, known) == Known(0, (1, 2, 0))
        assert store.store([again]) == [Outcome.SAME]
        assert store.store([arrival(key, 100 + place), again]) == [Outcome.NEW, Outcome.SAME]
        assert store.store([replace(arrival(key, 0, (0, 0, 1)), report_ids=known)]) == [Outcome.CONFLICT]
        assert store.withdraw(plan(key), known) is store.withdraw(plan(key), known) is Outcome.WITHDRAWN
        assert store.store([again]) == [Outcome.WITHDRAWN]
    assert (len(ids), store.withdraw(plan(key), identity(999))) == (3, Outcome.UNKNOWN)
    check(store, key, 60)
    store.scrub()
    assert places(url) == {"settled_1": 60}
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
            is_own = threading.current_thread() is threading.main_thread()
            if is_own and "pg_advisory_unlock" not in str(statement) and next(left) == 0:
                raise Killed
            return execute(connection, statement, *given, **options)

        with monkeypatch.context() as patch:
            patch.setattr(psycopg.Connection, "execute", dying)
            try:
                store._settling.run()
            except Killed:
                killed += 1
                assert store.surveys()[0].reports == came // 12 * 11 == len(list(store.rows(key)))
                continue
        break
    check(store, key, came // 12 * 11)

    assert killed > 30
    assert places(url) == {"settled_1": came // 12 * 11}


def test_reports_come_again_and_go_while_all_settle(store: PostgresStorage, url: str) -> None:
    """Two nodes store, send again and withdraw, and settle again and again: each report counts once."""
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
    assert places(url) == {"settled_1": 60}


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
    while places(url) != {"settled_1": 30}:
        time.sleep(0.01)


@pytest.mark.parametrize("known", ["settling", "settled_1"])
def test_node_of_the_release_before_meets_no_report_twice(
    store: PostgresStorage, url: str, monkeypatch: pytest.MonkeyPatch, known: str
) -> None:
    """By its function and where it writes by itself; a report that moves while it is withdrawn there is an error."""
    key = store.publish(survey()).key
    store.store([arrival(key, number) for number in range(20)])
    if known == "settling":
        stop_after(store, 0, monkeypatch)
    else:
        store.scrub()
    assert places(url) == {known: 20}
    insert = 'INSERT INTO reports (survey, report_id, wave, "values") VALUES (%s, %s, 0, %s) ON CONFLICT DO NOTHING'
    call = "SELECT sottovoce_store_8(ARRAY[%s]::bigint[], '{25}', ARRAY[%s]::bigint[], '{0}', ARRAY[%s], ARRAY[%s]," \
           " '{}', '{}', '{}', '{}', 0::smallint)"  # fmt: skip
    with psycopg.connect(url, autocommit=True) as older:
        values = arrival(key, 1).packed
        assert older.execute(insert, [key, identity(1), values]).rowcount == 0
        assert older.execute(call, [key, key, identity(1), values]).fetchone() == (False,)
        assert older.execute(call, [key, key, identity(50), values]).fetchone() == (True,)
        assert older.execute("DELETE FROM reports WHERE report_id = %s", [identity(2)]).rowcount == 1
        with pytest.raises(psycopg.errors.SerializationFailure):
            older.execute("DELETE FROM reports WHERE report_id = %s", [identity(2)])
        with older.transaction():
            older.execute("SELECT pg_try_advisory_xact_lock(329584)")
            for statement in OLDER_SCRUB:
                older.execute(statement)
    assert places(url) == {"reports": 20}
    store.scrub()
    assert places(url) == {"settled_1": 20}


def test_nothing_of_the_order_is_left_once_settled(store: PostgresStorage, url: str) -> None:
    """Neither in the files, nor in the numbers of transactions, nor in a dump; at close it is one sequence."""
    key = store.publish(survey()).key
    came = [identity(7919 * number) for number in range(200)]
    before, settled = [], []
    for day in range(2):
        for each in came[100 * day : 100 * (day + 1)]:
            store.store([replace(arrival(key, 0), report_ids=each)])
        before.append(orders(url, came[100 * day : 100 * (day + 1)]))
        store.scrub()
        settled.append(orders(url, came[100 * day : 100 * (day + 1)]))
    # Which day it was can be told, and no more.
    assert [one for stage in before for one in stage if one < 0.9] == []
    assert all(abs(one) < 0.25 for stage in settled for one in stage)
    store.close_survey("exam", 20_000)
    with psycopg.connect(url) as connection:
        ids = [bytes(row[0]) for row in connection.execute("SELECT report_id FROM settled_1 ORDER BY ctid")]
        transactions = connection.execute("SELECT count(DISTINCT xmin::text) FROM reports").fetchone()

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
                "SELECT report_id FROM reports ORDER BY tableoid, ctid",
                "SELECT report_id FROM reports ORDER BY xmin::text::bigint, tableoid, ctid",
            )
        ]
    text = dumped(url, "--data-only")
    found.append(sorted((each for each in came if each.hex() in text), key=lambda each: text.index(each.hex())))
    assert set(came) <= set(found[-1])
    return [correlation([place[each] for each in ids if each in place]) for ids in found]


def test_withdrawn_and_purged_ids_are_in_no_file(store: PostgresStorage, url: str) -> None:
    """A partition of which something was taken is written anew, open or closed; the files of before are gone."""
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


def pages(url: str, names: str = "^(reports|settl|arrived)") -> bytes:
    """The bytes of all files of tables and indexes with such names: those of reports, or "" for all of the program."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        files = connection.execute(
            "SELECT pg_read_binary_file(pg_relation_filepath(oid)) FROM pg_class"
            " WHERE relname ~ %s AND relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace",
            [names],
        )
        return b"".join(bytes(row[0]) for row in files)


def test_partition_is_vacuumed_at_once_when_rows_came_into_it_or_it_was_written_anew(
    store: PostgresStorage, url: str
) -> None:
    """Else the log gets a copy of its pages after the next checkpoint, from whoever reads them first."""
    key = store.publish(survey()).key
    vacuumed = "SELECT relid, vacuum_count FROM pg_stat_user_tables WHERE relname = %s"
    found = []
    for number in range(2):
        store.store([arrival(key, number)])
        store.scrub()
        with psycopg.connect(url) as connection:
            found.append(connection.execute(vacuumed, [f"settled_{key}"]).fetchone() or (0, 0))
    assert store.withdraw(plan(key), identity(0)) is Outcome.WITHDRAWN
    store.scrub()
    with psycopg.connect(url) as connection:
        found.append(connection.execute(vacuumed, [f"settled_{key}"]).fetchone() or (0, 0))

    assert [times for _, times in found] == [1, 2, 1]
    assert len({table for table, _ in found}) == 2


def test_deleted_survey_takes_its_partition_with_it(store: PostgresStorage, url: str) -> None:
    """And what has not settled; another survey keeps its own."""
    key, other = store.publish(survey()).key, store.publish(survey(name="other")).key
    for first in (0, 100):
        store.store([arrival(one, first + number) for one in (key, other) for number in range(20)])
        if first == 0:
            store.scrub()
    store.delete_survey("exam")

    assert places(url) == {f"settled_{other}": 40}
    assert identity(3) in pages(url)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT to_regclass('settled_1'), count(*) FROM partitions").fetchone() == (None, 1)
        assert connection.execute("SELECT count(*) FROM settled_2").fetchone() == (40,)
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
from sottovoce.aggregator.storage import postgres_settle
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
postgres_settle.ROWS = 3
storage = PostgresStorage(sys.argv[1])
print(flush=True)
while True:
    storage.scrub()
"""


@pytest.mark.slow
def test_processes_that_settle_are_killed_again_and_again(store: PostgresStorage, url: str) -> None:
    """By -9, at whatever moment, under load."""
    key = store.publish(survey()).key
    numbers = count()
    for _ in range(15):
        command = [sys.executable, "-c", SETTLE_FOR_EVER, url]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            for number in [next(numbers) for _ in range(40)]:
                assert store.store([arrival(key, number)]) == [Outcome.NEW]
                assert store.store([arrival(key, number)]) == [Outcome.SAME]
            process.kill()
    came = next(numbers)
    assert store.store([arrival(key, number) for number in range(came)]) == [Outcome.SAME] * came
    store.scrub()

    check(store, key, came)
    assert places(url) == {"settled_1": came}
