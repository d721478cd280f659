"""What is particular to the shared back end: several nodes, and what PostgreSQL remembers of its writes."""

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, LiteralString

import psycopg
import psycopg.sql
import pytest
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.intake.admission import Admission
from sottovoce.aggregator.storage import Outcome, ReportBatch, sql_storage
from sottovoce.aggregator.storage.accounts.models import AccountInvitation
from sottovoce.aggregator.storage.connect import open_url
from sottovoce.aggregator.storage.postgres import storage as postgres_storage
from sottovoce.aggregator.storage.postgres.storage import PostgresHandle, PostgresStorage
from sottovoce.aggregator.storage.sql_statements import id_hash
from sottovoce.shared.canonical import dump
from sottovoce.shared.errors import StorageError

from tests import postgres
from tests.recount import recount
from tests.storage.test_contract import arrival, identity, plan
from tests.surveys import survey

_FILL = """
    INSERT INTO {} (survey, wave, report_id, "values")
    SELECT 1, 0, decode(md5(number::text), 'hex'), '' FROM generate_series(1, 5000) AS number
"""


@pytest.fixture
def store(url: str) -> Iterator[PostgresStorage]:
    node = PostgresStorage(url)
    yield node
    node.close()


def test_two_nodes_count_every_report_once(store: PostgresStorage, url: str) -> None:
    """Both store the same groups of several sizes at the same time, in another order."""
    other = PostgresStorage(url)
    key = store.publish(survey()).key
    groups = [[arrival(key, 100 * group + number, (number % 2, 0, number % 2)) for number in range(size)]
              for group, size in enumerate([1, 30, 60] * 8)]  # fmt: skip
    with ThreadPoolExecutor(4) as pool:
        sent = [pool.submit(node.store, group) for node, order in ((store, groups), (other, groups[::-1]))
                for group in order]  # fmt: skip
        outcomes = [outcome for future in sent for outcome in future.result()]
    other.close()

    assert outcomes.count(Outcome.NEW) == outcomes.count(Outcome.SAME) == len(outcomes) / 2
    assert store.live_counts(key) == recount(store, store.surveys()[0])
    assert store.surveys()[0].reports == len(outcomes) / 2


