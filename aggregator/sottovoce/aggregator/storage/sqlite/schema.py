"""Make the tables of a SQLite database from the catalogue, and migrate them from any earlier release.

``user_version`` is the number of the schema. A migration makes every table anew and fills it from the former one, in
one transaction. Only ``settled`` keeps its pages, since it may be large.
"""

from collections.abc import Sequence

from sottovoce.aggregator.storage.accounts.schema import accounts_of_researchers
from sottovoce.aggregator.storage.define_tables import INDEX, SQLITE, VIEW, definition
from sottovoce.aggregator.storage.incomplete_copy import known_version
from sottovoce.aggregator.storage.invitations.blind_invitations import COUNT_DROPPED
from sottovoce.aggregator.storage.pack_values import pack_text
from sottovoce.aggregator.storage.table_catalogue import EVERY_TABLE
from sottovoce.shared.errors import StorageError
from sqlite_utils import Database

# From counts that held their shown figure beside them, and a count of the whole (``former_cells``, ``former_counts``),
# to cells of one cohort each. Nothing is shown that was not shown: where there are cohorts, the whole is from now on
# the sum of what they show, which is at most what it was.
# Every report of a survey that has cohorts is in one of them, so that their sum is the whole.
_KEPT = """
    (f.cohort >= 0 OR NOT EXISTS (
        SELECT 1 FROM former_cells c WHERE c.survey = f.survey AND c.wave = f.wave AND c.cohort >= 0
    ))
"""

MOVE_COUNTS = tuple(
    statement.replace("{kept}", _KEPT)
    for statement in (
        """
        INSERT INTO cells (survey, wave, cohort, slot, arrived, withdrawn)
        SELECT survey, wave, cohort, 0, reports + withdrawn, withdrawn FROM former_cells f WHERE {kept}
        """,
        """
        INSERT INTO counts (survey, wave, cohort, question, value, slot, reports)
        SELECT survey, wave, cohort, question, value, 0, reports FROM former_counts f WHERE {kept}
        """,
        """
        INSERT INTO shown_cells (survey, wave, cohort, arrived, withdrawn, at_close)
        SELECT survey, wave, cohort, shown_reports + shown_withdrawn, shown_withdrawn,
               CASE WHEN closed_on IS NULL THEN NULL ELSE shown_reports END
        FROM former_cells f JOIN surveys ON key = survey
        WHERE {kept} AND (closed_on IS NOT NULL OR shown_reports + shown_withdrawn > 0)
        """,
        """
        INSERT INTO shown_counts (survey, wave, cohort, question, value, reports)
        SELECT survey, wave, cohort, question, value, shown FROM former_counts f WHERE {kept} AND shown > 0
        """,
    )
)

VERSION = 10
"""Number of the present schema."""

# Privacy: a random key without rowid, time or sequence, so that the order of arrival is not stored.
# Named and spaced as schema 2 made it: databases since then keep this table, and a new one does not differ from them.
_SETTLED = (
    """CREATE TABLE reports (
            survey INTEGER NOT NULL,
            report_id BLOB NOT NULL,
            wave INTEGER NOT NULL,
            "values" BLOB NOT NULL,
            PRIMARY KEY (survey, report_id)
        ) STRICT, WITHOUT ROWID
        """,
    "ALTER TABLE reports RENAME TO settled",
)
_UNPACKED = """
    INSERT INTO settled (survey, report_id, wave, "values")
    SELECT survey, report_id, wave, pack_text("values") FROM former_reports ORDER BY survey, report_id
"""
_COUNTED_BESIDE = {"cells", "counts"}
"""Tables that schema 3 gave another meaning; ``MOVE_COUNTS`` fills them."""

COMPLETED: tuple[tuple[int, tuple[str, ...]], ...] = (
    (3, MOVE_COUNTS),
    # A database without a heartbeat may be an old backup of unknown age.
    (5, ("UPDATE pulse SET waits = 86400 WHERE EXISTS (SELECT 1 FROM surveys)",)),
    (6, accounts_of_researchers("randomblob(16)", "CAST(strftime('%s', 'now') AS INTEGER) / 86400")),
    (6, (COUNT_DROPPED,)),
)
"""Statements that complete what an earlier schema than the given one held."""


def version(db: Database) -> int:
    """Return the number of a database's schema, the mark of an unfinished copy included."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def migrate(db: Database, unfinished: bool = False) -> bool:
    """Migrate a database to the current schema, all or nothing; return True if it had an earlier version.

    Needs a write transaction; ``unfinished`` accepts an unfinished copy.

    Raises:
        StorageError: the schema is newer than this program, the file is another program's, or its copy unfinished.
    """
    written = version(db)
    former = known_version(written, VERSION, unfinished)
    if former or db.table_names():
        check_ours(db)
    if former < VERSION:
        if former:
            _take_over(db, former)
        else:
            for statement in (*_SETTLED, *_others(), VIEW, INDEX, "INSERT INTO pulse (beat) VALUES (0)"):
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {VERSION + written - former:d}")
    return 0 < former < VERSION


def check_ours(db: Database) -> None:
    """Raise StorageError if a file has no schema version, or no table ``surveys``, which each of this program's has."""
    if version(db) == 0 or "surveys" not in db.table_names():
        raise StorageError("the file is no database of this program")


def _others() -> tuple[str, ...]:
    """Return the statements that make all tables but ``settled``."""
    tables = [definition(table, SQLITE) for table in EVERY_TABLE if table != "reports"]
    return definition("reports", SQLITE, "fresh"), *tables


def _take_over(db: Database, former: int) -> None:
    """Replace the tables of an earlier release by those of this one, with all rows."""
    kept = "reports" if 1 < former < 7 else "settled"
    found = {table.name: [column.name for column in table.columns] for table in db.tables if table.name != kept}
    db.register_function(pack_text, deterministic=True)
    for statement in (
        *(("DROP VIEW reports",) if former > 6 else ()),
        "DROP INDEX IF EXISTS journal_days",
        *(f"ALTER TABLE {table} RENAME TO former_{table}" for table in found),
        *_settled(former),
        *_others(),
        VIEW,
        INDEX,
        *(_refill(table, columns) for table, columns in found.items() if _is_refilled(table, former)),
        *(statement for before, statements in COMPLETED if former < before for statement in statements),
        # The one that others refer to goes last.
        *(f"DROP TABLE former_{table}" for table in sorted(found, key=lambda table: table == "surveys")),
    ):
        db.execute(statement)


def _settled(former: int) -> tuple[str, ...]:
    """Return the statements that make ``settled`` of what an earlier schema had."""
    return (*_SETTLED, _UNPACKED) if former == 1 else _SETTLED[1:] if former < 7 else ()


def _is_refilled(table: str, former: int) -> bool:
    return table == "fresh" or (
        table in EVERY_TABLE and table != "reports" and not (former < 3 and table in _COUNTED_BESIDE)
    )


def _refill(table: str, columns: Sequence[str]) -> str:
    """Return the statement that fills a table from the columns that its former one has too."""
    present = EVERY_TABLE["reports" if table == "fresh" else table]
    names = ", ".join(f'"{column}"' for column in columns if column in present)
    return f"INSERT INTO {table} ({names}) SELECT {names} FROM former_{table}"  # noqa: S608 - names
