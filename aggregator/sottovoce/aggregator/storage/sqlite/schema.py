"""
SQLite schema as named migrations, which are never changed or removed; sqlite-utils applies and records them.

The statements are plain SQL, since sqlite-utils can neither create nor change tables that are WITHOUT ROWID.
"""

from collections.abc import Callable, Sequence

from sottovoce.aggregator.storage.accounts.schema import accounts_of_researchers
from sottovoce.aggregator.storage.define_tables import INDEX, SQLITE, STAFF, definition, definitions
from sottovoce.aggregator.storage.heartbeat import MARK_PAUSE
from sottovoce.aggregator.storage.incomplete_copy import known_version
from sottovoce.aggregator.storage.invitations.blind_invitations import COUNT_DROPPED
from sottovoce.aggregator.storage.pack_values import pack_text
from sottovoce.aggregator.storage.sqlite.migrate_counts import MOVE_COUNTS
from sottovoce.shared.errors import StorageError
from sqlite_utils import Database, Migrations

_INVITATIONS = (
    # With a reference to its survey, as all tables of respondents but those of reports.
    definition("blind_invitations", SQLITE).replace(
        '"survey" INTEGER NOT NULL', '"survey" INTEGER NOT NULL REFERENCES surveys (key)'
    ),
    "ALTER TABLE token_counts ADD COLUMN held INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE token_counts ADD COLUMN held_since INTEGER",
    "ALTER TABLE token_counts ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0",
    COUNT_DROPPED,
    "ALTER TABLE pulse ADD COLUMN mark INTEGER NOT NULL DEFAULT 0",
)

STEPS: dict[str, tuple[str, ...]] = {
    "first_tables": (
        # Privacy: the day of closing is the only time in these tables; reports have none.
        """
        CREATE TABLE surveys (
            key INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            revision INTEGER NOT NULL,
            digest TEXT NOT NULL UNIQUE,
            document BLOB NOT NULL,
            closed_on INTEGER,
            purged INTEGER NOT NULL DEFAULT 0,
            UNIQUE (name, revision)
        ) STRICT
        """,
        # Privacy: a random key without rowid, time or sequence, so that the order of arrival is not stored.
        """
        CREATE TABLE reports (
            survey INTEGER NOT NULL REFERENCES surveys (key),
            report_id BLOB NOT NULL,
            wave INTEGER NOT NULL,
            "values" TEXT NOT NULL,
            PRIMARY KEY (survey, report_id)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE tombstones (
            survey INTEGER NOT NULL REFERENCES surveys (key),
            id_hash BLOB NOT NULL,
            PRIMARY KEY (survey, id_hash)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE cells (
            survey INTEGER NOT NULL REFERENCES surveys (key),
            wave INTEGER NOT NULL,
            cohort INTEGER NOT NULL,
            reports INTEGER NOT NULL DEFAULT 0,
            withdrawn INTEGER NOT NULL DEFAULT 0,
            pending INTEGER NOT NULL DEFAULT 0,
            shown_reports INTEGER NOT NULL DEFAULT 0,
            shown_withdrawn INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (survey, wave, cohort)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE counts (
            survey INTEGER NOT NULL REFERENCES surveys (key),
            wave INTEGER NOT NULL,
            cohort INTEGER NOT NULL,
            question INTEGER NOT NULL,
            value INTEGER NOT NULL,
            reports INTEGER NOT NULL DEFAULT 0,
            shown INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (survey, wave, cohort, question, value)
        ) STRICT, WITHOUT ROWID
        """,
        # Privacy: spending a token deletes its row, so that no row shows who has answered.
        """
        CREATE TABLE tokens (
            survey INTEGER NOT NULL REFERENCES surveys (key),
            token_hash BLOB NOT NULL,
            PRIMARY KEY (survey, token_hash)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE token_counts (
            survey INTEGER PRIMARY KEY REFERENCES surveys (key),
            created INTEGER NOT NULL DEFAULT 0,
            spent INTEGER NOT NULL DEFAULT 0,
            revoked INTEGER NOT NULL DEFAULT 0
        ) STRICT
        """,
        """
        CREATE TABLE researchers (
            token_hash BLOB PRIMARY KEY,
            name TEXT NOT NULL
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE sessions (
            session_hash BLOB PRIMARY KEY,
            researcher TEXT NOT NULL,
            started INTEGER NOT NULL,
            used INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID
        """,
        # Readiness checks write to this one row, since only a real write detects a full disk.
        "CREATE TABLE pulse (beat INTEGER NOT NULL) STRICT",
        "INSERT INTO pulse VALUES (0)",
    ),
    "values_as_bytes": (
        # Packed values take a third of the space of JSON and are counted without parsing.
        "ALTER TABLE reports RENAME TO reports_as_text",
        # No foreign key to surveys: with one, SQLite would journal every page before each statement changes it.
        """
        CREATE TABLE reports (
            survey INTEGER NOT NULL,
            report_id BLOB NOT NULL,
            wave INTEGER NOT NULL,
            "values" BLOB NOT NULL,
            PRIMARY KEY (survey, report_id)
        ) STRICT, WITHOUT ROWID
        """,
        """
        INSERT INTO reports (survey, report_id, wave, "values")
        SELECT survey, report_id, wave, pack_text("values") FROM reports_as_text ORDER BY survey, report_id
        """,
        "DROP TABLE reports_as_text",
    ),
    "shown_apart": (
        "ALTER TABLE cells RENAME TO former_cells",
        "ALTER TABLE counts RENAME TO former_counts",
        # PostgreSQL has one slot for each process; SQLite has one writer, which uses slot 0.
        """
        CREATE TABLE cells (
            survey INTEGER NOT NULL REFERENCES surveys (key),
            wave INTEGER NOT NULL,
            cohort INTEGER NOT NULL,
            slot INTEGER NOT NULL DEFAULT 0,
            arrived INTEGER NOT NULL DEFAULT 0,
            withdrawn INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (survey, wave, cohort, slot)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE counts (
            survey INTEGER NOT NULL REFERENCES surveys (key),
            wave INTEGER NOT NULL,
            cohort INTEGER NOT NULL,
            question INTEGER NOT NULL,
            value INTEGER NOT NULL,
            slot INTEGER NOT NULL DEFAULT 0,
            reports INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (survey, wave, cohort, question, value, slot)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE shown_cells (
            survey INTEGER NOT NULL REFERENCES surveys (key),
            wave INTEGER NOT NULL,
            cohort INTEGER NOT NULL,
            arrived INTEGER NOT NULL DEFAULT 0,
            withdrawn INTEGER NOT NULL DEFAULT 0,
            at_close INTEGER,
            PRIMARY KEY (survey, wave, cohort)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE shown_counts (
            survey INTEGER NOT NULL REFERENCES surveys (key),
            wave INTEGER NOT NULL,
            cohort INTEGER NOT NULL,
            question INTEGER NOT NULL,
            value INTEGER NOT NULL,
            reports INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (survey, wave, cohort, question, value)
        ) STRICT, WITHOUT ROWID
        """,
        *MOVE_COUNTS,
        "DROP TABLE former_counts",
        "DROP TABLE former_cells",
    ),
    "record": (
        "ALTER TABLE surveys ADD COLUMN retired INTEGER NOT NULL DEFAULT 0",
        # With a rowid, in the order of its lines: the survey log holds nothing about respondents.
        """
        CREATE TABLE record (
            number INTEGER PRIMARY KEY,
            day INTEGER NOT NULL,
            what TEXT NOT NULL,
            about TEXT NOT NULL,
            previous BLOB NOT NULL
        ) STRICT
        """,
    ),
    "pulse_seen": (
        "ALTER TABLE pulse ADD COLUMN seen INTEGER",
        "ALTER TABLE pulse ADD COLUMN waits INTEGER NOT NULL DEFAULT 0",
        MARK_PAUSE,
    ),
    "staff": (
        *definitions(STAFF, SQLITE),
        INDEX,
        *accounts_of_researchers("randomblob(16)", "CAST(strftime('%s', 'now') AS INTEGER) / 86400"),
        *_INVITATIONS,
    ),
    "fresh": (
        # Privacy: within a page SQLite places rows in the order of their insertion. Reports arrive in a small table,
        # from which they move together, in the order of their ids.
        "ALTER TABLE reports RENAME TO settled",
        """
        CREATE TABLE fresh (
            survey INTEGER NOT NULL,
            report_id BLOB NOT NULL,
            wave INTEGER NOT NULL,
            "values" BLOB NOT NULL,
            PRIMARY KEY (survey, report_id)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE VIEW reports AS
        SELECT survey, report_id, wave, "values" FROM settled
        UNION ALL SELECT survey, report_id, wave, "values" FROM fresh
        """,
    ),
}
"""Migrations in order, by name; the database's ``user_version`` is the number of applied ones."""


