"""
The SQLite schema: named steps, only ever added to, applied and recorded by sqlite-utils.

The statements are plain SQL, since sqlite-utils can neither make nor change tables that are WITHOUT ROWID.
"""

from collections.abc import Callable, Sequence

from sottovoce.aggregator.storage.accounts.passkeys import MAKE_PASSKEYS
from sottovoce.aggregator.storage.accounts.schema import MAKE_ACCESS
from sottovoce.aggregator.storage.drafts import MAKE_DRAFTS
from sottovoce.aggregator.storage.heartbeat import MARK_PAUSE
from sottovoce.aggregator.storage.incomplete_copy import known_version
from sottovoce.aggregator.storage.invitations.blind_invitations import MAKE_BLIND
from sottovoce.aggregator.storage.pack_values import pack_text
from sottovoce.aggregator.storage.postgres.migrate_counts import MOVE_COUNTS
from sottovoce.aggregator.storage.releases import MAKE_RELEASES
from sottovoce.shared.errors import StorageError
from sqlite_utils import Database, Migrations

_JOURNAL = (
    # In the order of its entries: no respondent is in it.
    """
    CREATE TABLE journal (
        number INTEGER PRIMARY KEY,
        day INTEGER NOT NULL,
        what TEXT NOT NULL,
        who TEXT NOT NULL,
        about TEXT NOT NULL,
        previous BLOB NOT NULL
    ) STRICT
    """,
    "CREATE INDEX journal_days ON journal (day)",
    # One row, at place 0: whoever has changed it is alone with the journal until the end of the transaction.
    "CREATE TABLE journal_head (place INTEGER PRIMARY KEY, number INTEGER NOT NULL, hash BLOB NOT NULL) STRICT",
)

STEPS: dict[str, tuple[str, ...]] = {
    "first_tables": (
        # The day of closing is the only time there is, and no report has one.
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
        # The key is random and there is no rowid, no time and no sequence: the order of arrival is not kept.
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
        # A token is spent by deleting its row; how many were is a number that names none.
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
        # One row that readiness checks write to: only a real write finds a full disk.
        "CREATE TABLE pulse (beat INTEGER NOT NULL) STRICT",
        "INSERT INTO pulse VALUES (0)",
    ),
    "values_as_bytes": (
        # Values as bytes: a third of the space, and counted without being parsed.
        "ALTER TABLE reports RENAME TO reports_as_text",
        # No reference to surveys: with one, SQLite would note every page before it changes it, for each statement anew.
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
        # Nodes of a shared database write to a slot each; here there is one writer, and slot 0.
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
        # In the order of its lines: no respondent is in it.
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
    "staff": (*MAKE_ACCESS, *MAKE_PASSKEYS, *_JOURNAL, *MAKE_DRAFTS, *MAKE_RELEASES, *MAKE_BLIND),
}
"""The database's ``user_version`` is the number of steps that it has behind it."""


def version(db: Database) -> int:
    """How many steps a database has behind it, as programs read it that know no record of steps."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def migrate(db: Database, unfinished: bool = False) -> bool:
    """
    Bring a database to the present schema, all or nothing; returns whether it was one of an earlier version.

    Args:
        db: within a transaction that was begun to write. Left to itself, sqlite-utils begins one to read and looks what
            is to be done: of two processes that start at once, the second would then be refused the first write.
        unfinished: take also one into which a copy was begun and not finished.

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
    Refuse a file with tables that this program did not make.

    Raises:
        StorageError: it has no version of this program, or not the table that every version has.
    """
    if version(db) == 0 or "surveys" not in db.table_names():
        raise StorageError("the file is no database of this program")


def _steps(done: int) -> Migrations:
    """All steps; those that are done already have only to be recorded, where a program did them that kept no record."""
    steps = Migrations("sottovoce")
    for number, (name, statements) in enumerate(STEPS.items()):
        # The caller's transaction is around all: a savepoint would only copy each page before it is changed.
        steps(name=name, transactional=False)(_run(() if number < done else statements))
    return steps


def _run(statements: Sequence[str]) -> Callable[[Database], None]:
    def run(db: Database) -> None:
        for statement in statements:
            db.execute(statement)

    return run
