"""Store the database of several aggregators in one PostgreSQL.

A group of which all is new is stored by ``store_new``; any other one is classified report by report. What has grown is
shown after that, when the reports are durable, in another transaction and thread: late, and never early. A crash
between the two leaves it late until the next group or minute. PostgreSQL notes with every row which transaction wrote
it, and rows lie in the order of writing: reports arrive in the table ``fresh`` and settle in the order of the random
ids. The view ``reports`` is both.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, ClassVar

import psycopg
from psycopg import errors
from psycopg_pool import ConnectionPool, PoolTimeout
from sottovoce.aggregator.storage import checks, sql_statements, sql_storage
from sottovoce.aggregator.storage.audit_log.events import MIGRATED, NO_ACTOR
from sottovoce.aggregator.storage.audit_log.table import append
from sottovoce.aggregator.storage.back_end import COUNTED
from sottovoce.aggregator.storage.incomplete_copy import known_version, refuse_migration, refuse_older
from sottovoce.aggregator.storage.models import ID, Outcome, ReportBatch
from sottovoce.aggregator.storage.postgres import schema, settling
from sottovoce.aggregator.storage.reports.batch_columns import Row, change, count, merge
from sottovoce.aggregator.storage.reports.classify_batch import (
    has_other_revisions,
    is_any_withdrawn,
    signed,
    store_sorted,
)
from sottovoce.aggregator.storage.sql_statements import CLOSED_CELLS, Handle, spend_tokens
from sottovoce.aggregator.storage.table_catalogue import OF_SURVEYS, SECRETS, Column
from sottovoce.shared.errors import StorageError

_AS_OF_ONE_MOMENT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
# Before the moment is chosen: until its end no file goes whose rows are elsewhere only since.
_READ_ALL = (
    _AS_OF_ONE_MOMENT,
    "SET LOCAL enable_seqscan = on",
    "LOCK TABLE reports, tokens, blind_invitations IN ACCESS SHARE MODE",
)
# Who withdraws waits for the rewriting before it reads; soon it is refused, since it holds a connection.
_WITHDRAW = ("SET LOCAL lock_timeout = '2s'", "LOCK TABLE settled, fresh IN ROW EXCLUSIVE MODE", settling.NOTE_CHANGE)
_WITH_NAMES = ("surveys", "drafts", "releases", *(each for each in OF_SURVEYS if each not in {"reports", *SECRETS}))
_DELETED_FROM = sorted({*_WITH_NAMES, "keys", "invitations", "views", "staff_sessions"})

_KINDS = {"bigint": "numbers", "integer": "numbers", "smallint": "numbers", "text": "text", "bytea": "bytes"}
_COLUMNS = """
    SELECT relname, attname, format_type(atttypid, atttypmod), coalesce(attnum = ANY (indkey), false), NOT attnotnull
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
    LEFT JOIN pg_index ON indrelid = pg_class.oid AND indisprimary
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND attnum > 0 AND NOT attisdropped
    ORDER BY relname, attnum
"""
# Keys have indexes of their own, which belong to their constraints.
_FOREIGN_INDEXES = """
    SELECT indrelid::regclass::text, indexrelid::regclass::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE relnamespace = current_schema()::regnamespace AND relname <> 'journal_days'
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid) ORDER BY 1, 2
"""

OLD_SECONDS = 300
"""Age from which a snapshot is named: no report is to be told from its neighbours for longer."""

_OLD_SNAPSHOTS = """
    SELECT 'the session ' || pid || ' has a transaction', 'select pg_terminate_backend(' || pid || ')'
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start < now() - make_interval(secs => ?)
    UNION ALL SELECT 'there is a prepared transaction', 'rollback prepared ' || quote_literal(gid)
    FROM pg_prepared_xacts WHERE database = current_database() AND prepared < now() - make_interval(secs => ?)
    UNION ALL SELECT 'there is a replication slot',
    'select pg_drop_replication_slot(' || quote_literal(slot_name) || ')'
    FROM pg_replication_slots WHERE xmin IS NOT NULL ORDER BY 1, 2
