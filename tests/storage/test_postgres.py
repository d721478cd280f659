"""What is particular to the shared back end: several nodes, and what PostgreSQL remembers of its writes."""

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from sottovoce.aggregator.recount import recount
from sottovoce.aggregator.storage import Outcome
from sottovoce.aggregator.storage.connect import open_url
from sottovoce.aggregator.storage.postgres import COPIED, PostgresStorage
from sottovoce.aggregator.storage.postgres_schema import MIGRATIONS
from sottovoce.aggregator.storage.rows import pack
from sottovoce.shared.errors import StorageError

from tests import postgres
from tests.storage.test_contract import arrival, identity
from tests.surveys import survey


@pytest.fixture
def url() -> str:
    """The address of an empty database."""
    return postgres.fresh()


@pytest.fixture
def store(url: str) -> Iterator[PostgresStorage]:
    """A node on it."""
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


def test_copied_group_is_all_or_nothing(store: PostgresStorage) -> None:
    """A large group with one copy in it is told apart like a small one."""
    key = store.publish(survey()).key
    store.store([arrival(key, 5)])
    outcomes = store.store([arrival(key, number) for number in range(COPIED + 9)])

    assert outcomes.count(Outcome.NEW) == COPIED + 8
    assert outcomes[5] is Outcome.SAME
    assert store.store([arrival(key, 1000 + number) for number in range(COPIED)]) == [Outcome.NEW] * COPIED
    assert store.live_counts(key) == recount(store, store.surveys()[0])


def test_nothing_joins_a_spent_token_with_its_report(store: PostgresStorage, url: str) -> None:
    """After scrubbing all reports are of one transaction, in the order of their ids, and no spent token is left."""
    key = store.publish(survey()).key
    tokens = [hashlib.sha256(b"token %d" % number).digest() for number in range(60)]
    store.add_tokens(key, tokens)
    for number, token in enumerate(tokens):
        assert store.store([arrival(key, number, token=token)]) == [Outcome.NEW]
    with psycopg.connect(url) as connection:
        before = connection.execute("SELECT count(DISTINCT xmin::text) FROM reports").fetchone()
    store.scrub()
    with psycopg.connect(url) as connection:
        ids = [row[0] for row in connection.execute("SELECT report_id FROM reports ORDER BY ctid")]
        after = connection.execute("SELECT count(DISTINCT xmin::text) FROM reports").fetchone()
        left = connection.execute("SELECT pg_relation_size('tokens')").fetchone()

    assert (before, after, left) == ((60,), (1,), (0,))
    assert ids == sorted(ids)
    assert set(ids) == {identity(number) for number in range(60)}


def test_newer_or_unreachable_database_is_refused_in_words(store: PostgresStorage, url: str) -> None:
    """Neither message repeats the address, which may hold a password."""
    store.check()
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE schema_version SET version = 999")
    with pytest.raises(StorageError, match="another schema"):
        store.check()
    with pytest.raises(StorageError, match="newer version"):
        PostgresStorage(url)
    with pytest.raises(StorageError, match="begins with") as refused:
        open_url("mysql://user:sentinel@x/y", None)  # type: ignore[arg-type]
    assert "sentinel" not in str(refused.value)


def test_lost_connections_are_errors_of_storage_and_pass(store: PostgresStorage, url: str) -> None:
    """A server that drops its connections is a StorageError for who was waiting, and is found again."""
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


def test_database_of_the_first_version_opens_with_equal_counts(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values that were text are the same values as bytes, nulls and large ones included."""
    written = {"[1,2,0]": (1, 2, 0), "[null,254,1]": (None, 254, 1), "[255,null,0]": (255, None, 0),
               "[65535,0,1]": (65535, 0, 1), f"[{2**53 - 1},null,0]": (2**53 - 1, None, 0), "[4294967295,1,1]":
               (2**32 - 1, 1, 1), "[]": ()}  # fmt: skip
    monkeypatch.setattr("sottovoce.aggregator.storage.postgres.MIGRATIONS", MIGRATIONS[:1])
    first = PostgresStorage(url)
    key = first.publish(survey()).key
    first.close()
    with psycopg.connect(url) as connection:
        for number, text in enumerate(written):
            row = [key, number.to_bytes(16), text]
            connection.execute('INSERT INTO reports (survey, report_id, wave, "values") VALUES (%s, %s, 0, %s)', row)
    monkeypatch.undo()
    second = PostgresStorage(url)
    second.check()

    assert list(second.rows(key)) == list(written.values())
    assert next(second.packed(key)) == [pack(values) for values in written.values()]
    assert second.store([arrival(key, 1)]) == [Outcome.NEW]
    second.close()