def test_nodes_that_show_the_same_cells_never_wait_for_each_other_in_a_circle(store: PostgresStorage, url: str) -> None:
    """Reports of other values, alone or beside a copy, and withdrawals: nothing is refused, everything counted."""
    other = PostgresStorage(url)
    key = store.publish(survey()).key
    often = plan(key, batch=2)

    def report(number: int) -> ReportBatch:
        return replace(arrival(key, number, (number % 2, number % 3, number // 2 % 2)), plan=often)

    def come_and_go(node: PostgresStorage, number: int) -> None:
        assert node.store([report(number)]) == [Outcome.NEW]
        assert node.store([report(number), report(1000 + number)]) == [Outcome.SAME, Outcome.NEW]
        assert node.withdraw(often, identity(number)) is Outcome.WITHDRAWN

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(come_and_go, (store, other)[number % 2], number) for number in range(100)]:
            done.result()
    other.close()

    assert store.live_counts(key) == recount(store, store.surveys()[0])
    assert store.surveys()[0].reports == 100


def test_large_group_is_all_or_nothing(store: PostgresStorage) -> None:
    key = store.publish(survey()).key
    store.store([arrival(key, 5)])
    outcomes = store.store([arrival(key, number) for number in range(209)])

    assert outcomes.count(Outcome.NEW) == 208
    assert outcomes[5] is Outcome.SAME
    assert store.store([arrival(key, 1000 + number) for number in range(200)]) == [Outcome.NEW] * 200
    assert store.live_counts(key) == recount(store, store.surveys()[0])


@pytest.mark.parametrize(("others", "known"), [(0, 0), (200, 0), (5, 5)], ids=["alone", "large", "mixed"])
def test_copy_that_meets_a_withdrawal_elsewhere_does_not_bring_the_report_back(
    store: PostgresStorage, url: str, others: int, known: int
) -> None:
    """It waits for the other node's transaction, and is then refused, also in a group that holds known reports."""
    key = store.publish(survey()).key
    store.store([arrival(key, number) for number in [*range(known), 999]])
    group = [arrival(key, number) for number in [*range(others), 999]]
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with ThreadPoolExecutor(1) as pool, psycopg.connect(url) as other, psycopg.connect(url, autocommit=True) as third:
        other.execute("DELETE FROM fresh WHERE report_id = %s", [identity(999)])
        other.execute("INSERT INTO tombstones VALUES (%s, %s)", [key, id_hash(identity(999))])
        outcomes = pool.submit(store.store, group)
        while third.execute(waiting).fetchone() == (0,) and not outcomes.done():
            pass
        other.commit()

    assert outcomes.result()[-1] is Outcome.WITHDRAWN
    assert store.find_report(key, identity(999)) is None
    assert outcomes.result().count(Outcome.NEW) == others - known


def test_report_stored_and_withdrawn_elsewhere_while_a_group_is_sorted_stays_withdrawn(
    store: PostgresStorage, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its id was looked up too early; so everything is looked up again."""
    key = store.publish(survey()).key
    store.store([arrival(key, 0)])
    other = PostgresStorage(url)
    insert = postgres_storage.insert

    def late(handle: PostgresHandle, arrivals: list[ReportBatch]) -> bool:
        monkeypatch.undo()
        assert other.store([arrival(key, 1)]) == [Outcome.NEW]
        assert other.withdraw(plan(key), identity(1)) is Outcome.WITHDRAWN
        return insert(handle, arrivals)

    monkeypatch.setattr(postgres_storage, "insert", late)

    assert store.store([arrival(key, number) for number in range(3)]) == [Outcome.SAME, Outcome.WITHDRAWN, Outcome.NEW]
    assert store.live_counts(key) == recount(store, store.surveys()[0]) == {0: {1: 2}, 1: {2: 2}, 2: {0: 2}}
    other.close()


def test_withdrawals_at_the_same_moment_agree(store: PostgresStorage, url: str) -> None:
    nodes = [store, PostgresStorage(url)]
    asked = survey()
    key = store.publish(asked).key
    store.store([arrival(key, number) for number in range(30)])
    meet = threading.Barrier(2)
    body = {number: dump({"report_id": identity(number).hex()}) for number in range(30)}

    def withdraw(node: PostgresStorage, number: int) -> object:
        meet.wait(20)
        return Admission(node, now).withdraw(asked.name, body[number])

    with ThreadPoolExecutor(2) as pool:
        for number in range(30):
            first, second = pool.map(withdraw, nodes, [number] * 2)
            assert first == second is not None

    nodes[1].close()
    assert store.surveys()[0].reports == 0
    assert store.live_counts(key) == recount(store, store.surveys()[0])


def test_withdrawal_that_another_node_overtakes_is_confirmed(
    store: PostgresStorage, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one commits just before the report is looked for, which is then gone."""
    other = PostgresStorage(url)
    key = store.publish(survey()).key
    store.store([arrival(key, 1)])
    found = sql_storage.find
    overtaken: list[Outcome] = []

    def late(*where: Any) -> Any:
        if not overtaken:
            overtaken.append(Outcome.UNKNOWN)
            with ThreadPoolExecutor(1) as pool:
                overtaken[0] = pool.submit(other.withdraw, plan(key), identity(1)).result()
        return found(*where)

    monkeypatch.setattr(sql_storage, "find", late)
    assert store.withdraw(plan(key), identity(1)) is Outcome.WITHDRAWN
    assert overtaken == [Outcome.WITHDRAWN]
    other.close()


def test_known_ids_are_looked_up_one_by_one_whatever_the_planner_knows(store: PostgresStorage) -> None:
    """Each by both columns of the key: by a plan made while a table is empty, and by one that knows its rows."""
    look_ups = [postgres_storage._FRESH, postgres_storage._SETTLED, postgres_storage._MINE]
    text = "SELECT " + ", ".join(look_ups).replace("%(survey)s", "$1").replace("%(ids)s", "$2")
    changes = ["VACUUM", *(_FILL.format(table) for table in ("fresh", "settled")), "ANALYZE"]
    plans: list[list[str]] = []
    with store._pool.connection() as connection:
        for number, change in enumerate(changes):
            connection.execute(change)  # type: ignore[call-overload]
            connection.execute(f"PREPARE p{number} (bigint, text) AS {text}")  # type: ignore[call-overload]
            plan = connection.execute(f"EXPLAIN EXECUTE p{number} (1, '{{}}')")  # type: ignore[call-overload]
            plans.append([line.strip() for (line,) in plan.fetchall() if "Cond" in line or "Seq" in line])

    names = ("u", "u_1", "u_2")
    assert plans == [[f"Index Cond: ((survey = $1) AND (report_id = {name}.id))" for name in names]] * 4


def test_servers_own_log_names_no_report() -> None:
    """Neither after retries, also on two nodes at once, nor after conflicts, withdrawals, bad tokens and closing."""
    server, folder = postgres.own()
    url = postgres.fresh(server)
    nodes = [PostgresStorage(url), PostgresStorage(url)]
    key = nodes[0].publish(survey()).key
    groups = [[arrival(key, 10_000 * size + number) for number in range(size)] for size in (1, 40, 300)]
    with ThreadPoolExecutor(4) as pool:
        for group in groups * 2:
            sent = [pool.submit(node.store, group) for node in nodes * 2]
            assert sum(future.result().count(Outcome.NEW) for future in sent) in {len(group), 0}
    for group in groups:
        other = [arrival(key, 10_000 * len(group) + number, (1, 1, 1)) for number in range(len(group))]
        assert nodes[0].store(other) == [Outcome.CONFLICT] * len(group)
        gone = group[-1].report_ids
        assert {node.withdraw(plan(key), gone) for node in nodes} == {Outcome.WITHDRAWN}
        assert nodes[1].store(group)[-1] is Outcome.WITHDRAWN
    assert nodes[0].store([arrival(key, 7, token=bytes(32))]) == [Outcome.TOKEN_INVALID]
    nodes[0].close_survey("exam", 1)
    assert nodes[1].store([arrival(key, 8)]) == [Outcome.CLOSED]
    with psycopg.connect(url) as connection, pytest.raises(psycopg.Error):
        connection.execute("SELECT this_is_logged")
    for node in nodes:
        node.close()
    log = b"".join(path.read_bytes() for path in folder.glob("*/log") if path.is_file()).decode()

    assert "this_is_logged" in log
    assert "Key (" not in log
    ids = [one.report_ids for group in groups for one in group] + [identity(7), identity(8)]
    assert not [each for each in ids if each.hex() in log or id_hash(each).hex() in log]


def test_nothing_joins_a_spent_token_with_its_report(store: PostgresStorage, url: str) -> None:
    """After scrubbing all reports are of one transaction, in the order of their ids, and no spent token is left."""
    key = store.publish(survey()).key
    tokens = [hashlib.sha256(b"token %d" % number).digest() for number in range(60)]
    store.add_tokens(key, tokens)
    for number, token in enumerate(tokens):
        assert store.store([arrival(key, number, token=token)]) == [Outcome.NEW]
    with psycopg.connect(url) as connection:
        before = connection.execute("SELECT count(DISTINCT xmin::text) FROM fresh").fetchone()
    store.scrub()
    with psycopg.connect(url) as connection:
        ids = [row[0] for row in connection.execute("SELECT report_id FROM settled ORDER BY ctid")]
        after = connection.execute("SELECT count(DISTINCT xmin::text) FROM settled").fetchone()
        left = connection.execute("SELECT pg_relation_size('tokens')").fetchone()

    assert (before, after, left) == ((60,), (1,), (0,))
    assert ids == sorted(ids)
    assert set(ids) == {identity(number) for number in range(60)}


def test_every_commit_is_synced_before_it_is_acknowledged(url: str) -> None:
    """Even where the server's own default is not to wait."""
    with psycopg.connect(url, autocommit=True) as connection:
        name = psycopg.sql.Identifier(connection.info.dbname)
        connection.execute(psycopg.sql.SQL("ALTER DATABASE {} SET synchronous_commit = off").format(name))
    node = PostgresStorage(url)
    with node._connection() as connection:
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
    node.close()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DROP TABLE staff_sessions", "there is no table staff_sessions"),
        ("ALTER TABLE cells DROP withdrawn", "the table cells has no column withdrawn"),
        ("ALTER TABLE settled ADD came_at bigint", "the table reports has a column came_at too many"),
        ("ALTER TABLE keys ALTER label DROP NOT NULL",
         "the column label of the table keys is for text, or nothing; it should be for text"),
        ("ALTER TABLE cells ALTER withdrawn DROP DEFAULT, ALTER withdrawn TYPE text",
         "the column withdrawn of the table cells is for text; it should be for numbers"),
        ("ALTER TABLE token_counts DROP CONSTRAINT token_counts_pkey",
         "the column survey of the table token_counts is for numbers; it should be for numbers, part of the key"),
        ("INSERT INTO tombstones VALUES (9, 'x'), (9, 'y')",
         "rows of the table tombstones that belong to no survey: 2"),
    ],
)  # fmt: skip
def test_verify_says_what_is_not_as_it_should_be(
    store: PostgresStorage, url: str, statement: LiteralString, words: str
) -> None:
    assert store.verify() == []
    with psycopg.connect(url) as connection:
        connection.execute(statement)

    assert store.verify() == [words]


def test_doctor_names_an_index_of_another_program(store: PostgresStorage, url: str) -> None:
    """One could keep reports in the order of their arrival; the program's own are none."""
    assert store.faults() == []
    with psycopg.connect(url) as connection:
        connection.execute("CREATE INDEX by_wave ON settled (wave)")

    (fault,) = store.faults()
    assert fault.startswith("the table settled has an index by_wave,")
    assert fault.endswith("drop index by_wave")


def test_doctor_names_a_transaction_that_keeps_the_order(
    store: PostgresStorage, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A young one is none; an old one has a way to end it."""
    with psycopg.connect(url) as connection:
        connection.execute("SELECT 1")
        assert store.faults() == []
        monkeypatch.setattr(postgres_storage, "OLD_SECONDS", 0)
        (fault,) = store.faults()
        assert store.old_snapshots() == [fault]  # which the metrics count
        assert f"the session {connection.info.backend_pid} has a transaction" in fault
        store.verify()
        with psycopg.connect(url, autocommit=True) as other:
            other.execute(fault.rpartition(": ")[2].encode())
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")


def test_newer_or_unreachable_database_is_refused_in_words(store: PostgresStorage, url: str) -> None:
    """Neither message repeats the address, which may hold a password."""
    store.check()
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE schema_version SET version = 999, usable_from = 999")
    with pytest.raises(StorageError, match="newer version"):
        store.check()
    with pytest.raises(StorageError, match="newer version"):
        PostgresStorage(url)
    with pytest.raises(StorageError, match="begins with") as refused:
        open_url("mysql://user:sentinel@x/y", None)  # type: ignore[arg-type]
    assert "sentinel" not in str(refused.value)


def test_lost_connections_are_errors_of_storage_and_pass(store: PostgresStorage, url: str) -> None:
    key = store.publish(survey()).key
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )
    failed = 0
    for _ in range(8):
        try:
            assert store.store([arrival(key, 1)])[0] in {Outcome.NEW, Outcome.SAME}
        except StorageError:
            failed += 1
    assert 1 <= failed < 8
    assert store.surveys()[0].reports == 1


@pytest.mark.parametrize(
    "harm",
    ["DROP TABLE staff_sessions", "ALTER TABLE staff_sessions DROP COLUMN door",
     "ALTER TABLE staff_sessions ADD CONSTRAINT never CHECK (false)"],
    ids=["no table", "no column", "refused"],
)  # fmt: skip
def test_whatever_the_server_refuses_is_an_error_of_storage(store: PostgresStorage, url: str, harm: str) -> None:
    """With the kind of the error and nothing of what was sent; not a bug with a traceback."""
    store.add_researcher("sentinel", b"t" * 32)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(harm)  # type: ignore[call-overload]
    with pytest.raises(StorageError, match=r"^the database is unavailable \(\w+\)$") as refused:
        store.access.start_session_by_key(b"s" * 32, b"t" * 32, 1)

    assert "sentinel" not in str(refused.value)


SHUT_OUT: dict[str, Callable[[PostgresStorage, bytes], object]] = {
    "disabled": lambda store, account: store.access.disable(account, 0),
    "key revoked": lambda store, _: store.access.revoke_key(b"token"),
    "all keys revoked": lambda store, _: store.access.revoke_researcher("ann"),
}


@pytest.mark.parametrize(
    ("door", "way"), [*(("start_session_by_key", way) for way in SHUT_OUT), ("start_session_by_link", "disabled")]
)
def test_shutting_out_waits_for_whoever_is_being_let_in(store: PostgresStorage, url: str, door: str, way: str) -> None:
    """On another node, stopped in the middle of it: what it leaves is gone once the other has returned."""
    store.access.add_owner("somebody else")
    store.add_researcher("ann", b"token")
    [ann] = [account for account in store.access.accounts() if account.name == "ann"]
    store.access.add_invitation(AccountInvitation(b"link", "", "", ann.id, 1))
    other = PostgresStorage(url)
    with psycopg.connect(url, autocommit=True) as gatekeeper, ThreadPoolExecutor(2) as pool:
        gatekeeper.execute(
            "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql"
            " AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN NEW; END'"
        )
        gatekeeper.execute("CREATE TRIGGER wait BEFORE INSERT ON staff_sessions EXECUTE FUNCTION wait()")
        gatekeeper.execute("SELECT pg_advisory_lock(7)")
        let_in = pool.submit(getattr(other.access, door), b"s", b"link" if door.endswith("link") else b"token", 0)
        wait_for_waiters(gatekeeper, 1)
        out = pool.submit(SHUT_OUT[way], store, ann.id)
        wait_for_waiters(gatekeeper, 2, out)
        gatekeeper.execute("SELECT pg_advisory_unlock(7)")

    assert let_in.result() == ann
    assert out.exception() is None
    # No row may be left that only waits for the account to be enabled.
    store.access.enable(ann.id)
    assert [node.access.session(b"s", 1) for node in (store, other)] == [None, None]
    other.close()


def wait_for_waiters(connection: psycopg.Connection[Any], number: int, unless: Future[Any] | None = None) -> None:
    """Return once so many wait for a lock in this database, or once it is clear that they never will."""
    waiting = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE datname = current_database()"
    for _ in range(1000):
        row = connection.execute(f"{waiting} AND NOT granted").fetchone()
        if (unless is not None and unless.done()) or row == (number,):
            return
        time.sleep(0.01)
    raise AssertionError("nobody waits")