"""

LOCK = 0x50770
"""Number of the advisory lock under which one process at a time migrates."""

WAIT_SECONDS = 60
"""Seconds that a migration waits for readers of a table."""

_VERSION = "SELECT version FROM schema_version"
_SET_VERSION = "UPDATE schema_version SET version = version + %s, usable_from = %s"

PAUSE = 0.25
"""Seconds in which further reports come before all are shown at once: each time costs a sync."""

SETTLE_TIMEOUT_SECONDS = 5.0
"""Seconds for which a reader waits for counts that are being shown; then the counts shown so far are returned."""

SHOW_LOCK = 0x50772
"""First half of the number of the advisory lock under which a survey is shown; the second one is its key."""

_GROWN = """
    SELECT DISTINCT survey, batch FROM (
        SELECT survey, batch, wave, cohort, sum(arrived - withdrawn) AS reports
        FROM unnest(%s::bigint[], %s::bigint[]) AS s (survey, batch) JOIN cells USING (survey)
        GROUP BY survey, batch, wave, cohort
    ) AS live LEFT JOIN shown_cells AS shown USING (survey, wave, cohort)
    WHERE reports - coalesce(arrived - withdrawn, 0) >= batch ORDER BY survey
"""
# Another node that shows this survey, or closes or deletes it, shows these reports as well, or the next group does.
_ALONE = (
    f"SELECT pg_try_advisory_xact_lock(({SHOW_LOCK:d}::bigint << 32) + %s)",
    "SELECT true FROM surveys WHERE key = %s FOR SHARE SKIP LOCKED",
    # After the lock, for which a close waits.
    f"SELECT NOT EXISTS ({CLOSED_CELLS} %s)",
)
# One statement, which sees all slots of cells and counts as of one moment, after the locks.
_SHOW = """
    WITH live AS (
        SELECT wave, cohort, sum(arrived) AS arrived, sum(withdrawn) AS withdrawn FROM cells
        WHERE survey = %(survey)s GROUP BY wave, cohort
    ), grown AS (
        -- Arrivals less withdrawals: who sends and withdraws pushes nothing.
        SELECT live.* FROM live LEFT JOIN shown_cells AS shown
        ON shown.survey = %(survey)s AND shown.wave = live.wave AND shown.cohort = live.cohort
        WHERE live.arrived - live.withdrawn - coalesce(shown.arrived - shown.withdrawn, 0) >= %(batch)s
    ), moved AS (
        INSERT INTO shown_cells (survey, wave, cohort, arrived, withdrawn)
        SELECT %(survey)s, wave, cohort, arrived, withdrawn FROM grown
        ON CONFLICT (survey, wave, cohort)
        DO UPDATE SET arrived = excluded.arrived, withdrawn = excluded.withdrawn
    ), counted AS (
        SELECT wave, cohort, question, value, sum(reports) AS reports FROM counts JOIN grown USING (wave, cohort)
        WHERE survey = %(survey)s GROUP BY wave, cohort, question, value HAVING sum(reports) <> 0
    ), hidden AS (
        DELETE FROM shown_counts WHERE survey = %(survey)s AND (wave, cohort) IN (SELECT wave, cohort FROM grown)
        AND (wave, cohort, question, value) NOT IN (SELECT wave, cohort, question, value FROM counted)
    )
    INSERT INTO shown_counts AS shown (survey, wave, cohort, question, value, reports)
    SELECT %(survey)s, wave, cohort, question, value, reports FROM counted
    ON CONFLICT (survey, wave, cohort, question, value)
    DO UPDATE SET reports = excluded.reports WHERE shown.reports <> excluded.reports
