"""
The PostgreSQL schema: numbered migrations, only ever added to, each applied in one transaction.

Expand, then contract: a release adds what it needs beside what the one before it uses, so that nodes of both can run
on one database; what only the former needs is taken away by the release after it. A function that changes is made
again under the number of its migration, and the old one stays for one release. What is added holds its locks for a
moment only: tables, functions, columns with a constant default.
"""

from dataclasses import dataclass

from sottovoce.aggregator.storage.accounts.passkeys import MAKE_PASSKEYS_SHARED
from sottovoce.aggregator.storage.accounts.schema import MAKE_ACCESS_SHARED
from sottovoce.aggregator.storage.drafts import MAKE_DRAFTS_SHARED
from sottovoce.aggregator.storage.heartbeat import MARK_PAUSE
from sottovoce.aggregator.storage.invitations.blind_invitations import MAKE_BLIND_SHARED
from sottovoce.aggregator.storage.postgres.functions import MAKE_FUNCTIONS
from sottovoce.aggregator.storage.postgres.migrate_counts import MOVE_COUNTS
from sottovoce.aggregator.storage.postgres.partitions import MAKE_PLACES
from sottovoce.aggregator.storage.releases import MAKE_RELEASES_SHARED


@dataclass(frozen=True)
class Migration:
    """
    From one schema to the next.

    Attributes:
        statements: run in one transaction.
        usable_from: number of the earliest schema whose programs can go on with this one; 0 if all can that could.
    """

    statements: tuple[str, ...] = ()
    usable_from: int = 0


_TABLES = (
    """
    CREATE TABLE surveys (
        key bigint PRIMARY KEY,
        name text NOT NULL,
        revision bigint NOT NULL,
        digest text NOT NULL UNIQUE,
        document bytea NOT NULL,
        closed_on bigint,
        purged bigint NOT NULL DEFAULT 0,
        UNIQUE (name, revision)
    )
    """,
    # No reference to surveys: each insert would lock that one row for all nodes.
    """
    CREATE TABLE reports (
        survey bigint NOT NULL,
        report_id bytea NOT NULL,
        wave bigint NOT NULL,
        "values" text NOT NULL,
        PRIMARY KEY (survey, report_id)
    )
    """,
    "CREATE TABLE tombstones (survey bigint NOT NULL, id_hash bytea NOT NULL, PRIMARY KEY (survey, id_hash))",
    """
    CREATE TABLE cells (
        survey bigint NOT NULL,
        wave bigint NOT NULL,
        cohort bigint NOT NULL,
        reports bigint NOT NULL DEFAULT 0,
        withdrawn bigint NOT NULL DEFAULT 0,
        pending bigint NOT NULL DEFAULT 0,
        shown_reports bigint NOT NULL DEFAULT 0,
        shown_withdrawn bigint NOT NULL DEFAULT 0,
        PRIMARY KEY (survey, wave, cohort)
    ) WITH (fillfactor = 50)
    """,
    """
    CREATE TABLE counts (
        survey bigint NOT NULL,
        wave bigint NOT NULL,
        cohort bigint NOT NULL,
        question bigint NOT NULL,
        value bigint NOT NULL,
        reports bigint NOT NULL DEFAULT 0,
        shown bigint NOT NULL DEFAULT 0,
        PRIMARY KEY (survey, wave, cohort, question, value)
    ) WITH (fillfactor = 50)
    """,
    "CREATE TABLE tokens (survey bigint NOT NULL, token_hash bytea NOT NULL, PRIMARY KEY (survey, token_hash))",
    """
    CREATE TABLE token_counts (
        survey bigint PRIMARY KEY,
        created bigint NOT NULL DEFAULT 0,
        spent bigint NOT NULL DEFAULT 0,
        revoked bigint NOT NULL DEFAULT 0
    )
    """,
    "CREATE TABLE researchers (token_hash bytea PRIMARY KEY, name text NOT NULL)",
    """
    CREATE TABLE sessions (
        session_hash bytea PRIMARY KEY,
        researcher text NOT NULL,
        started bigint NOT NULL,
        used bigint NOT NULL
    )
    """,
    "CREATE TABLE pulse (beat bigint NOT NULL)",
    "INSERT INTO pulse VALUES (0)",
)

# What ``rows.pack`` makes of ``[1,null,12]``; -1 has all bits set.
_PACK = """
    CREATE FUNCTION sottovoce_pack(given jsonb) RETURNS bytea LANGUAGE plpgsql IMMUTABLE AS $$
    DECLARE
        most bigint;
        width int;
    BEGIN
        SELECT coalesce(max(v::bigint), 0) INTO most FROM jsonb_array_elements_text(given) AS v;
        width := CASE WHEN most < 255 THEN 1 WHEN most < 65535 THEN 2 WHEN most < 4294967295 THEN 4 ELSE 8 END;
        RETURN substring(int8send(width) FROM 8) || (
            SELECT coalesce(string_agg(substring(int8send(coalesce(v::bigint, -1)) FROM 9 - width), '' ORDER BY n), '')
            FROM jsonb_array_elements_text(given) WITH ORDINALITY AS e (v, n)
        );
    END
    $$
"""

