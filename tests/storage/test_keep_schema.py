"""The schema of a release is kept as a file by a program: what it writes is what the release makes."""

from pathlib import Path

from sottovoce.aggregator.storage.postgres.schema import VERSION
from sottovoce.aggregator.storage.sqlite import schema
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage

from tests.storage.keep_schema import postgres_schema, sqlite_schema
from tests.storage.test_migrations import SCHEMAS, SHARED_SCHEMAS, database_of


def test_file_of_the_release_before_becomes_one_of_this(tmp_path: Path) -> None:
    """Numbered as the newest is; it opens, and nothing is wrong with it."""
    number, text = sqlite_schema(SCHEMAS[-2])
    (tmp_path / "kept.sql").write_text(text, encoding="utf-8")
    database_of(tmp_path / "kept.sql", tmp_path / "kept.sqlite")
    storage = SQLiteStorage(tmp_path / "kept.sqlite")
    wrong = storage.verify()
    storage.close()

    assert (number, wrong) == (schema.VERSION, [])


def test_so_does_that_of_postgresql() -> None:
    """With every table of the file that is kept, and no command of its program's own."""
    number, text = postgres_schema(SHARED_SCHEMAS[-2])
    kept = SHARED_SCHEMAS[-1].read_text(encoding="utf-8")
    tables = [line for line in kept.splitlines() if line.startswith("CREATE TABLE")]

    assert number == VERSION
    assert tables == [line for line in text.splitlines() if line.startswith("CREATE TABLE")] != []
    assert "\\restrict" not in text
