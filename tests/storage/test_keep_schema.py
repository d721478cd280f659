"""The schema of a release is kept as a file by a program: what it writes is what the release makes."""

from pathlib import Path

from sottovoce.aggregator.storage.postgres.schema import VERSION
from sottovoce.aggregator.storage.sqlite import schema
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage

from tests import postgres
from tests.storage.keep_schema import dumped, postgres_schema, sqlite_schema
from tests.storage.test_migrations import SCHEMAS, SHARED_SCHEMAS, database_of


def test_file_of_the_release_before_becomes_one_of_this(tmp_path: Path) -> None:
    number, text = sqlite_schema(SCHEMAS[-1])
    (tmp_path / "kept.sql").write_text(text, encoding="utf-8")
    database_of(tmp_path / "kept.sql", tmp_path / "kept.sqlite")
    storage = SQLiteStorage(tmp_path / "kept.sqlite")
    wrong = storage.verify()
    storage.close()

    assert (number, wrong) == (schema.VERSION, [])


def test_so_does_that_of_postgresql() -> None:
    """With every table of a new database, and no command of its program's own."""
    number, text = postgres_schema(SHARED_SCHEMAS[-1])
    made, kept = (
        [line for line in each.splitlines() if line.startswith("CREATE TABLE")]
        for each in (dumped(postgres.with_tables(), "--schema-only"), text)
    )

    assert number == VERSION
    assert made == kept != []
    assert "\\restrict" not in text
