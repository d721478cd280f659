"""Steps within a transaction, said in the SQL that both back ends share."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, Protocol

import numpy as np
from sottovoce.aggregator.storage.models import Known, ReportBatch
from sottovoce.aggregator.storage.pack_values import unpack
from sottovoce.aggregator.storage.reports.count_changes import Change

_ROWS = 500
"""So many rows a statement; every statement lets other threads run, and then waits for its turn."""

# On a shared database every process writes to a slot of its own; whoever reads adds up all slots.
_COUNTS = """
    INSERT INTO counts (survey, wave, cohort, question, value, slot, reports) VALUES {rows}
    ON CONFLICT (survey, wave, cohort, question, value, slot) DO UPDATE SET reports = counts.reports + excluded.reports
"""
_CELLS = """
    INSERT INTO cells (survey, wave, cohort, slot, arrived, withdrawn) VALUES {rows}
    ON CONFLICT (survey, wave, cohort, slot) DO UPDATE
    SET arrived = cells.arrived + excluded.arrived, withdrawn = cells.withdrawn + excluded.withdrawn
"""
_GROWN = """
    SELECT cells.cohort FROM cells LEFT JOIN shown_cells AS shown
    ON shown.survey = cells.survey AND shown.wave = cells.wave AND shown.cohort = cells.cohort
    WHERE cells.survey = ? AND cells.wave = ? AND cells.cohort IN ({marks}) GROUP BY cells.cohort
    HAVING sum(cells.arrived - cells.withdrawn) - coalesce(max(shown.arrived - shown.withdrawn), 0) >= ?
    ORDER BY cells.cohort
"""
_SHOW_CELLS = """
    INSERT INTO shown_cells (survey, wave, cohort, arrived, withdrawn)
    SELECT survey, wave, cohort, sum(arrived), sum(withdrawn) FROM cells
    WHERE survey = ? AND wave = ? AND cohort IN ({marks}) GROUP BY survey, wave, cohort ORDER BY 1, 2, 3
    ON CONFLICT (survey, wave, cohort) DO UPDATE SET arrived = excluded.arrived, withdrawn = excluded.withdrawn
"""
_SHOW_COUNTS = """
    INSERT INTO shown_counts (survey, wave, cohort, question, value, reports)
    SELECT survey, wave, cohort, question, value, sum(reports) FROM counts
    WHERE survey = ? AND wave = ? AND cohort IN ({marks}) GROUP BY survey, wave, cohort, question, value
    ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (survey, wave, cohort, question, value) DO UPDATE SET reports = excluded.reports
"""


class ResultRows(Protocol):
    """The rows of a statement."""

    @property
    def rowcount(self) -> int:
        """Rows that the statement changed."""

    def fetchone(self) -> Any:  # noqa: ANN401 - a row of whatever was asked for
        """The first row, or None."""

    def fetchmany(self, size: int) -> list[Any]:
        """The next rows, at most so many."""

    def fetchall(self) -> list[Any]:
        """All rows."""

    def __iter__(self) -> Iterator[Any]: ...


class Handle(Protocol):
    """A connection within a transaction; ``?`` stands for a bound value."""

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> ResultRows:
        """Run one statement."""

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        """Run one statement for each row; returns how many rows of the database changed."""

    def stream(self, sql: str, parameters: Sequence[Any], size: int) -> Iterator[list[Any]]:
        """
        The rows of a statement, so many at a time, without holding all of them.

        Args:
            sql: one statement.
            parameters: what is bound to its marks.
            size: rows at a time.
        """

    def known(self, survey: int, report_ids: Sequence[bytes]) -> Iterable[tuple[bytes, int, bytes]]:
        """
        (id, wave, packed values) of those of these reports that are stored, wherever they lie.

        Args:
            survey: key of a revision.
            report_ids: a few hundred at most, of 16 bytes.
        """

    def hold_ids(self, report_ids: Sequence[bytes]) -> None:
        """
        Wait until nobody else stores reports under these ids, for whatever revision, and let nobody do so until the
        end of the transaction.

        Args:
            report_ids: of 16 bytes.
        """

    def take_out(self, survey: int, report_id: bytes) -> bool:
        """
        Delete a report, wherever it lies; returns whether it was there.

        Args:
            survey: key of a revision.
            report_id: 16 bytes.
        """


MOST_KEYS = 500
"""That are looked up at once."""

_SIZES = (1, 20, MOST_KEYS)
"""For so many keys at once: few sizes, so that there are few statements to prepare."""


def for_keys(statement: str, keys: Sequence[bytes]) -> tuple[str, list[bytes]]:
    """
    A statement with a mark for each key in the place of ``{marks}``, and the keys, the last one as often as is left.

    Args:
        statement: one.
        keys: from one to ``MOST_KEYS``.
    """
    size = next(size for size in _SIZES if size >= len(keys))
    return statement.replace("{marks}", ", ".join("?" * size)), [*keys, *[keys[-1]] * (size - len(keys))]


def id_hash(report_id: bytes) -> bytes:
    """What stays of a withdrawn report's id: enough to refuse it, not enough to name it."""
    return hashlib.sha256(report_id).digest()


def find(db: Handle, survey: int, report_id: bytes) -> Known | None:
    """
    What is stored under this id, or None.

    Args:
        db: within a transaction.
        survey: key of a revision.
        report_id: 16 bytes.
    """
    row = next(iter(db.known(survey, [report_id])), None)
    return None if row is None else Known(row[1], unpack(row[2]))


