"""Classify each report of a group that is not all new, then store those that are: the slow path.

A few queries look up the whole group, so that a client that repeats reports, or an attacker, cannot delay the other
reports of a large group by one query each.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from sottovoce.aggregator.storage.models import Outcome, ReportBatch
from sottovoce.aggregator.storage.reports.batch_columns import Change, change, merge, report_ids, split
from sottovoce.aggregator.storage.sql_statements import MOST_KEYS, Handle, for_keys, id_hash, known, spend_tokens

_WITHDRAWN = "SELECT id_hash FROM tombstones WHERE survey = ? AND id_hash IN ({marks})"
_TOKENS = "SELECT token_hash FROM tokens WHERE survey = ? AND token_hash IN ({marks}) ORDER BY 1"

_THERE = "SELECT 1 FROM surveys WHERE key = ?"
_OTHERS = """
    SELECT other.key FROM surveys AS own JOIN surveys AS other ON other.name = own.name
    WHERE own.key = ? AND other.key <> own.key ORDER BY 1
"""

H = TypeVar("H", bound=Handle)
RowKey = tuple[int, bytes]
"""Pair of survey key and an id or hash."""


def store_sorted(
    db: H,
    arrivals: Sequence[ReportBatch],
    insert: Callable[[H, Sequence[ReportBatch]], object],
    counted: Callable[[H, Change], None],
    is_open: Callable[[Handle, int], bool],
    lock: str = "",
) -> list[Outcome]:
    """Store the new reports of a group and return an outcome for each report, copies within the group included.

    Args:
        db: within a transaction.
        insert: adds the rows of new reports; the back end's fastest way.
        counted: adds new reports to the counts.
        is_open: returns True if a survey is open, and keeps it open until the transaction ends.
        lock: appended to the query for tokens, to lock their rows until the end of the transaction.
    """
    # Report by report, because each outcome may depend on an earlier report of the same group.
    reports = list(split(arrivals))
    group = _Group(db, is_open, reports, lock)
    outcomes = [group.classify(report) for report in reports]
    # Merged again, sorted by random id: row order must not show the order of arrival.
    new = merge(report for report, outcome in zip(reports, outcomes, strict=True) if outcome is Outcome.NEW)
    spend_tokens(db, new)
    insert(db, new)
    counted(db, change(new))
    return outcomes


class _Group:
    """State of the database for a group of reports, updated as the reports are classified."""

    def __init__(
        self, db: Handle, is_open: Callable[[Handle, int], bool], reports: Sequence[ReportBatch], lock: str
    ) -> None:
        surveys = sorted({report.plan.survey for report in reports})
        self._open = {survey for survey in surveys if is_open(db, survey)}
        ids = sorted(set(report_ids(reports)))
        self._others = _lock_signed_ids(db, reports)
        ids = sorted({*ids, *((other, each) for survey, each in ids for other in self._others.get(survey, ()))})
        self._gone = {s for s in surveys if s not in self._open and db.execute(_THERE, [s]).fetchone() is None}
        self._known = {
            (survey, bytes(report_id)): (wave, bytes(packed))
            for survey, chunk in _chunks(ids)
            for report_id, wave, packed in known(db, survey, chunk)
        }
        self._withdrawn = _withdrawn(db, ids)
        tokens = {token for token in map(_token, reports) if token is not None}
        # Sorted: with ``lock`` two writers take the rows of tokens in one order and cannot deadlock.
        self._good = {(survey, bytes(found)) for survey, found in _rows_for_keys(db, _TOKENS + lock, sorted(tokens))}

    def classify(self, report: ReportBatch) -> Outcome:
        """Return the outcome of one report; later reports of the group see it as stored."""
        survey, token = report.plan.survey, _token(report)
        key, content = (survey, report.report_ids), (report.wave, report.packed)
        revisions = (survey, *self._others.get(survey, ()))
        # Known ids come first: a repeated report gets its receipt again even after the close or with a spent token.
        if key in self._known:
            return Outcome.SAME if self._known[key] == content else Outcome.CONFLICT
        if any((each, report.report_ids) in self._known for each in revisions):
            return Outcome.CONFLICT
        if self._withdrawn and any((each, id_hash(report.report_ids)) in self._withdrawn for each in revisions):
            return Outcome.WITHDRAWN
        if survey not in self._open:
            return Outcome.UNKNOWN if survey in self._gone else Outcome.CLOSED
        if token is not None:
            if token not in self._good:
                return Outcome.TOKEN_INVALID
            # A second report of the group with the same token is refused here, before the database sees it.
            self._good.remove(token)
        self._known[key] = content
        return Outcome.NEW


def has_other_revisions(db: Handle, arrivals: Sequence[ReportBatch]) -> bool:
    """Return True if a report has a signed id and its survey has other revisions, which the id may also occur in."""
    return any(db.execute(_OTHERS, [survey]).fetchone() is not None for survey in signed(arrivals))


def is_any_withdrawn(db: Handle, arrivals: Sequence[ReportBatch]) -> bool:
    """Return True if any of these reports was withdrawn."""
    return bool(_withdrawn(db, report_ids(arrivals)))


def _lock_signed_ids(db: Handle, reports: Sequence[ReportBatch]) -> dict[int, list[int]]:
    """Lock signed ids and return the other revisions of their surveys, by survey key.

    A signature does not name a revision, so a respondent could use one id for a report to each revision. After the lock
    no other writer stores these ids; the query after it sees revisions that were published meanwhile.
    """
    surveys = signed(reports)
    if surveys:
        # Before the query for revisions: one that is published in between is then seen.
        db.hold_ids([report.report_ids for report in reports if report.plan.signed])
    return {survey: [int(key) for (key,) in db.execute(_OTHERS, [survey])] for survey in surveys}


def signed(arrivals: Sequence[ReportBatch]) -> list[int]:
    """Return the keys of surveys with signed ids, where an id may have one report across all revisions."""
    return sorted({each.plan.survey for each in arrivals if each.plan.signed})


def _token(report: ReportBatch) -> RowKey | None:
    """Return (survey key, hash) of the token that a report spends, or None."""
    return None if report.plan.tokens is None else (report.plan.tokens, b"".join(report.tokens))


def _withdrawn(db: Handle, ids: Sequence[RowKey]) -> set[RowKey]:
    """Return (survey key, hash of the id) of the withdrawn reports among these ids."""
    # Tombstones hold hashes only, so that a withdrawn id cannot be read from the database.
    hashes = sorted({(survey, id_hash(report_id)) for survey, report_id in ids})
    return {(survey, bytes(found)) for survey, found in _rows_for_keys(db, _WITHDRAWN, hashes)}


def _rows_for_keys(db: Handle, query: str, keys: Sequence[RowKey]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query for these keys, each preceded by its survey key."""
    for survey, chunk in _chunks(keys):
        statement, parameters = for_keys(query, chunk)
        yield from ((survey, *row) for row in db.execute(statement, [survey, *parameters]))


def _chunks(keys: Sequence[RowKey]) -> Iterator[tuple[int, list[bytes]]]:
    """Yield each survey with its keys in chunks of ``MOST_KEYS``, in order."""
    for survey in sorted({survey for survey, _ in keys}):
        wanted = [key for of, key in keys if of == survey]
        for start in range(0, len(wanted), MOST_KEYS):
            yield survey, wanted[start : start + MOST_KEYS]
