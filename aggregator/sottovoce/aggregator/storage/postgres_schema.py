"""
The PostgreSQL schema: numbered migrations, only ever added to, each applied in one transaction.

Expand, then contract: a release adds what it needs beside what the one before it uses, so that nodes of both can run
on one database; what only the former needs is taken away by the release after it. A function that changes is made
again under the number of its migration, and the old one stays for one release. What is added holds its locks for a
moment only: tables, functions, columns with a constant default.
"""

from dataclasses import dataclass

from sottovoce.aggregator.storage.access_schema import MAKE_ACCESS_SHARED
from sottovoce.aggregator.storage.draft_tables import MAKE_DRAFTS_SHARED
from sottovoce.aggregator.storage.moved_counts import MOVE_COUNTS
from sottovoce.aggregator.storage.passkey_tables import MAKE_PASSKEYS_SHARED
from sottovoce.aggregator.storage.pulse import MARK_PAUSE


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

# A group of which every report is new, in one round trip. Reports come in blocks of one survey, wave and length, their
# ids and their values one after the other. Tombstones come after the rows: a row waits for whoever is deleting its
# namesake, and only then is that one seen to be withdrawn. Cells come before counts, in key order: who holds the row of
# a cell is alone with its counts, so that no two nodes wait for each other in a circle.
#
# False, and nothing is stored, if something is not new or not allowed. That is an everyday answer and no error: the
# server's log would name the report. SV001 is a condition of our own that never leaves the function; to raise and catch
# it is how plpgsql undoes what was begun.
_STORE = """
    CREATE FUNCTION sottovoce_store(
        open_surveys bigint[], batches bigint[], surveys_ bigint[], waves bigint[], ids bytea[], values_ bytea[],
        token_surveys bigint[], token_hashes bytea[], cells_ bigint[], counts_ bigint[], slot_ smallint
    ) RETURNS boolean LANGUAGE plpgsql AS $$
    DECLARE
        n bigint;
        i int;
        block_ids bytea;
        block_values bytea;
        rows_ int;
        size int;
    BEGIN
        PERFORM 1 FROM surveys WHERE key = ANY (open_surveys) AND closed_on IS NULL ORDER BY key FOR SHARE;
        GET DIAGNOSTICS n = ROW_COUNT;
        IF n <> cardinality(open_surveys) THEN RETURN false; END IF;

        IF cardinality(token_surveys) > 0 THEN
            DELETE FROM tokens t USING unnest(token_surveys, token_hashes) AS g (survey, token_hash)
            WHERE t.survey = g.survey AND t.token_hash = g.token_hash;
            GET DIAGNOSTICS n = ROW_COUNT;
            IF n <> cardinality(token_surveys) THEN RAISE SQLSTATE 'SV001'; END IF;
            INSERT INTO token_counts (survey, spent)
            SELECT s, count(*) FROM unnest(token_surveys) AS s GROUP BY s ORDER BY s
            ON CONFLICT (survey) DO UPDATE SET spent = token_counts.spent + excluded.spent;
        END IF;

        FOR i IN 1 .. cardinality(ids) LOOP
            block_ids := ids[i];
            block_values := values_[i];
            rows_ := length(block_ids) / 16;
            size := length(block_values) / rows_;
            INSERT INTO reports
            SELECT surveys_[i], substring(block_ids FROM 16 * k + 1 FOR 16), waves[i],
                   substring(block_values FROM size * k + 1 FOR size)
            FROM generate_series(0, rows_ - 1) AS k
            ON CONFLICT DO NOTHING;
            GET DIAGNOSTICS n = ROW_COUNT;
            IF n <> rows_ THEN RAISE SQLSTATE 'SV001'; END IF;
            -- Hashes are only needed where somebody has withdrawn.
            IF EXISTS (SELECT FROM tombstones WHERE survey = surveys_[i]) THEN
                PERFORM 1 FROM generate_series(0, rows_ - 1) AS k JOIN tombstones
                ON survey = surveys_[i] AND id_hash = sha256(substring(block_ids FROM 16 * k + 1 FOR 16));
                IF FOUND THEN RAISE SQLSTATE 'SV001'; END IF;
            END IF;
        END LOOP;

        FOR i IN 1 .. cardinality(cells_) / 4 LOOP
            INSERT INTO cells AS c (survey, wave, cohort, slot, arrived)
            VALUES (cells_[4*i-3], cells_[4*i-2], cells_[4*i-1], slot_, cells_[4*i])
            ON CONFLICT (survey, wave, cohort, slot) DO UPDATE SET arrived = c.arrived + excluded.arrived;
        END LOOP;

        INSERT INTO counts (survey, wave, cohort, question, value, slot, reports)
        SELECT counts_[k], counts_[k+1], counts_[k+2], counts_[k+3], counts_[k+4], slot_, counts_[k+5]
        FROM generate_series(1, cardinality(counts_), 6) AS k ORDER BY 1, 2, 3, 4, 5
        ON CONFLICT (survey, wave, cohort, question, value, slot)
        DO UPDATE SET reports = counts.reports + excluded.reports;

        FOR i IN 1 .. cardinality(cells_) / 4 LOOP
            -- Arrivals less withdrawals: who sends and withdraws pushes nothing.
            SELECT sum(arrived - withdrawn) - coalesce((
                SELECT arrived - withdrawn FROM shown_cells
                WHERE survey = cells_[4*i-3] AND wave = cells_[4*i-2] AND cohort = cells_[4*i-1]
            ), 0) INTO n FROM cells
            WHERE survey = cells_[4*i-3] AND wave = cells_[4*i-2] AND cohort = cells_[4*i-1];
            CONTINUE WHEN n < batches[array_position(open_surveys, cells_[4*i-3])];
            INSERT INTO shown_cells (survey, wave, cohort, arrived, withdrawn)
            SELECT survey, wave, cohort, sum(arrived), sum(withdrawn) FROM cells
            WHERE survey = cells_[4*i-3] AND wave = cells_[4*i-2] AND cohort = cells_[4*i-1]
            GROUP BY survey, wave, cohort
            ON CONFLICT (survey, wave, cohort)
            DO UPDATE SET arrived = excluded.arrived, withdrawn = excluded.withdrawn;
            INSERT INTO shown_counts AS shown (survey, wave, cohort, question, value, reports)
            SELECT survey, wave, cohort, question, value, sum(reports) FROM counts
            WHERE survey = cells_[4*i-3] AND wave = cells_[4*i-2] AND cohort = cells_[4*i-1]
            GROUP BY survey, wave, cohort, question, value ORDER BY 1, 2, 3, 4, 5
            ON CONFLICT (survey, wave, cohort, question, value)
            DO UPDATE SET reports = excluded.reports WHERE shown.reports <> excluded.reports;
        END LOOP;
        RETURN true;
    EXCEPTION WHEN SQLSTATE 'SV001' THEN
        RETURN false;
    END
    $$
"""

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

# Names of functions have a number from here on: programs of before would not find theirs.
_ROLLING = (
    "ALTER TABLE schema_version ADD COLUMN usable_from bigint NOT NULL DEFAULT 0",
    "ALTER FUNCTION sottovoce_store RENAME TO sottovoce_store_8",
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
    # The function is made by the sixth step; an earlier one that only changed it has nothing left to do.
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
    Migration((*_SHOWN_APART, "DROP FUNCTION IF EXISTS sottovoce_store", _STORE)),
    Migration(_RECORD),
    Migration(_ROLLING, usable_from=8),
    Migration((*MAKE_ACCESS_SHARED, *MAKE_PASSKEYS_SHARED, *_JOURNAL, *MAKE_DRAFTS_SHARED)),
)