def version(db: Database) -> int:
    """Return the number of applied migrations from ``user_version``, which earlier releases read as well."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def migrate(db: Database, unfinished: bool = False) -> bool:
    """
    Migrate a database to the current schema, all or nothing; return True if it had an earlier version.

    Args:
        db: within a write transaction. Without one, sqlite-utils would begin with a read transaction: of two processes
            that start at once, SQLite would refuse the second one's first write.
        unfinished: accept a database with an unfinished copy.

    Raises:
        StorageError: the schema is newer than this program, the file is another program's, or its copy unfinished.
    """
    done = known_version(version(db), len(STEPS), unfinished)
    if done or db.table_names():
        check_ours(db)
    steps = _steps(done)
    if steps.pending(db):
        db.register_function(pack_text, deterministic=True)
        steps.apply(db)
        mark = version(db) - done
        db.execute(f"PRAGMA user_version = {len(STEPS) + mark:d}")
    return 0 < done < len(STEPS)


def check_ours(db: Database) -> None:
    """
    Refuse a file that is not a database of this program.

    Raises:
        StorageError: it has no schema version, or no table ``surveys``, which every version has.
    """
    if version(db) == 0 or "surveys" not in db.table_names():
        raise StorageError("the file is no database of this program")


def _steps(done: int) -> Migrations:
    """Return all migrations; the first ``done`` run no statements: early releases applied them without a record."""
    steps = Migrations("sottovoce")
    for number, (name, statements) in enumerate(STEPS.items()):
        # The caller's transaction makes all steps atomic; a savepoint would only copy each page before a change.
        steps(name=name, transactional=False)(_run(() if number < done else statements))
    return steps


def _run(statements: Sequence[str]) -> Callable[[Database], None]:
    def run(db: Database) -> None:
        for statement in statements:
            db.execute(statement)

    return run
