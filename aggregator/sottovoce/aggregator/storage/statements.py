"""Steps within a transaction, said in the SQL that both back ends share."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from sottovoce.aggregator.storage.base import Arrival, Known, Outcome
from sottovoce.aggregator.storage.rows import pack, unpack
from sottovoce.aggregator.storage.tally import Change, change


class Results(Protocol):
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

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> Results:
        """Run one statement."""

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        """Run one statement for each row; returns how many rows of the database changed."""

    def stream(self, sql: str, parameters: Sequence[Any], size: int) -> Iterator[list[Any]]:
        """The rows of a statement, so many at a time, without holding all of them."""


def id_hash(report_id: bytes) -> bytes:
    """What stays of a withdrawn report's id: enough to refuse it, not enough to name it."""
    return hashlib.sha256(report_id).digest()


def find(db: Handle, survey: int, report_id: bytes) -> Known | None:
    """What is stored under this id, or None."""
    query = 'SELECT wave, "values" FROM reports WHERE survey = ? AND report_id = ?'
    row = db.execute(query, [survey, report_id]).fetchone()
    return None if row is None else Known(row[0], unpack(row[1]))


def has_tombstone(db: Handle, survey: int, report_id: bytes) -> bool:
    """Whether the report with this id was withdrawn."""
    query = "SELECT 1 FROM tombstones WHERE survey = ? AND id_hash = ?"
    return db.execute(query, [survey, id_hash(report_id)]).fetchone() is not None


def store_each(db: Handle, open_query: str, arrivals: Sequence[Arrival]) -> list[Outcome]:
    """Classify and store a group one by one: exact, also for copies within the group, and slow."""
    outcomes = [_store_one(db, open_query, arrival) for arrival in arrivals]
    new = [arrival for arrival, outcome in zip(arrivals, outcomes, strict=True) if outcome is Outcome.NEW]
    count_up(db, change(new))
    return outcomes


def _store_one(db: Handle, open_query: str, arrival: Arrival) -> Outcome:
    plan = arrival.plan
    earlier = find(db, plan.survey, arrival.report_id)
    if earlier is not None:
        return Outcome.SAME if earlier == (arrival.wave, arrival.values) else Outcome.CONFLICT
    if has_tombstone(db, plan.survey, arrival.report_id):
        return Outcome.WITHDRAWN
    if db.execute(open_query, [plan.survey]).fetchone() is None:
        return Outcome.CLOSED
    if not spend_tokens(db, [arrival]):
        return Outcome.TOKEN_INVALID
    row = [plan.survey, arrival.report_id, arrival.wave, pack(arrival.values)]
    db.execute("INSERT INTO reports VALUES (?, ?, ?, ?)", row)
    return Outcome.NEW


def delete_tokens(db: Handle, rows: Sequence[tuple[int, bytes | None]]) -> int:
    """Spend or revoke tokens; returns how many were good."""
    return db.executemany("DELETE FROM tokens WHERE survey = ? AND token_hash = ?", rows)


def spend_tokens(db: Handle, arrivals: Sequence[Arrival]) -> bool:
    """Spend the token of each report whose survey asks for one; False unless all were good and different."""
    tokens = sorted([(plan.tokens, token) for plan, _, _, _, token in arrivals if plan.tokens is not None])
    if delete_tokens(db, tokens) != len(tokens):
        return False
    for survey, number in sorted(Counter(survey for survey, _ in tokens).items()):
        add_token_counts(db, survey, spent=number)
    return True


def add_token_counts(db: Handle, survey: int, created: int = 0, spent: int = 0, revoked: int = 0) -> None:
    """Counters only: which tokens they were is not kept."""
    db.execute(
        "INSERT INTO token_counts (survey, created, spent, revoked) VALUES (?, ?, ?, ?) ON CONFLICT (survey) DO UPDATE"
        " SET created = token_counts.created + excluded.created, spent = token_counts.spent + excluded.spent,"
        " revoked = token_counts.revoked + excluded.revoked",
        [survey, created, spent, revoked],
    )


def count_up(db: Handle, added: Change) -> None:
    """Add new reports to the live counts, and show the cells to which enough have come."""
    db.executemany(
        "INSERT INTO counts (survey, wave, cohort, question, value, reports) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (survey, wave, cohort, question, value)"
        " DO UPDATE SET reports = counts.reports + excluded.reports",
        [(*key, number) for key, number in added.counts],
    )
    for key, number in added.cells:
        pending = db.execute(
            "INSERT INTO cells (survey, wave, cohort, reports, pending) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (survey, wave, cohort) DO UPDATE SET reports = cells.reports + excluded.reports,"
            " pending = cells.pending + excluded.pending RETURNING pending",
            [*key, number, number],
        ).fetchone()[0]
        if pending >= added.batches[key[0]]:
            show(db, *key)


def show(db: Handle, survey: int, wave: int, cohort: int) -> None:
    """Copy a cell's live counts to the shown ones."""
    key = [survey, wave, cohort]
    db.execute("UPDATE counts SET shown = reports WHERE survey = ? AND wave = ? AND cohort = ?", key)
    db.execute(
        "UPDATE cells SET shown_reports = reports, shown_withdrawn = withdrawn, pending = 0"
        " WHERE survey = ? AND wave = ? AND cohort = ?",
        key,
    )


def count_down(db: Handle, taken: Change) -> None:
    """Take withdrawn reports out of the live counts, and show the cells of which enough is new."""
    db.executemany(
        "UPDATE counts SET reports = reports - ?"
        " WHERE survey = ? AND wave = ? AND cohort = ? AND question = ? AND value = ?",
        [(number, *key) for key, number in taken.counts],
    )
    for key, _ in taken.cells:
        # A withdrawal counts towards the next snapshot like an arrival: neither may be seen alone.
        pending = db.execute(
            "UPDATE cells SET reports = reports - 1, withdrawn = withdrawn + 1, pending = pending + 1"
            " WHERE survey = ? AND wave = ? AND cohort = ? RETURNING pending",
            list(key),
        ).fetchone()[0]
        if pending >= taken.batches[key[0]]:
            show(db, *key)