"""

# One look into the index for each id, whatever the planner thinks of the table: it may have been empty at that moment.
_LOOK_UP = """
    EXISTS (SELECT FROM unnest(%(ids)s::bytea[]) AS u (id) CROSS JOIN LATERAL (
        SELECT FROM {} WHERE survey = %(survey)s AND report_id = u.id{} LIMIT 1
    ) AS known)
"""
_SETTLED, _FRESH = _LOOK_UP.format("settled", ""), _LOOK_UP.format("fresh", "")
_MINE = _LOOK_UP.format("fresh", " AND xmin = pg_current_xact_id()::xid")
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
        WHERE NOT {_FRESH} AND NOT {_SETTLED} AND NOT {_WITHDRAWN}
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
    SELECT 1 / CAST(NOT ({_MINE} AND ({_SETTLED} OR {_WITHDRAWN})) AS integer)
"""
_LOCK = "SELECT key FROM surveys WHERE key = ANY (?) AND closed_on IS NULL ORDER BY key FOR SHARE"
_INSERT = """
    INSERT INTO fresh (survey, wave, report_id, "values")
    SELECT ?, ?, * FROM unnest(?::bytea[], ?::bytea[]) ON CONFLICT DO NOTHING
"""
_WAIT = "SELECT 1 FROM fresh WHERE survey = ? AND report_id = ANY (?::bytea[]) ORDER BY report_id FOR KEY SHARE"
_IS_ANY_SETTLED = "SELECT EXISTS (SELECT FROM settled WHERE survey = ? AND report_id = ANY (?::bytea[]))"

NOW = "SELECT floor(extract(epoch FROM clock_timestamp()))::bigint"
"""Seconds since 1970, by the server's clock."""

# One lock for each first byte of an id, in their order: few, however large a group is. The number is 0x50773, then that
# byte.
_HOLD_IDS = """
    SELECT pg_advisory_xact_lock((329587::bigint << 32) + byte) FROM (
        SELECT byte FROM unnest(%s::bigint[]) AS byte ORDER BY byte
    ) AS sorted
"""


class PostgresHandle:
    """A connection that speaks the SQL that both back ends share."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    @property
    def slot(self) -> int:
        """Slot in the tables of counts; connections with equal slots wait for each other's rows, and count right."""
        return self._connection.info.backend_pid % 32

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
        """Run one statement and return its cursor."""
        return self._connection.execute(_marks(statement), list(parameters) or None)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> int:
        """Run one statement for each row; return how many rows changed."""
        cursor = self._connection.cursor()
        cursor.executemany(_marks(statement), rows)
        return max(cursor.rowcount, 0)

    def hold_ids(self, report_ids: Sequence[bytes]) -> None:
        """Lock these ids against other writers until the transaction ends; those with the same first byte wait too."""
        self._connection.execute(_HOLD_IDS, [sorted({each[0] for each in report_ids})])

    def stream(self, statement: str, parameters: Sequence[Any], size: int) -> Iterator[list[Any]]:
        """Yield the rows of a statement in chunks of ``size``, from a server-side cursor."""
        with self._connection.cursor("stream", binary=True) as cursor:
            cursor.execute(_marks(statement), list(parameters))
            while rows := cursor.fetchmany(size):
                yield rows


def _marks(statement: str) -> Any:  # noqa: ANN401 - the library wants literal text, which this is
    return statement.replace("?", "%s")