def has_tombstone(db: Handle, survey: int, report_id: bytes) -> bool:
    """
    Whether the report with this id was withdrawn.

    Args:
        db: within a transaction.
        survey: key of a revision.
        report_id: 16 bytes, of which only the hash is kept.
    """
    query = "SELECT 1 FROM tombstones WHERE survey = ? AND id_hash = ?"
    return db.execute(query, [survey, id_hash(report_id)]).fetchone() is not None


def delete_tokens(db: Handle, rows: Sequence[tuple[int, bytes | None]]) -> int:
    """Spend or revoke tokens; returns how many were good."""
    return db.executemany("DELETE FROM tokens WHERE survey = ? AND token_hash = ?", rows)


def tokens_of(arrivals: Iterable[ReportBatch]) -> list[tuple[int, bytes]]:
    """(survey whose token it is, its hash) of every report that needs one; an empty hash for one that brought none."""
    asking = [(arrival.plan.tokens, arrival.tokens or (b"",) * len(arrival)) for arrival in arrivals]
    return [(survey, token) for survey, tokens in asking if survey is not None for token in tokens]


def spend_tokens(db: Handle, arrivals: Sequence[ReportBatch]) -> bool:
    """Spend the token of each report whose survey asks for one; False unless all were good and different."""
    tokens = sorted(tokens_of(arrivals))
    return delete_tokens(db, tokens) == len(tokens)


def add_token_counts(db: Handle, survey: int, created: int = 0, revoked: int = 0) -> None:
    """
    Counters only: which tokens they were is not kept. Those that were spent are the rest, and have no counter, for
    which all who store reports would wait.

    Args:
        db: within a transaction.
        survey: key of the first revision, under which tokens lie.
        created: how many more were made.
        revoked: how many more were taken back.
    """
    db.execute(
        "INSERT INTO token_counts (survey, created, revoked) VALUES (?, ?, ?) ON CONFLICT (survey) DO UPDATE"
        " SET created = token_counts.created + excluded.created, revoked = token_counts.revoked + excluded.revoked",
        [survey, created, revoked],
    )


def count_up(db: Handle, added: Change, slot: int = 0) -> None:
    """
    Add new reports to the live counts.

    The cells come first, in key order: who holds the row of a cell is alone with its counts in that slot, so that of
    two writers one waits for the other, and never each for the other.

    Args:
        db: within a transaction.
        added: what the reports add.
        slot: of the process that counts.
    """
    _fill(db, _CELLS, _in_slot(added.cells, slot, added.cells[:, -1], 0))
    _fill(db, _COUNTS, _in_slot(added.counts, slot, added.counts[:, -1]))


def count_down(db: Handle, taken: Change, slot: int = 0) -> None:
    """
    Take withdrawn reports out of the live counts: a slot may fall below zero, and never the sum of all. What is shown
    stays: a cell that shrinks never moves.

    Args:
        db: within a transaction.
        taken: what the reports added when they came.
        slot: of the process that counts.
    """
    _fill(db, _CELLS, _in_slot(taken.cells, slot, 0, taken.cells[:, -1]))
    _fill(db, _COUNTS, _in_slot(taken.counts, slot, -taken.counts[:, -1]))


def count_and_show(db: Handle, added: Change) -> None:
    """Add new reports to the live counts, and show the cells that have grown enough, where nobody else writes."""
    count_up(db, added)
    for (survey, wave), rows in groupby(added.cells[:, :3].tolist(), itemgetter(0, 1)):
        _show_grown(db, survey, wave, [cohort for *_, cohort in rows], added.batches[survey])


def _in_slot(rows: np.ndarray, slot: int, *numbers: np.ndarray | int) -> np.ndarray:
    """The keys of these rows with a slot after them, and these numbers in place of their last one."""
    columns = [np.broadcast_to(each, len(rows)) for each in (slot, *numbers)]
    return np.column_stack([rows[:, :-1], *columns])


def _show_grown(db: Handle, survey: int, wave: int, cohorts: Sequence[int], batch: int) -> None:
    # Arrivals less withdrawals: who sends and withdraws pushes nothing, and so never sees another's report alone.
    query = _GROWN.replace("{marks}", ", ".join("?" * len(cohorts)))
    grown = [cohort for (cohort,) in db.execute(query, [survey, wave, *cohorts, batch])]
    if grown:
        show(db, survey, wave, grown)


def _fill(db: Handle, statement: str, rows: np.ndarray) -> None:
    """Run an INSERT for many rows of numbers at once."""
    for start in range(0, len(rows), _ROWS):
        chunk = rows[start : start + _ROWS]
        db.execute(_for_rows(statement, *chunk.shape), chunk.ravel().tolist())


@lru_cache
def _for_rows(statement: str, rows: int, columns: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return statement.replace("{rows}", ", ".join([row] * rows))


def show(db: Handle, survey: int, wave: int, cohorts: Sequence[int]) -> None:
    """
    Copy the live counts of these cells to the shown ones.

    Args:
        db: within a transaction.
        survey: key of a revision.
        wave: of the cells.
        cohorts: of the cells.
    """
    for statement in (_SHOW_CELLS, _SHOW_COUNTS):
        db.execute(statement.replace("{marks}", ", ".join("?" * len(cohorts))), [survey, wave, *cohorts])
