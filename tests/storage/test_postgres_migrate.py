"""Migration of a PostgreSQL database of release 0.4.0, and nodes whose database another program changes under them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sottovoce.aggregator.storage import Outcome
from sottovoce.aggregator.storage.copy import save
from sottovoce.aggregator.storage.pack_values import pack
from sottovoce.aggregator.storage.postgres import storage as postgres_storage
from sottovoce.aggregator.storage.postgres.schema import EARLIEST, VERSION
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.aggregator.storage.verify_counts import wrong_counts
from sottovoce.shared.errors import StorageError

from tests import postgres
from tests.storage.test_contract import arrival
from tests.surveys import survey

FORMER = Path(__file__).parent / "schemas" / f"postgres-{EARLIEST}.sql"

MANY = """
    INSERT INTO settled (survey, wave, report_id, "values")
        SELECT 1, 0, uuid_send(gen_random_uuid()), %(values)s FROM generate_series(1, %(reports)s);
    UPDATE schema_version SET is_sorted = false;
    INSERT INTO tombstones SELECT 1, sha256(uuid_send(gen_random_uuid())) FROM generate_series(1, 10);
    UPDATE cells SET arrived = arrived + %(reports)s + 10, withdrawn = withdrawn + 10;
    UPDATE counts SET reports = reports + %(reports)s WHERE (question, value) IN ((0, 1), (1, 2), (2, 0));
    INSERT INTO tokens SELECT 1, sha256(n::text::bytea) FROM generate_series(1, 1000) AS n;
    INSERT INTO token_counts (survey, created) VALUES (1, 1000);
    INSERT INTO accounts (account, name, admin) VALUES (uuid_send(gen_random_uuid()), 'Ann', 1);
"""
"""What a node of 0.4.0 may have written beside its three reports: of wave 0, all with the same values."""


@pytest.fixture(name="url")
def _url() -> str:
    return postgres.fresh()


@pytest.fixture(name="node")
def _node(url: str) -> Iterator[PostgresStorage]:
    with closing(PostgresStorage(url)) as storage:
        yield storage


def former(url: str, reports: int) -> dict[str, list[tuple[object, ...]]]:
    """Make a database of release 0.4.0 with so many reports; return the rows of its tables."""
    with psycopg.connect(url) as connection:
        connection.execute(FORMER.read_bytes())
        for statement in MANY.strip().split(";\n"):
            connection.execute(statement.encode(), {"reports": reports, "values": pack((1, 2, 0))})
    return rows(url)


def rows(url: str) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of the tables that 0.4.0 had, in the order of all of their columns."""
    tables = ("surveys", "reports", "tombstones", "cells", "counts", "shown_cells", "shown_counts", "tokens", "record")
    with psycopg.connect(url) as connection:
        return {table: sorted(connection.execute(_columns(connection, table)).fetchall(), key=repr) for table in tables}


def _columns(connection: psycopg.Connection[tuple[str, ...]], table: str) -> bytes:
    found = connection.execute(
        "SELECT column_name FROM information_schema.columns WHERE table_name = %s ORDER BY 1", [table]
    )
    return f"SELECT {', '.join(chr(34) + name + chr(34) for (name,) in found)} FROM {table}".encode()  # noqa: S608 - constants


def state(url: str) -> tuple[int, int]:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT version, usable_from FROM schema_version").fetchone() or (0, 0)


def migrated(url: str) -> None:
    """Check that a database of 0.4.0 has become one of this release, in which all goes on."""
    with closing(PostgresStorage(url, stopped=True)) as storage:
        assert storage.settle()
        assert storage.verify() == wrong_counts(storage) == []
        assert [account.name for account in storage.access.accounts()] == ["Ann"]
        assert storage.token_counts(1).unspent == 1000
        again = [arrival(1, 77), arrival(1, 78), arrival(1, 77)]
        assert storage.store(again) == [Outcome.NEW, Outcome.NEW, Outcome.SAME]
        assert storage.verify() == wrong_counts(storage) == []
    assert state(url) == (VERSION, VERSION)


def test_migration_keeps_every_row(url: str) -> None:
    before = former(url, 5000)
    with closing(PostgresStorage(url, stopped=True)):
        pass
    assert rows(url) == before
    migrated(url)


@pytest.mark.slow
def test_migration_keeps_a_million_reports(url: str) -> None:
    """Those of a country's survey, and they settle."""
    former(url, 1_000_000)
    migrated(url)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) > 1000000 FROM settled").fetchone() == (True,)


def test_migration_that_fails_leaves_the_old_schema(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = former(url, 10)
    with monkeypatch.context() as patch:
        patch.setattr(postgres_storage.schema, "INDEX", "nonsense")
        with pytest.raises(StorageError, match="SyntaxError"):
            PostgresStorage(url, stopped=True)
    assert (state(url), rows(url)) == ((EARLIEST, EARLIEST), before)
    migrated(url)


def test_two_that_migrate_at_once_make_one_migration(url: str) -> None:
    former(url, 10)
    with ThreadPoolExecutor(2) as pool:
        for storage in pool.map(lambda _: PostgresStorage(url, stopped=True), range(2)):
            storage.check()
            storage.close()
    migrated(url)


def test_migration_waits_until_all_are_stopped(url: str) -> None:
    before = former(url, 10)
    with pytest.raises(StorageError, match="earlier release, whose nodes cannot go on beside this one: stop them all"):
        PostgresStorage(url)
    with pytest.raises(StorageError, match='Stop the aggregator, then run "sottovoce db migrate"'):
        PostgresStorage(url, stopped=True, migrates=False)
    assert rows(url) == before
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE schema_version SET version = 7")
    with pytest.raises(StorageError, match=r"before 0\.4; upgrade through 0\.4"):
        PostgresStorage(url, stopped=True)


def test_migration_gives_up_where_a_backup_reads(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    former(url, 10)
    monkeypatch.setattr(postgres_storage, "WAIT_SECONDS", 1)
    with psycopg.connect(url) as reader:
        reader.execute("SELECT count(*) FROM reports")
        with pytest.raises(StorageError, match="is a backup under way"):
            PostgresStorage(url, stopped=True)
    migrated(url)


def test_newer_program_turns_the_old_node_away(url: str, node: PostgresStorage, tmp_path: Path) -> None:
    node.publish(survey())
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE schema_version SET version = version + 1, usable_from = version + 1")
    for refused in (node.check, node.settle, node.verify, lambda: save(node, tmp_path / "saved"),
                    lambda: PostgresStorage(url)):  # fmt: skip
        with pytest.raises(StorageError, match="newer version of this program, which this one cannot work with"):
            refused()


def test_unfinished_copy_is_refused(url: str, node: PostgresStorage) -> None:
    """By the node that has it open, and by who starts; who copies again may open it."""
    with closing(PostgresStorage(url)) as other:
        other.mark_unfinished(True)
    for refused in (node.check, lambda: PostgresStorage(url)):
        with pytest.raises(StorageError, match="not finished"):
            refused()
    with closing(PostgresStorage(url, unfinished=True)) as other:
        other.mark_unfinished(False)
    node.check()


def test_node_says_when_the_database_was_replaced_by_an_older_one(url: str, node: PostgresStorage) -> None:
    """It was restored under its feet."""
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE schema_version SET version = version - 1")
    with pytest.raises(StorageError, match="older schema"):
        node.check()
