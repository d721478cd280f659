"""Which programs can go on with a PostgreSQL database that another one changes under them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from sottovoce.aggregator.storage import Outcome
from sottovoce.aggregator.storage.copy import save
from sottovoce.aggregator.storage.postgres import migrate as postgres_migrate
from sottovoce.aggregator.storage.postgres.schema import MIGRATIONS, Migration
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.shared.errors import StorageError

from tests import postgres
from tests.storage.test_contract import arrival
from tests.surveys import survey

SCHEMAS = Path(__file__).parent / "schemas"
EXPAND = Migration(("ALTER TABLE reports ADD COLUMN later bigint NOT NULL DEFAULT 0", "CREATE TABLE more (x bigint)"))
NUMBER, USABLE_FROM = len(MIGRATIONS), max(migration.usable_from for migration in MIGRATIONS)
CONTRACT = Migration(("DROP FUNCTION sottovoce_store_9",), usable_from=NUMBER + 1)


@pytest.fixture
def url() -> str:
    """A fresh database."""
    return postgres.fresh()


@pytest.fixture
def node(url: str) -> Iterator[PostgresStorage]:
    """A node on it, of this release."""
    with closing(PostgresStorage(url)) as storage:
        yield storage


@contextmanager
def release_with(*more: Migration) -> Iterator[None]:
    """Whoever opens a database meanwhile is a later release, with these migrations."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres_migrate, "MIGRATIONS", (*MIGRATIONS, *more))
        yield


def migrate(url: str, *more: Migration, stopped: bool = False) -> None:
    """Migrate as a later release does."""
    with release_with(*more):
        PostgresStorage(url, stopped=stopped).close()


def state(url: str) -> tuple[int, int]:
    """What the database tells of its schema."""
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT version, usable_from FROM schema_version").fetchone() or (0, 0)


def test_node_goes_on_after_an_expanding_migration(url: str, node: PostgresStorage) -> None:
    """It is ready, stores, closes and scrubs, and starts again; the later release stays where it is."""
    key = node.publish(survey()).key
    migrate(url, EXPAND)
    node.check()

    assert node.store([arrival(key, 1)]) == [Outcome.NEW]
    node.close_survey("exam", 20_000)
    with closing(PostgresStorage(url)) as again:
        again.check()
        assert again.surveys()[0].reports == 1
    assert state(url) == (NUMBER + 1, USABLE_FROM)


def test_what_an_older_program_would_leave_out_it_refuses(url: str, node: PostgresStorage, tmp_path: Path) -> None:
    """It can neither save nor look through what it does not know."""
    migrate(url, EXPAND)
    for whole in (node.verify, lambda: save(node, tmp_path / "saved")):
        with pytest.raises(StorageError, match="only that one can do this"):
            whole()


def test_contracting_migration_turns_the_old_node_away(url: str, node: PostgresStorage) -> None:
    """It says why; what it tries all the same is an error of storage; it does not start again."""
    key = node.publish(survey()).key
    migrate(url, EXPAND, CONTRACT, stopped=True)
    with pytest.raises(StorageError, match="newer version of this program, which this one cannot work with"):
        node.check()
    with pytest.raises(StorageError):
        node.store([arrival(key, 1)])
    with pytest.raises(StorageError, match="newer version"):
        PostgresStorage(url)
    assert state(url) == (NUMBER + 2, NUMBER + 1)


def test_contracting_migration_waits_until_nobody_needs_what_goes(url: str, node: PostgresStorage) -> None:
    """A release that nodes could not go on beside says so and changes nothing; the one after the next may contract."""
    with pytest.raises(StorageError, match="stop them all, run `sottovoce db migrate --stopped`"):
        migrate(url, EXPAND, CONTRACT)
    assert state(url) == (NUMBER, USABLE_FROM)
    node.check()
    migrate(url, EXPAND)
    migrate(url, EXPAND, CONTRACT)
    assert state(url) == (NUMBER + 2, NUMBER + 1)


@pytest.mark.parametrize("number", [1, 7])
def test_database_of_before_is_migrated_only_while_all_are_stopped(url: str, number: int) -> None:
    """Its nodes cannot go on, and do not look: the program says what is to be done."""
    with psycopg.connect(url) as connection:
        connection.execute((SCHEMAS / f"postgres-{number}.sql").read_bytes())
    with pytest.raises(StorageError, match="earlier release, whose nodes cannot go on beside this one: stop them all"):
        PostgresStorage(url)
    with closing(PostgresStorage(url, stopped=True)) as storage:
        storage.check()
    with closing(PostgresStorage(url)) as storage:
        storage.check()
    assert state(url) == (NUMBER, USABLE_FROM)


def test_unfinished_copy_is_refused_also_where_the_schema_is_newer(url: str, node: PostgresStorage) -> None:
    """By the node that has it open, and by whoever starts; only a program of that schema may copy into it again."""
    migrate(url, EXPAND)
    with release_with(EXPAND), closing(PostgresStorage(url)) as newer:
        newer.mark_unfinished(True)
    for refused in (node.check, lambda: PostgresStorage(url)):
        with pytest.raises(StorageError, match="not finished"):
            refused()
    with pytest.raises(StorageError, match="newer version"):
        PostgresStorage(url, unfinished=True)
    with release_with(EXPAND), closing(PostgresStorage(url, unfinished=True)) as newer:
        newer.mark_unfinished(False)
    node.check()


def test_node_says_when_the_database_was_replaced_by_an_older_one(url: str, node: PostgresStorage) -> None:
    """It was restored under its feet."""
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE schema_version SET version = version - 1")
    with pytest.raises(StorageError, match="older schema"):
        node.check()


def test_migration_that_has_to_wait_holds_nobody_up(url: str, node: PostgresStorage) -> None:
    """Whoever reads a table for long is waited for in short turns, between which others store; then it is done."""
    key = node.publish(survey()).key
    with ThreadPoolExecutor(2) as threads, release_with(EXPAND):
        with psycopg.connect(url) as reader:
            reader.execute("SELECT count(*) FROM reports")
            migrating = threads.submit(lambda: PostgresStorage(url).close())
            stored = [threads.submit(node.store, [arrival(key, number)]).result(30) for number in range(100)]
            assert not migrating.done()
        migrating.result(30)

    assert stored == [[Outcome.NEW]] * 100
    assert state(url) == (NUMBER + 1, USABLE_FROM)
