"""
What both back ends say in the same SQL: surveys, withdrawal, snapshots, tokens, researchers.

A back end adds how connections are kept, how a group is stored fast, and what its files need.
"""

import hashlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Protocol

from sottovoce.aggregator.storage.base import (
    ALL,
    SESSION_IDLE,
    SESSION_MOST,
    Arrival,
    Cell,
    Known,
    Outcome,
    Plan,
    StoredSurvey,
    TokenCounts,
)
from sottovoce.aggregator.storage.rows import Values, dump_values, parse_all, parse_values
from sottovoce.aggregator.storage.tally import Change, change
from sottovoce.shared.errors import StorageError
from sottovoce.shared.spec import Survey

_CHUNK = 5000

_SURVEYS = """
    SELECT key, name, revision, digest, document, closed_on, purged,
           (SELECT coalesce(CAST(sum(reports) AS bigint), 0) FROM cells WHERE survey = key AND cohort = -1)
    FROM surveys
"""


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


class SQLStorage(ABC):
    """The part of ``Storage`` that both back ends share."""

    OPEN: ClassVar[str] = "SELECT 1 FROM surveys WHERE key = ? AND closed_on IS NULL"
    """Whether a survey is open, such that it stays so until the end of the transaction."""

    @abstractmethod
    def _read(self) -> AbstractContextManager[Handle]:
        """A transaction that sees one state of the database."""

    @abstractmethod
    def _write(self) -> AbstractContextManager[Handle]:
        """A transaction that is durable once it has ended without an error."""

    @abstractmethod
    def scrub(self) -> None:
        """Remove what was deleted, and the order of what was written, from the files."""

    def _after_deletion(self) -> None:  # noqa: B027 - nothing is a fine answer
        """What can be done at once about deleted rows; the rest is left to the next ``scrub``."""

    # Surveys

    def publish(self, survey: Survey) -> StoredSurvey:
        """Make a survey available."""
        with self._write() as db:
            rows = db.execute("SELECT revision, digest FROM surveys WHERE name = ?", [survey.name]).fetchall()
            if (survey.revision, survey.digest) not in rows:
                if any(revision >= survey.revision for revision, _ in rows):
                    raise StorageError("a changed survey must be published with a higher revision")
                db.execute(
                    "INSERT INTO surveys (key, name, revision, digest, document)"
                    " SELECT coalesce(max(key), 0) + 1, ?, ?, ?, ? FROM surveys",
                    [survey.name, survey.revision, survey.digest, survey.canonical],
                )
        return next(row for row in self.revisions(survey.name) if row.digest == survey.digest)

    def surveys(self) -> list[StoredSurvey]:
        """All published surveys, by name and revision."""
        return self._surveys(f"{_SURVEYS} ORDER BY name, revision", [])

    def revisions(self, name: str) -> list[StoredSurvey]:
        """All revisions of one survey, oldest first."""
        return self._surveys(f"{_SURVEYS} WHERE name = ? ORDER BY revision", [name])

    def close_survey(self, name: str, day: int) -> None:
        """Admit no more reports, and show all counts."""
        with self._write() as db:
            db.execute("UPDATE surveys SET closed_on = ? WHERE name = ? AND closed_on IS NULL", [day, name])
            cells = db.execute(
                "SELECT survey, wave, cohort FROM cells JOIN surveys ON key = survey WHERE name = ? ORDER BY 1, 2, 3",
                [name],
            ).fetchall()
            for cell in cells:
                show(db, *cell)
        self.scrub()

    def _surveys(self, query: str, arguments: list[str]) -> list[StoredSurvey]:
        with self._read() as db:
            rows = db.execute(query, arguments).fetchall()
        return [_stored(*row) for row in rows]

    # Reports

    def find_report(self, survey: int, report_id: bytes) -> Known | None:
        """What is stored under this id, or None."""
        with self._read() as db:
            return find(db, survey, report_id)

    def is_withdrawn(self, survey: int, report_id: bytes) -> bool:
        """Whether the report with this id was withdrawn."""
        with self._read() as db:
            return has_tombstone(db, survey, report_id)

    def withdraw(self, plan: Plan, report_id: bytes) -> Outcome:
        """Take a report out of rows and counts."""
        with self._write() as db:
            if has_tombstone(db, plan.survey, report_id):
                return Outcome.WITHDRAWN
            is_open = db.execute(self.OPEN, [plan.survey]).fetchone()
            found = find(db, plan.survey, report_id)
            if found is None or not is_open:
                return Outcome.UNKNOWN if found is None else Outcome.CLOSED
            key = [plan.survey, report_id]
            # On PostgreSQL another node may have been faster: then nothing is deleted, and nothing counted down.
            if db.execute("DELETE FROM reports WHERE survey = ? AND report_id = ?", key).rowcount == 1:
                db.execute("INSERT INTO tombstones VALUES (?, ?)", [plan.survey, id_hash(report_id)])
                _count_down(db, change([Arrival(plan, found.wave, report_id, found.values)]))
        self._after_deletion()
        return Outcome.WITHDRAWN

    def rows(self, survey: int) -> Iterator[Values]:
        """The values of every stored report, in the order of the random ids."""
        with self._read() as db:
            found = db.execute('SELECT "values" FROM reports WHERE survey = ? ORDER BY report_id', [survey])
            while texts := found.fetchmany(_CHUNK):
                yield from parse_all([text for (text,) in texts])

    # Counts

    def cells(self, survey: int) -> list[Cell]:
        """The shown counts, by wave and cohort."""
        with self._read() as db:
            rows = db.execute(
                "SELECT wave, cohort, shown_reports, shown_withdrawn FROM cells WHERE survey = ? ORDER BY wave, cohort",
                [survey],
            ).fetchall()
            counts = db.execute(
                # A row whose shown count is still 0 would tell that a new value has come.
                "SELECT wave, cohort, question, value, shown FROM counts WHERE survey = ? AND shown > 0",
                [survey],
            ).fetchall()
        return [
            Cell(wave, cohort, reports, withdrawn, _tallies(row[2:] for row in counts if row[:2] == (wave, cohort)))
            for wave, cohort, reports, withdrawn in rows
        ]

    def live_counts(self, survey: int) -> dict[int, dict[int, int]]:
        """The live counts of all respondents and waves."""
        with self._read() as db:
            return _tallies(
                db.execute(
                    "SELECT question, value, CAST(sum(reports) AS bigint) FROM counts WHERE survey = ? AND cohort = ?"
                    " GROUP BY question, value HAVING sum(reports) > 0",
                    [survey, ALL],
                )
            )

    # Tokens

    def add_tokens(self, survey: int, hashes: Sequence[bytes]) -> None:
        """Make these tokens good for one report each."""
        with self._write() as db:
            # In the order of the hashes, which is not that of the list that people were given.
            db.executemany("INSERT INTO tokens VALUES (?, ?)", [(survey, token) for token in sorted(hashes)])
            add_token_counts(db, survey, created=len(hashes))

    def revoke_tokens(self, survey: int, hashes: Sequence[bytes]) -> int:
        """Take tokens back; returns how many were still good."""
        with self._write() as db:
            revoked = delete_tokens(db, [(survey, token) for token in sorted(set(hashes))])
            add_token_counts(db, survey, revoked=revoked)
        self._after_deletion()
        return revoked

    def has_token(self, survey: int, token: bytes) -> bool:
        """Whether a token is good."""
        with self._read() as db:
            query = "SELECT 1 FROM tokens WHERE survey = ? AND token_hash = ?"
            return db.execute(query, [survey, token]).fetchone() is not None

    def token_counts(self, survey: int) -> TokenCounts:
        """How many tokens there are of each kind."""
        with self._read() as db:
            query = "SELECT created, spent, revoked FROM token_counts WHERE survey = ?"
            created, spent, revoked = db.execute(query, [survey]).fetchone() or (0, 0, 0)
            unspent = db.execute("SELECT count(*) FROM tokens WHERE survey = ?", [survey]).fetchone()[0]
        return TokenCounts(created, spent, revoked, unspent)

    # Researchers

    def add_researcher(self, name: str, token_hash: bytes) -> None:
        """Let a researcher in by the hash of a token."""
        with self._write() as db:
            db.execute("INSERT INTO researchers (token_hash, name) VALUES (?, ?)", [token_hash, name])

    def researcher(self, token_hash: bytes) -> str | None:
        """The researcher's name, or None."""
        with self._read() as db:
            row = db.execute("SELECT name FROM researchers WHERE token_hash = ?", [token_hash]).fetchone()
        return None if row is None else str(row[0])

    def has_researchers(self) -> bool:
        """Whether anybody can be let in."""
        with self._read() as db:
            return db.execute("SELECT 1 FROM researchers LIMIT 1").fetchone() is not None

    def start_session(self, session_hash: bytes, researcher: str, now: int) -> None:
        """Remember a dashboard session."""
        with self._write() as db:
            db.execute("DELETE FROM sessions WHERE used < ? OR started < ?", [now - SESSION_IDLE, now - SESSION_MOST])
            db.execute("INSERT INTO sessions VALUES (?, ?, ?, ?)", [session_hash, researcher, now, now])

    def session(self, session_hash: bytes, now: int) -> str | None:
        """The researcher of a live session, or None."""
        with self._read() as db:
            row = db.execute(
                "SELECT researcher, used FROM sessions WHERE session_hash = ? AND used >= ? AND started >= ?",
                [session_hash, now - SESSION_IDLE, now - SESSION_MOST],
            ).fetchone()
        if row is None:
            return None
        if row[1] < now - 60:
            with self._write() as db:
                db.execute("UPDATE sessions SET used = ? WHERE session_hash = ?", [now, session_hash])
        return str(row[0])

    def end_session(self, session_hash: bytes) -> None:
        """Forget a session."""
        with self._write() as db:
            db.execute("DELETE FROM sessions WHERE session_hash = ?", [session_hash])


