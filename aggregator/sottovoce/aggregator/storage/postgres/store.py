"""Store a group of reports of which all are new, in one transaction and one round trip.

For each survey there are two statements. The first one locks the survey, inserts the reports into ``fresh`` and counts
them, or does nothing if one is known. The second one sees what was committed meanwhile. It looks for the same ids in
``settled``, where reports move from ``fresh`` at any moment, and among withdrawn ones; if it finds one, it fails, which
undoes all. The server's log names no report then. Rows are in the order of their keys, so that two nodes cannot
deadlock.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import psycopg
from psycopg import errors
from sottovoce.aggregator.storage.models import ID, ReportBatch
from sottovoce.aggregator.storage.postgres.connection import PostgresHandle
from sottovoce.aggregator.storage.reports.classify_batch import has_other_revisions, is_any_withdrawn, signed
from sottovoce.aggregator.storage.reports.count_changes import change
from sottovoce.aggregator.storage.sql_statements import spend_tokens

_SETTLED = "EXISTS (SELECT FROM settled WHERE survey = %(survey)s AND report_id = ANY (%(ids)s::bytea[]))"
# Hashes are needed only where a report was withdrawn.
_WITHDRAWN = """
    CASE WHEN EXISTS (SELECT FROM tombstones WHERE survey = %(survey)s) THEN EXISTS (
        SELECT FROM tombstones
        WHERE survey = %(survey)s AND id_hash = ANY (ARRAY(SELECT sha256(id) FROM unnest(%(ids)s::bytea[]) AS id))
    ) ELSE false END
"""
# ``counted`` waits for ``added``, and ``added`` for ``arrived``: the row of a cell protects its counts in that slot.
# The division fails if only some were new, since another node stored the others at this moment.
_STORE = f"""
    WITH open AS (SELECT 1 FROM surveys WHERE key = %(survey)s AND closed_on IS NULL FOR SHARE),
    arrived AS (
        INSERT INTO fresh (survey, wave, report_id, "values")
        SELECT %(survey)s, %(wave)s, report_id, "values"
        FROM open, unnest(%(ids)s::bytea[], %(values)s::bytea[]) AS u (report_id, "values")
        WHERE NOT EXISTS (SELECT FROM fresh WHERE survey = %(survey)s AND report_id = ANY (%(ids)s::bytea[]))
        AND NOT {_SETTLED} AND NOT {_WITHDRAWN}
        ON CONFLICT DO NOTHING RETURNING 1
    ), added AS (
        INSERT INTO cells (survey, wave, cohort, slot, arrived)
        SELECT %(survey)s, %(wave)s, cohort, %(slot)s, reports
        FROM (SELECT count(*) FROM arrived) AS a, unnest(%(of)s::bigint[], %(arrived)s::bigint[]) AS u (cohort, reports)
        WHERE count = %(size)s
        ON CONFLICT (survey, wave, cohort, slot) DO UPDATE SET arrived = cells.arrived + excluded.arrived
        RETURNING 1
    ), counted AS (
        INSERT INTO counts (survey, wave, cohort, question, value, slot, reports)
        SELECT %(survey)s, %(wave)s, cohort, question, value, %(slot)s, reports
        FROM (SELECT count(*) FROM added) AS a, unnest(
            %(cohorts)s::bigint[], %(questions)s::bigint[], %(counted)s::bigint[], %(numbers)s::bigint[]
        ) AS u (cohort, question, value, reports)
        WHERE count > 0
        ON CONFLICT (survey, wave, cohort, question, value, slot)
        DO UPDATE SET reports = counts.reports + excluded.reports
    )
    SELECT count(*) = %(size)s, 1 / CAST(count(*) IN (0, %(size)s) AS integer) FROM arrived
"""  # noqa: S608 - constants
_LOOK = f"""
    SELECT 1 / CAST(NOT (
        EXISTS (
            SELECT FROM fresh WHERE survey = %(survey)s AND report_id = ANY (%(ids)s::bytea[])
            AND xmin = pg_current_xact_id()::xid
        ) AND ({_SETTLED} OR {_WITHDRAWN})
    ) AS integer)