_SHOWN_APART = (
    "ALTER TABLE cells RENAME TO former_cells",
    "ALTER TABLE former_cells DROP CONSTRAINT cells_pkey",
    "ALTER TABLE counts RENAME TO former_counts",
    "ALTER TABLE former_counts DROP CONSTRAINT counts_pkey",
    """
    CREATE TABLE cells (
        survey bigint NOT NULL,
        wave bigint NOT NULL,
        cohort bigint NOT NULL,
        slot smallint NOT NULL DEFAULT 0,
        arrived bigint NOT NULL DEFAULT 0,
        withdrawn bigint NOT NULL DEFAULT 0,
        PRIMARY KEY (survey, wave, cohort, slot)
    ) WITH (fillfactor = 50)
    """,
    """
    CREATE TABLE counts (
        survey bigint NOT NULL,
        wave bigint NOT NULL,
        cohort bigint NOT NULL,
        question bigint NOT NULL,
        value bigint NOT NULL,
        slot smallint NOT NULL DEFAULT 0,
        reports bigint NOT NULL DEFAULT 0,
        PRIMARY KEY (survey, wave, cohort, question, value, slot)
    ) WITH (fillfactor = 50)
    """,
    """
    CREATE TABLE shown_cells (
        survey bigint NOT NULL,
        wave bigint NOT NULL,
        cohort bigint NOT NULL,
        arrived bigint NOT NULL DEFAULT 0,
        withdrawn bigint NOT NULL DEFAULT 0,
        at_close bigint,
        PRIMARY KEY (survey, wave, cohort)
    ) WITH (fillfactor = 50)
    """,
    """
    CREATE TABLE shown_counts (
        survey bigint NOT NULL,
        wave bigint NOT NULL,
        cohort bigint NOT NULL,
        question bigint NOT NULL,
        value bigint NOT NULL,
        reports bigint NOT NULL DEFAULT 0,
        PRIMARY KEY (survey, wave, cohort, question, value)
    ) WITH (fillfactor = 50)
    """,
    *MOVE_COUNTS,
    "DROP TABLE former_counts",
    "DROP TABLE former_cells",
)

_RECORD = (
    "ALTER TABLE surveys ADD COLUMN retired bigint NOT NULL DEFAULT 0",
    """
    CREATE TABLE record (
        number bigint PRIMARY KEY,
        day bigint NOT NULL,
        what text NOT NULL,
        about text NOT NULL,
        previous bytea NOT NULL
    )
    """,
    # The planner's statistics would keep samples of these beyond their rows; to set a type, also the same, drops them.
    *(
        f"ALTER TABLE {table} ALTER {column} TYPE {kind}, ALTER {column} SET STATISTICS 0"
        for table, column, kind in (
            ("surveys", "name", "text"),
            ("surveys", "digest", "text"),
            ("surveys", "document", "bytea"),
            ("reports", "report_id", "bytea"),
            ("reports", '"values"', "bytea"),
            ("tombstones", "id_hash", "bytea"),
            ("tokens", "token_hash", "bytea"),
        )
    ),
)

# Names of functions have a number from here on; those of this schema are made by the ninth step.
_ROLLING = (
    "ALTER TABLE schema_version ADD COLUMN usable_from bigint NOT NULL DEFAULT 0",
    "DROP FUNCTION IF EXISTS sottovoce_store",
    "ALTER TABLE pulse ADD COLUMN seen bigint, ADD COLUMN waits bigint NOT NULL DEFAULT 0",
    MARK_PAUSE,
)

_JOURNAL = (
    """
    CREATE TABLE journal (
        number bigint PRIMARY KEY,
        day bigint NOT NULL,
        what text NOT NULL,
        who text NOT NULL,
        about text NOT NULL,
        previous bytea NOT NULL
    )
    """,
    "CREATE INDEX journal_days ON journal (day)",
    # One row, at place 0: whoever has changed it is alone with the journal until the end of the transaction.
    "CREATE TABLE journal_head (place bigint PRIMARY KEY, number bigint NOT NULL, hash bytea NOT NULL)",
)

MIGRATIONS: tuple[Migration, ...] = (
    # The functions are made by the ninth step; an earlier one that only changed one has nothing left to do.
    Migration(_TABLES),
    Migration(
        (
            # Values as bytes: half of the space, and counted without being parsed.
            _PACK,
            'ALTER TABLE reports ALTER COLUMN "values" TYPE bytea USING sottovoce_pack("values"::jsonb)',
            "DROP FUNCTION sottovoce_pack(jsonb)",
        )
    ),
    Migration(),
    Migration(),
    Migration(),
    Migration((*_SHOWN_APART, "DROP FUNCTION IF EXISTS sottovoce_store")),
    Migration(_RECORD),
    Migration(_ROLLING, usable_from=8),
    Migration(
        (
            *MAKE_ACCESS_SHARED,
            *MAKE_PASSKEYS_SHARED,
            *_JOURNAL,
            *MAKE_DRAFTS_SHARED,
            *MAKE_RELEASES_SHARED,
            *MAKE_BLIND_SHARED,
            *MAKE_PLACES,
            *MAKE_FUNCTIONS,
        )
    ),
)