def store_new(connection: psycopg.Connection[Any], arrivals: Sequence[ReportBatch]) -> bool:
    """Store a merged group durably; return False, with nothing stored, if not all of it is new and allowed.

    Needs a connection outside a transaction. It takes one transaction and one round trip.

    For each survey there are two statements. The first one locks the survey, inserts the reports into ``fresh`` and
    counts them, or does nothing if one is known. The second one sees what was committed meanwhile. It looks for the
    same ids in ``settled``, where reports move from ``fresh`` at any moment, and among withdrawn ones; if it finds one,
    it fails, which undoes all. The server's log names no report then. Rows are in the order of their keys, so that two
    nodes cannot deadlock.
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


class _NotAllNewPostgres(Exception):
    """Group of which something is not new, or not allowed; nothing of it was stored."""


def insert(db: PostgresHandle, arrivals: Sequence[ReportBatch]) -> None:
    """Insert reports that were looked up; raise an error if one was stored or withdrawn elsewhere meanwhile."""
    blocks = [(block, _array(block.report_ids, ID)) for block in arrivals]
    inserted = [
        db.execute(_INSERT, [block.plan.survey, block.wave, ids, _array(block.packed, block.size)]).rowcount
        for block, ids in blocks
    ]
    settled = any(db.execute(_IS_ANY_SETTLED, [block.plan.survey, ids]).fetchone() == (True,) for block, ids in blocks)
    if settled or inserted != [len(block) for block in arrivals] or is_any_withdrawn(db, arrivals):
        raise _NotAllNewPostgres


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
    of, arrived = _columns(added.cells, 4)
    cohorts, questions, counted, numbers = _columns(added.counts, 6)
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


def _columns(rows: Sequence[Row], width: int) -> list[str]:
    """Return columns from the third on as arrays of PostgreSQL: the library takes as long for these as all else."""
    return [f"{{{','.join([str(row[place]) for row in rows])}}}" for place in range(2, width)]


def _array(text: bytes, size: int) -> str:
    digits = text.hex()
    parts = [digits[start : start + 2 * size] for start in range(0, len(digits), 2 * size)]
    return '{"\\\\x' + '","\\\\x'.join(parts) + '"}'


def show_grown(connection: psycopg.Connection[Any], batches: Mapping[int, int]) -> None:
    """Show the cells that have grown by ``release_batch``, given by survey key; outside a transaction."""
    for survey, batch in connection.execute(_GROWN, [list(batches), list(batches.values())]).fetchall():
        with connection.transaction():
            if all(connection.execute(lock, [survey]).fetchone() == (True,) for lock in _ALONE):
                connection.execute(_SHOW, {"survey": survey, "batch": batch})


class SnapshotPublisher:
    """Thread that shows what has grown of surveys, given their ``release_batch`` by their keys.

    So no group of reports waits for a second sync. It pauses first: under load most groups only say that there is more.
    """

    def __init__(self, show: Callable[[Mapping[int, int]], None]) -> None:
        self._show = show
        self._thread = ThreadPoolExecutor(1, "showing")
        self._lock = threading.Lock()
        self._wanted: dict[int, int] = {}
        self._last: Future[None] | None = None
        self._hurried = threading.Event()

    def want(self, batches: Mapping[int, int]) -> None:
        """Have these surveys shown soon."""
        with self._lock:
            is_under_way = bool(self._wanted)
            self._wanted.update(batches)
            if not is_under_way:
                self._hurried.clear()
                # Where this process is ending, another one shows: these reports are durable, and must be told so.
                with suppress(RuntimeError):
                    self._last = self._thread.submit(self._run)

    def settle(self) -> bool:
        """Wait until what was wanted is shown, or could not be; return whether that is over."""
        with self._lock:
            last = self._last
            self._hurried.set()
        return last is None or last in wait([last], SETTLE_TIMEOUT_SECONDS).done

    def end(self) -> None:
        """Show what is still wanted, and end the thread, unless it waits for a database that is silent."""
        self._thread.shutdown(wait=self.settle())

    def _run(self) -> None:
        self._hurried.wait(PAUSE)
        with self._lock:
            wanted, self._wanted = self._wanted, {}
        # The next group of reports tries again, or the next minute.
        with suppress(StorageError):
            self._show(wanted)


def check_usable(db: Handle, unfinished: bool = False) -> None:
    """Raise StorageError unless the database has this program's schema; ``unfinished`` accepts an unfinished copy."""
    version = known_version(db.execute(_VERSION).fetchone()[0], schema.VERSION, unfinished)
    if version < schema.VERSION:
        raise StorageError("the database has an older schema than this program; start the program again")