def _stored(key: int, name: str, revision: int, digest: str, *rest: Any) -> StoredSurvey:  # noqa: ANN401 - a row
    document, closed_on, purged, reports = rest
    return StoredSurvey(key, name, revision, digest, document, closed_on is not None, reports, closed_on, bool(purged))


def id_hash(report_id: bytes) -> bytes:
    """What stays of a withdrawn report's id: enough to refuse it, not enough to name it."""
    return hashlib.sha256(report_id).digest()


def find(db: Handle, survey: int, report_id: bytes) -> Known | None:
    """What is stored under this id, or None."""
    query = 'SELECT wave, "values" FROM reports WHERE survey = ? AND report_id = ?'
    row = db.execute(query, [survey, report_id]).fetchone()
    return None if row is None else Known(row[0], parse_values(row[1]))


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
    row = [plan.survey, arrival.report_id, arrival.wave, dump_values(arrival.values)]
    db.execute("INSERT INTO reports VALUES (?, ?, ?, ?)", row)
    return Outcome.NEW


def delete_tokens(db: Handle, rows: Sequence[tuple[int, bytes | None]]) -> int:
    """Spend or revoke tokens; returns how many were good."""
    return db.executemany("DELETE FROM tokens WHERE survey = ? AND token_hash = ?", rows)


def spend_tokens(db: Handle, arrivals: Sequence[Arrival]) -> bool:
    """Spend the token of each report whose survey asks for one; False unless all were good and different."""
    tokens = sorted((plan.tokens, token) for plan, *_, token in arrivals if plan.tokens is not None)
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


def _count_down(db: Handle, taken: Change) -> None:
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


def _tallies(rows: Iterable[tuple[int, int, int]]) -> dict[int, dict[int, int]]:
    tallies: dict[int, dict[int, int]] = {}
    for question, value, count in rows:
        tallies.setdefault(int(question), {})[int(value)] = count
    return tallies
