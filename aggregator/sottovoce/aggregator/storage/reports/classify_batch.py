"""
A group in which not everything is new: told apart by a few look-ups for all of it, and stored as far as it may be.

A client that repeats itself, or an attacker, must not make the others of a large group wait for a look-up each.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from sottovoce.aggregator.storage.models import Outcome, ReportBatch
from sottovoce.aggregator.storage.reports.batch_columns import merge, report_ids, split
from sottovoce.aggregator.storage.reports.count_changes import Change, change
from sottovoce.aggregator.storage.sql_statements import MOST_KEYS, Handle, for_keys, id_hash, spend_tokens

_WITHDRAWN = "SELECT id_hash FROM tombstones WHERE survey = ? AND id_hash IN ({marks})"
_TOKENS = "SELECT token_hash FROM tokens WHERE survey = ? AND token_hash IN ({marks}) ORDER BY 1"

_THERE = "SELECT 1 FROM surveys WHERE key = ?"
_OTHERS = """
    SELECT other.key FROM surveys AS own JOIN surveys AS other ON other.name = own.name
    WHERE own.key = ? AND other.key <> own.key ORDER BY 1
"""

H = TypeVar("H", bound=Handle)
Key = tuple[int, bytes]
"""(survey, id or hash)."""


def store_sorted(
    db: H,
    arrivals: Sequence[ReportBatch],
    insert: Callable[[H, Sequence[ReportBatch]], object],
    counted: Callable[[H, Change], None],
    open_query: str,
    lock: str = "",
) -> list[Outcome]:
    """
    What became of each report of a group; exact, also for copies within the group.

    Args:
        db: within a transaction.
        arrivals: the group.
        insert: the back end's quickest way to add the rows of reports that are new.
        counted: the back end's way to count them.
        open_query: asks whether a survey is open, such that it stays so.
        lock: what to add to a query so that its rows stay as they are until the end of the transaction.
    """
    reports = list(split(arrivals))
    group = _Group(db, open_query, reports, lock)
    outcomes = [group.classify(report) for report in reports]
    new = merge(report for report, outcome in zip(reports, outcomes, strict=True) if outcome is Outcome.NEW)
    spend_tokens(db, new)
    insert(db, new)
    counted(db, change(new))
    return outcomes


class _Group:
    """What the database knows of a group, and what has become of its reports so far."""

    def __init__(self, db: Handle, open_query: str, reports: Sequence[ReportBatch], lock: str) -> None:
        surveys = sorted({report.plan.survey for report in reports})
        self._open = {survey for survey in surveys if db.execute(open_query, [survey]).fetchone() is not None}
        ids = sorted(set(report_ids(reports)))
        self._others = _held(db, reports)
        ids = sorted({*ids, *((other, each) for survey, each in ids for other in self._others.get(survey, ()))})
        self._gone = {s for s in surveys if s not in self._open and db.execute(_THERE, [s]).fetchone() is None}
        self._known = {
            (survey, bytes(report_id)): (wave, bytes(packed))
            for survey, chunk in _chunks(ids)
            for report_id, wave, packed in db.known(survey, chunk)
        }
        self._withdrawn = _withdrawn(db, ids)
        tokens = {token for token in map(_token, reports) if token is not None}
        self._good = {(survey, bytes(found)) for survey, found in _look_up(db, _TOKENS + lock, sorted(tokens))}

    def classify(self, report: ReportBatch) -> Outcome:
        """The outcome of one report, which counts for those that follow it."""
        survey, token = report.plan.survey, _token(report)
        key, content = (survey, report.report_ids), (report.wave, report.packed)
        revisions = (survey, *self._others.get(survey, ()))
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
            self._good.remove(token)
        self._known[key] = content
        return Outcome.NEW


def has_other_revisions(db: Handle, arrivals: Sequence[ReportBatch]) -> bool:
    """Whether one of these reports has a signed id that a report for another revision may have."""
    return any(db.execute(_OTHERS, [survey]).fetchone() is not None for survey in signed(arrivals))


def is_any_withdrawn(db: Handle, arrivals: Sequence[ReportBatch]) -> bool:
    """Whether one of these reports has been withdrawn by now."""
    return bool(_withdrawn(db, report_ids(arrivals)))


def _held(db: Handle, reports: Sequence[ReportBatch]) -> dict[int, list[int]]:
    """
    The other revisions of surveys whose ids are signed, by their keys.

    A signature says nothing of the revision: whoever got one could have a report stored for each of them. So nobody
    else stores these ids from here on, and a revision that came meanwhile is seen.
    """
    surveys = signed(reports)
    if surveys:
        db.hold_ids([report.report_ids for report in reports if report.plan.signed])
    return {survey: [int(key) for (key,) in db.execute(_OTHERS, [survey])] for survey in surveys}


def signed(arrivals: Sequence[ReportBatch]) -> list[int]:
    """Keys of the surveys of which one id may have one report, for whichever revision."""
    return sorted({each.plan.survey for each in arrivals if each.plan.signed})


def _token(report: ReportBatch) -> Key | None:
    """(survey whose token it spends, hash), or None."""
    return None if report.plan.tokens is None else (report.plan.tokens, b"".join(report.tokens))


def _withdrawn(db: Handle, ids: Sequence[Key]) -> set[Key]:
    """(survey, hash of the id) of those that were withdrawn."""
    hashes = sorted({(survey, id_hash(report_id)) for survey, report_id in ids})
    return {(survey, bytes(found)) for survey, found in _look_up(db, _WITHDRAWN, hashes)}


def _look_up(db: Handle, query: str, keys: Sequence[Key]) -> Iterator[tuple[Any, ...]]:
    """The rows found under these keys, each with its survey before it."""
    for survey, chunk in _chunks(keys):
        statement, given = for_keys(query, chunk)
        yield from ((survey, *row) for row in db.execute(statement, [survey, *given]))


def _chunks(keys: Sequence[Key]) -> Iterator[tuple[int, list[bytes]]]:
    """Each survey with some of its keys, in their order."""
    for survey in sorted({survey for survey, _ in keys}):
        wanted = [key for of, key in keys if of == survey]
        for start in range(0, len(wanted), MOST_KEYS):
            yield survey, wanted[start : start + MOST_KEYS]
