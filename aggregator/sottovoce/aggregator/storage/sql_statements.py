"""Run the SQL statements that both back ends share, within a transaction; ids of reports have 16 bytes."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, Protocol

from sottovoce.aggregator.storage.models import Known, ReportBatch
from sottovoce.aggregator.storage.pack_values import unpack
from sottovoce.aggregator.storage.reports.batch_columns import Change, Row
from sottovoce.aggregator.storage.table_catalogue import fill

UNLESS_KNOWN = "ON CONFLICT DO NOTHING"
"""End of an ``insert`` of a row that may be there."""

_ROWS = 500
"""Rows a statement. Each one releases the interpreter lock and waits for it again, so few large ones are faster."""

# On PostgreSQL each process has a slot of its own, so that processes do not wait for each other's row locks;
# readers add up all slots.
_COUNTS = """
    INSERT INTO counts (survey, wave, cohort, question, value, slot, reports) VALUES {rows}
    ON CONFLICT (survey, wave, cohort, question, value, slot) DO UPDATE SET reports = counts.reports + excluded.reports
"""
_CELLS = """
    INSERT INTO cells (survey, wave, cohort, slot, arrived, withdrawn) VALUES {rows}
    ON CONFLICT (survey, wave, cohort, slot) DO UPDATE
    SET arrived = cells.arrived + excluded.arrived, withdrawn = cells.withdrawn + excluded.withdrawn
"""
_KNOWN = 'SELECT report_id, wave, "values" FROM reports WHERE survey = ? AND report_id IN ({marks})'
_TAKE = "DELETE FROM {} WHERE survey = ? AND report_id = ?"
_GROWN = """
    SELECT cells.cohort FROM cells LEFT JOIN shown_cells AS shown
    ON shown.survey = cells.survey AND shown.wave = cells.wave AND shown.cohort = cells.cohort
    WHERE cells.survey = ? AND cells.wave = ? AND cells.cohort IN ({marks}) GROUP BY cells.cohort
    HAVING sum(cells.arrived - cells.withdrawn) - coalesce(max(shown.arrived - shown.withdrawn), 0) >= ?
    ORDER BY cells.cohort
"""
CLOSED_CELLS = """
    SELECT 1 FROM surveys AS of_survey JOIN surveys AS revision ON revision.name = of_survey.name
    JOIN shown_cells ON shown_cells.survey = revision.key WHERE at_close IS NOT NULL AND of_survey.key =
"""
"""Cells of the survey of a revision, whose key follows, that a close has shown."""

WAS_CLOSED = f"SELECT EXISTS ({CLOSED_CELLS} ?)"
"""Whether the survey of a revision was closed before: what is shown of it then moves only when it is closed."""

_SHOW_CELLS = """
    INSERT INTO shown_cells (survey, wave, cohort, arrived, withdrawn)
    SELECT survey, wave, cohort, sum(arrived), sum(withdrawn) FROM cells
    WHERE survey = ? AND wave = ? AND cohort IN ({marks}) GROUP BY survey, wave, cohort ORDER BY 1, 2, 3
    ON CONFLICT (survey, wave, cohort) DO UPDATE SET arrived = excluded.arrived, withdrawn = excluded.withdrawn
"""
_HIDE_COUNTS = "DELETE FROM shown_counts WHERE survey = ? AND wave = ? AND cohort IN ({marks})"
_SHOW_COUNTS = """
    INSERT INTO shown_counts (survey, wave, cohort, question, value, reports)
    SELECT survey, wave, cohort, question, value, sum(reports) FROM counts
    WHERE survey = ? AND wave = ? AND cohort IN ({marks}) GROUP BY survey, wave, cohort, question, value
    HAVING sum(reports) <> 0 ORDER BY 1, 2, 3, 4, 5
"""

# Ordered within, since SQLite merges two ordered tables, and would sort all rows of a view.
ORDERED_REPORTS = """
    SELECT wave, "values" FROM (
        SELECT report_id, wave, "values" FROM settled WHERE survey = ?
        UNION ALL SELECT report_id, wave, "values" FROM fresh WHERE survey = ? ORDER BY report_id
    ) AS ordered
"""


class ResultRows(Protocol):
    """Result rows of one SQL statement."""

    @property
    def rowcount(self) -> int:
        """Number of rows that the statement changed."""

    def fetchone(self) -> Any:  # noqa: ANN401 - a row of whatever was asked for
        """Return the next row, or None."""

    def fetchmany(self, size: int) -> list[Any]:
        """Return the next rows, at most ``size``."""

    def fetchall(self) -> list[Any]:
        """Return all rows that remain."""

    def __iter__(self) -> Iterator[Any]: ...


class Handle(Protocol):
    """Connection within a transaction; ``?`` marks a bound value."""

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> ResultRows:
        """Run one statement and return its rows."""

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        """Run one statement for each row; return the number of rows that changed."""

    def stream(self, sql: str, parameters: Sequence[Any], size: int) -> Iterator[list[Any]]:
        """Yield the rows of a statement in chunks of ``size``, without holding all of them in memory."""

    def hold_ids(self, report_ids: Sequence[bytes]) -> None:
        """Lock these ids against other writers, for all revisions, until the end of the transaction."""

    @property
    def slot(self) -> int:
        """Slot of this connection in the tables of counts; always 0 if only one process writes."""


MOST_KEYS = 500
"""Ids that one query looks up at most."""

_SIZES = (1, 20, MOST_KEYS)
"""Numbers of keys a query may have: few, so that few statements are prepared."""


def for_keys(statement: str, keys: Sequence[bytes]) -> tuple[str, list[bytes]]:
    """Return a statement with marks in the place of ``{marks}``, and the keys, padded with repetitions of the last."""
    size = next(size for size in _SIZES if size >= len(keys))
    # Padding with a repeated key changes no result, and keeps the number of prepared statements small.
    return statement.replace("{marks}", ", ".join("?" * size)), [*keys, *[keys[-1]] * (size - len(keys))]


def id_hash(report_id: bytes) -> bytes:
    """Return the SHA-256 of a withdrawn report's id: enough to refuse the id, not enough to reveal it."""
    return hashlib.sha256(report_id).digest()


