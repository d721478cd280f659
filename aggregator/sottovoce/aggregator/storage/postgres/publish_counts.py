"""Show counts on PostgreSQL after the reports are durable, in a transaction and thread of their own.

A crash between the two leaves them late, until the next group or minute, and never early.
"""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any

import psycopg
from sottovoce.aggregator.storage.sql_statements import CLOSED_CELLS
from sottovoce.shared.errors import StorageError

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
    )
    INSERT INTO shown_counts AS shown (survey, wave, cohort, question, value, reports)
    SELECT %(survey)s, wave, cohort, question, value, sum(reports) FROM counts JOIN grown USING (wave, cohort)
    WHERE survey = %(survey)s GROUP BY wave, cohort, question, value
    ON CONFLICT (survey, wave, cohort, question, value)
    DO UPDATE SET reports = excluded.reports WHERE shown.reports <> excluded.reports
"""


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