def migrate(connection: psycopg.Connection[Any], unfinished: bool, stopped: bool, migrates: bool) -> None:
    """Make the tables of a new database, or migrate one of an earlier release while no node runs, all or nothing.

    Args:
        connection: outside a transaction.
        unfinished: accept a database with an unfinished copy.
        stopped: no node runs on it, so that it may be migrated.
        migrates: False refuses a database of an earlier release.

    Raises:
        StorageError: this program cannot work with it, or a node may run on it.
    """
    try:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
            for statement in schema.VERSION_TABLE:
                connection.execute(statement)
            ((written,),) = connection.execute(_VERSION).fetchall()
            version = known_version(written, schema.VERSION, unfinished)
            if version < schema.VERSION:
                _check(version, stopped or unfinished, migrates)
                _to_present(connection, version)
    except errors.LockNotAvailable:
        raise StorageError("the database's tables are in use, and cannot be changed; is a backup under way?") from None


def _check(version: int, stopped: bool, migrates: bool) -> None:
    refuse_older(version, schema.EARLIEST)
    if version and not stopped:
        raise StorageError(
            "the database was made by an earlier release, whose nodes cannot go on beside this one: stop them all, run"
            " `sottovoce db migrate --stopped`, then start"
        )
    if not migrates:
        refuse_migration(version, schema.EARLIEST, schema.VERSION)