def known(db: Handle, survey: int, report_ids: Sequence[bytes]) -> ResultRows:
    """Look up reports, at most ``MOST_KEYS``; return (id, wave, packed values) of those that are stored."""
    statement, keys = for_keys(_KNOWN, report_ids)
    return db.execute(statement, [survey, *keys])


def take_out(db: Handle, survey: int, report_id: bytes) -> bool:
    """Delete a report, fresh or settled; return True if this call deleted it."""
    # In the order in which a report moves, with a statement of its own each: so it cannot be missed.
    return any(db.execute(_TAKE.format(table), [survey, report_id]).rowcount for table in ("fresh", "settled"))


def find(db: Handle, survey: int, report_id: bytes) -> Known | None:
    """Return the wave and values stored under this id, or None."""
    row = known(db, survey, [report_id]).fetchone()
    return None if row is None else Known(row[1], unpack(row[2]))


def has_tombstone(db: Handle, survey: int, report_id: bytes) -> bool:
    """Return True if the report with this id, of which the table holds only the hash, was withdrawn."""
    query = "SELECT 1 FROM tombstones WHERE survey = ? AND id_hash = ?"
    return db.execute(query, [survey, id_hash(report_id)]).fetchone() is not None


def insert(db: Handle, table: str, values: Sequence[Any], conflict: str = "") -> int:
    """Add a row, its values in the order of the catalogue's columns; return 0 if ``conflict`` says to do nothing."""
    return db.execute(fill(table, table, conflict), values).rowcount


def delete_tokens(db: Handle, rows: Sequence[tuple[int, bytes | None]]) -> int:
    """Delete tokens that were spent or revoked; return how many were valid."""
    return db.executemany("DELETE FROM tokens WHERE survey = ? AND token_hash = ?", rows)


def tokens_of(arrivals: Iterable[ReportBatch]) -> list[tuple[int, bytes]]:
    """Return (survey key, token hash) of every report that must spend a token; an empty hash if it came without."""
    asking = [(arrival.plan.tokens, arrival.tokens or (b"",) * len(arrival)) for arrival in arrivals]
    return [(survey, token) for survey, tokens in asking if survey is not None for token in tokens]


def spend_tokens(db: Handle, arrivals: Sequence[ReportBatch]) -> bool:
    """Spend the tokens of these reports; return False unless all were valid and different."""
    tokens = sorted(tokens_of(arrivals))
    return not tokens or delete_tokens(db, tokens) == len(tokens)


def count_up(db: Handle, added: Change, slot: int = 0) -> None:
    """Add new reports to the live counts.

    Cells come first, in key order: the row lock of a cell protects its counts in that slot, so that two writers cannot
    deadlock.
    """
    # Cells before counts, always: the row of a cell protects its counts (decision 0013).
    _fill(db, _CELLS, [(*cell, slot, number, 0) for *cell, number in added.cells])
    _fill(db, _COUNTS, [(*counted, slot, number) for *counted, number in added.counts])


def count_down(db: Handle, taken: Change, slot: int = 0) -> None:
    """Subtract withdrawn reports from the live counts; the count of one slot may become negative, never the sum.

    Shown counts stay as they are: a cell that shrinks is not published again.
    """
    _fill(db, _CELLS, [(*cell, slot, 0, number) for *cell, number in taken.cells])
    _fill(db, _COUNTS, [(*counted, slot, -number) for *counted, number in taken.counts])


def count_and_show(db: Handle, added: Change) -> None:
    """Add new reports to the live counts and show the cells that have grown enough; for a database with one writer."""
    count_up(db, added)
    for (survey, wave), rows in groupby([row[:3] for row in added.cells], itemgetter(0, 1)):
        _show_grown(db, survey, wave, [cohort for *_, cohort in rows], added.batches[survey])


def _show_grown(db: Handle, survey: int, wave: int, cohorts: Sequence[int], batch: int) -> None:
    # Privacy: arrivals less withdrawals, so that an attacker who sends and withdraws reports of their own cannot make
    # a cell move by one report of another respondent.
    query = _GROWN.replace("{marks}", ", ".join("?" * len(cohorts)))
    grown = [cohort for (cohort,) in db.execute(query, [survey, wave, *cohorts, batch])]
    if grown and not db.execute(WAS_CLOSED, [survey]).fetchone()[0]:
        show(db, survey, wave, grown)


def _fill(db: Handle, statement: str, rows: Sequence[Row]) -> None:
    """Run an INSERT with ``_ROWS`` rows of numbers a statement."""
    for start in range(0, len(rows), _ROWS):
        chunk = rows[start : start + _ROWS]
        db.execute(_for_rows(statement, len(chunk), len(chunk[0])), [*chain.from_iterable(chunk)])


@lru_cache
def _for_rows(statement: str, rows: int, columns: int) -> str:
    return statement.replace("{rows}", ", ".join([f"({', '.join('?' * columns)})"] * rows))


def show(db: Handle, survey: int, wave: int, cohorts: Sequence[int]) -> None:
    """Copy the live counts of these cells to the shown counts."""
    for statement in (_SHOW_CELLS, _HIDE_COUNTS, _SHOW_COUNTS):
        db.execute(statement.replace("{marks}", ", ".join("?" * len(cohorts))), [survey, wave, *cohorts])