"""  # noqa: S608 - constants
_LOCK = "SELECT key FROM surveys WHERE key = ANY (?) AND closed_on IS NULL ORDER BY key FOR SHARE"
_INSERT = """
    INSERT INTO fresh (survey, wave, report_id, "values")
    SELECT ?, ?, * FROM unnest(?::bytea[], ?::bytea[]) ON CONFLICT DO NOTHING
"""
_WAIT = "SELECT 1 FROM fresh WHERE survey = ? AND report_id = ANY (?::bytea[]) ORDER BY report_id FOR KEY SHARE"
_IS_ANY_SETTLED = "SELECT EXISTS (SELECT FROM settled WHERE survey = ? AND report_id = ANY (?::bytea[]))"


def store_new(connection: psycopg.Connection[Any], arrivals: Sequence[ReportBatch]) -> bool:
    """Store a merged group durably; return False, with nothing stored, if not all of it is new and allowed.

    Needs a connection outside a transaction.
    """
    try:
        if len(arrivals) == 1 and arrivals[0].plan.tokens is None and not arrivals[0].plan.signed:
            # A transaction by itself, which ends with the pipeline.
            with connection.pipeline():
                stored = [_store(connection, block) for block in arrivals]
            return _are_stored(stored)
        with connection.transaction():
            if _may_be_stored(PostgresHandle(connection), arrivals) and _are_stored(
                [_store(connection, block) for block in arrivals]
            ):
                return True
            raise psycopg.Rollback
    except errors.DivisionByZero:
        return False
    return False


def insert(db: PostgresHandle, arrivals: Sequence[ReportBatch]) -> bool:
    """Insert reports that were looked up before; return False if one was stored or withdrawn elsewhere meanwhile."""
    blocks = [(block, _array(block.report_ids, ID)) for block in arrivals]
    inserted = [
        db.execute(_INSERT, [block.plan.survey, block.wave, ids, _array(block.packed, block.size)]).rowcount
        for block, ids in blocks
    ]
    settled = any(db.execute(_IS_ANY_SETTLED, [block.plan.survey, ids]).fetchone() == (True,) for block, ids in blocks)
    return inserted == [len(block) for block in arrivals] and not settled and not is_any_withdrawn(db, arrivals)


def wait_for_withdrawals(db: PostgresHandle, arrivals: Sequence[ReportBatch]) -> None:
    """Wait until transactions that are withdrawing one of these reports have ended."""
    for block in arrivals:
        db.execute(_WAIT, [block.plan.survey, _array(block.report_ids, ID)])


def _may_be_stored(db: PostgresHandle, arrivals: Sequence[ReportBatch]) -> bool:
    """Lock the surveys and spend the tokens, in the order in which a purge takes them.

    A correction waits for the lock of the first revision, or is seen after it.
    """
    surveys = sorted({block.plan.survey for block in arrivals})
    if len(db.execute(_LOCK, [surveys]).fetchall()) < len(surveys) or not spend_tokens(db, arrivals):
        return False
    return not signed(arrivals) or not has_other_revisions(db, arrivals)


def _are_stored(stored: Sequence[psycopg.Cursor[Any]]) -> bool:
    return all((each.fetchone() or (False,))[0] for each in stored)


def _store(connection: psycopg.Connection[Any], block: ReportBatch) -> psycopg.Cursor[Any]:
    added = change([block])
    of, arrived = _columns(added.cells[:, 2:].T.tolist())
    cohorts, questions, counted, numbers = _columns(added.counts[:, 2:].T.tolist())
    given = {
        "survey": block.plan.survey,
        "wave": block.wave,
        "ids": _array(block.report_ids, ID),
        "values": _array(block.packed, block.size),
        "size": len(block),
        "slot": connection.info.backend_pid % 32,
        "of": of,
        "arrived": arrived,
        "cohorts": cohorts,
        "questions": questions,
        "counted": counted,
        "numbers": numbers,
    }
    stored = connection.execute(_STORE, given)
    connection.execute(_LOOK, given)
    return stored


def _columns(columns: Iterable[Iterable[int]]) -> list[str]:
    """Return arrays as PostgreSQL writes them: the library takes as long for these as all else takes together."""
    return [f"{{{','.join(map(str, column))}}}" for column in columns]


def _array(text: bytes, size: int) -> str:
    digits = text.hex()
    parts = [digits[start : start + 2 * size] for start in range(0, len(digits), 2 * size)]
    return '{"\\\\x' + '","\\\\x'.join(parts) + '"}'