def _to_present(connection: psycopg.Connection[Any], version: int) -> None:
    if version == 0:
        schema.make_all(connection)
        connection.execute("INSERT INTO pulse (beat) VALUES (0)")
    else:
        connection.execute("SELECT set_config('lock_timeout', %s, true)", [f"{WAIT_SECONDS}s"])
        schema.take_over(connection)
        db = PostgresHandle(connection)
        ((seconds,),) = db.execute(NOW).fetchall()
        append(db, seconds // 86400, MIGRATED, NO_ACTOR, str(schema.VERSION))
    connection.execute(_SET_VERSION, [schema.VERSION - version, schema.VERSION])


def described(db: Handle) -> dict[str, dict[str, Column]]:
    """Return the tables that this program sees, by column; ``settled`` as ``reports``, its view."""
    tables: dict[str, dict[str, Column]] = {}
    for table, name, of, in_key, may_be_empty in db.execute(_COLUMNS):
        tables.setdefault("reports" if table == "settled" else table, {})[name] = Column(
            _KINDS.get(of, "something else"), in_key, may_be_empty
        )
    return tables


class PostgresStorage(sql_storage.Storage):
    """A PostgreSQL database; its tables are made if there are none.

    Raises StorageError if it is unreachable, of a newer schema, or of an older one that may not be migrated.

    Args:
        url: ``postgresql://...``; never repeated in a message.
        connections: the most that this process opens.
        unfinished: open it also if a copy into it was not finished.
        stopped: no node runs on it, so that it may be migrated.
        migrates: migrate a database of an earlier release.
    """

    LOCK_SURVEYS: ClassVar[str] = "LOCK TABLE record IN SHARE ROW EXCLUSIVE MODE"
    LOCK_ACCOUNTS: ClassVar[str] = "LOCK TABLE accounts, grants IN SHARE ROW EXCLUSIVE MODE"
    NEW_ID: ClassVar[str] = "uuid_send(gen_random_uuid())"
    UNTIL_END: ClassVar[str] = " FOR SHARE"
    NOW: ClassVar[str] = NOW

    def __init__(
        self, url: str, connections: int = 8, unfinished: bool = False, stopped: bool = False, migrates: bool = True
    ) -> None:
        self._pool = ConnectionPool(
            url,
            min_size=1,
            max_size=connections,
            timeout=5,
            reconnect_timeout=5,
            kwargs={"autocommit": True, "connect_timeout": 5},
            configure=_configure,
            open=True,
        )
        self._publisher = SnapshotPublisher(self.show_grown)
        self._is_closed = False
        self._tries = settling.TRIES
        # Unknown after a start.
        self._used = {*SECRETS, COUNTED}
        try:
            with self._connection() as connection:
                migrate(connection, unfinished, stopped, migrates)
        except BaseException:
            self._pool.close()
            raise

    def store(self, arrivals: Sequence[ReportBatch]) -> list[Outcome]:
        """Store a group in one durable transaction, and have shown what has grown by it."""
        try:
            with self._connection() as connection:
                is_stored = store_new(connection, merge(arrivals))
            outcomes = [Outcome.NEW] * count(arrivals) if is_stored else self._store_sorted(arrivals)
            if Outcome.NEW in outcomes:
                self._publisher.want({each.plan.survey: each.plan.release_batch for each in arrivals})
            return outcomes
        finally:
            self._note_arrivals(arrivals)

    def _store_sorted(self, arrivals: Sequence[ReportBatch]) -> list[Outcome]:
        # Another node may store one of these reports between the look-up and the insert: then all is looked up again.
        while True:
            try:
                with self.write() as db:
                    wait_for_withdrawals(db, merge(arrivals))
                    counted = partial(sql_statements.count_up, slot=db.slot)
                    return store_sorted(db, arrivals, insert, counted, self.is_open, " FOR UPDATE")
            except _NotAllNewPostgres:
                continue

    def show_grown(self, batches: Mapping[int, int]) -> None:
        """Show the cells of surveys, given their ``release_batch`` by their keys, that have grown by as many."""
        with self._connection() as connection:
            show_grown(connection, batches)

    def _catch_up(self) -> None:
        self._publisher.settle()

    def clock(self) -> float | None:
        """Return seconds since 1970 by the server's clock."""
        with self.read() as db:
            return float(db.execute("SELECT extract(epoch FROM clock_timestamp())").fetchone()[0])  # type: ignore[index]

    def settle(self) -> bool:
        """Move fresh reports in the order of their ids, and rewrite counts, tokens and invitations if used."""
        with self._connection() as connection:
            # A newer program knows columns that this one would leave out.
            check_usable(PostgresHandle(connection), unfinished=True)
            settling.settle(connection, self._tries)
        self._rewrite_used_secrets()
        # A transaction in which this node shows counts would have the server keep their former versions.
        self._publisher.settle()
        self._rewrite_used(COUNTED, self._level_counts)
        return True

    def _level_counts(self) -> None:
        with self._connection() as connection:
            settling.level_counts(connection, self._tries)

    def _rewrite_secrets(self, table: str) -> None:
        with self._connection() as connection:
            settling.rewrite(connection, table, self._tries)

    def scrub(self) -> None:
        """Settle, write all reports anew if any changed, and remove what was deleted."""
        self.settle()
        with self._connection() as connection:
            settling.sort_settled(connection)
            # Again at night, also where a node was killed that should have.
            settling.vacuum_full(connection, _DELETED_FROM, lambda: True)

    def _forget(self) -> None:
        self._soon(self._rewrite)

    def _rewrite(self) -> None:
        """Write every table anew that has rows of surveys: the old pages go with their files."""
        self._used.update(SECRETS)
        with self._connection() as connection:
            if settling.are_seen(connection, self._tries) and self._maintenance is not None:
                self._maintenance.request(self._rewrite)
                return
            settling.vacuum_full(connection, _WITH_NAMES, lambda: self._is_closed)
        self.scrub()

    def _hold(self, db: sql_statements.Handle) -> None:
        for statement in _WITHDRAW:
            db.execute(statement)

    @contextmanager
    def read_reports(self) -> Iterator[PostgresHandle]:
        """Begin a transaction that reads reports, and keeps their tables from being rewritten."""
        with self._connection() as connection, connection.transaction():
            for statement in _READ_ALL:
                connection.execute(statement)
            yield PostgresHandle(connection)

    def check(self) -> None:
        """Raise ``StorageError`` unless the database can be written to and this program can work with its schema."""
        with self.write() as db:
            check_usable(db)
            db.execute("UPDATE pulse SET beat = 1 - beat")

    def verify(self) -> list[str]:
        """Describe contradictions between the tables; damaged pages are for the server's own checks."""
        with self.read_reports() as db:
            check_usable(db)
            return checks.problems(db, described(db))

    def faults(self) -> list[str]:
        """Describe implausible rows, indexes of other programs and snapshots that delay settling, each with advice."""
        foreign = [
            f"the table {table} has an index {name}, which is none of this program's; remove it with psql: "
            f"drop index {name}"
            for table, name in self.rows_of(_FOREIGN_INDEXES)
        ]
        return [*super().faults(), *foreign, *self.old_snapshots()]

    def old_snapshots(self) -> list[str]:
        """Describe snapshots that have kept the order of arrival in the files for five minutes, each with advice."""
        return [
            f"{what} that is old, so that files keep the order of arrival; if nothing needs it, run in psql: {remedy}"
            for what, remedy in self.rows_of(_OLD_SNAPSHOTS, [OLD_SECONDS, OLD_SECONDS])
        ]

    def _version(self, db: sql_statements.Handle) -> int:
        return int((db.execute("SELECT version FROM schema_version").fetchone() or (0,))[0])

    def _set_version(self, db: sql_statements.Handle, version: int) -> None:
        db.execute("UPDATE schema_version SET version = ?", [version])

    def close(self) -> None:
        """Stop background work, settle if this process took reports, and close all connections."""
        self._publisher.end()
        self._is_closed = True
        if self._maintenance is not None:
            self._maintenance.end()
            # The end of the process waits for it.
            self._tries = 1
            with suppress(StorageError):
                self.settle()
        self._pool.close()

    def _check_known(self, db: sql_statements.Handle) -> None:
        check_usable(db)

    @contextmanager
    def read(self) -> Iterator[PostgresHandle]:
        """Begin a transaction that sees one state of the database."""
        with self._connection() as connection, connection.transaction():
            connection.execute(_AS_OF_ONE_MOMENT)
            yield PostgresHandle(connection)

    @contextmanager
    def write(self) -> Iterator[PostgresHandle]:
        """Begin a transaction that is durable once it has ended without an error."""
        with self._connection() as connection, connection.transaction():
            yield PostgresHandle(connection)

    @contextmanager
    def _connection(self) -> Iterator[psycopg.Connection[Any]]:
        try:
            with self._pool.connection() as connection:
                yield connection
        except errors.DataError:
            raise OverflowError("a value does not fit its column") from None
        except (psycopg.Error, PoolTimeout) as error:
            # The library's text may quote values; its class name says enough to an operator.
            raise StorageError(f"the database is unavailable ({type(error).__name__})") from None


def _configure(connection: psycopg.Connection[Any]) -> None:
    """Set what the server's defaults may not be.

    Nothing is acknowledged before it is synced; who has waited for a lock sees what came meanwhile; and ids are looked
    up in an index, although the planner, which has no statistics of them, thinks that many rows have the same one.
    """
    connection.execute("SET default_transaction_isolation = 'read committed'")
    # A reader that pauses keeps dead rows in the files, and so the order of arrival; a slow download may pause so long.
    connection.execute("SET idle_in_transaction_session_timeout = '5min'")
    connection.execute("SET enable_seqscan = off")
    connection.execute("SET plan_cache_mode = force_generic_plan")
    if connection.execute("SHOW synchronous_commit").fetchone() == ("off",):
        connection.execute("SET synchronous_commit = on")
