"""
From the bytes of a request to a stored report, or a reason from the closed list.

The order matters: a report that is known already is acknowledged again even after the survey has closed or with a
token that is spent, so that a respondent whose receipt was lost on the way is never told that the report was. To ask
the database first for every report would cost each of them a read; so the checks that need none come first, and a
report that fails one is refused only after it has been looked up. The rest is decided within the transaction that
stores it.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec
from sottovoce.aggregator.published import Published, counted, survey_of
from sottovoce.aggregator.storage import Arrival, Outcome, Storage, StoredSurvey
from sottovoce.aggregator.wire import (
    Receipt,
    Wire,
    dump,
    make_receipt,
    parse_batch,
    parse_item,
    parse_report,
    parse_withdrawal,
)
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.tokens import token_hash

Clock = Callable[[], datetime]
Store = Callable[[Sequence[Arrival]], list[Outcome]]

REFUSALS = {
    Outcome.CONFLICT: ("id_conflict", "another report has this id; the first one stays"),
    Outcome.WITHDRAWN: ("withdrawn", "the report with this id was withdrawn"),
    Outcome.CLOSED: ("closed", "the survey is not open"),
    Outcome.TOKEN_INVALID: ("token_invalid", "the survey asks for a token that has not been used"),
}


class _Candidate(NamedTuple):
    """A report that only the transaction can still refuse."""

    arrival: Arrival
    receipt: Receipt


class Admission:
    """
    Admits reports.

    Args:
        storage: where reports are kept.
        clock: the present moment, with its time zone; the respondent's own clock decides nothing.
        store: stores a group; the writer's way in, or the storage's own.
    """

    def __init__(self, storage: Storage, clock: Clock, store: Store | None = None) -> None:
        self._storage = storage
        self._clock = clock
        self._store = store or storage.store
        self._published: dict[str, tuple[Published, ...]] = {}
        self.rejected: Counter[str] = Counter()

    def admit(self, name: str, body: bytes, token: str = "") -> dict[str, Any]:
        """
        The receipt for the report in ``body``, stored durably.

        Raises:
            ReportRejected: the reason is counted; nothing of the report is kept.
            StorageError: not stored.
        """
        try:
            judged = self._judge(name, parse_report(body), body, token)
            reply = self._settle([judged])[0] if isinstance(judged, _Candidate) else judged
            if isinstance(reply, ReportRejected):
                raise reply
        except ReportRejected as rejection:
            self.rejected[rejection.code] += 1
            raise
        return msgspec.structs.asdict(reply)

    def admit_batch(self, name: str, body: bytes) -> bytes:
        """
        The replies to a batch of reports, in its order: a receipt, or ``{"code": reason}``.

        Raises:
            ReportRejected: the batch as a whole; nothing of it is kept.
            StorageError: nothing of it is stored.
        """
        try:
            judged = [self._judge_item(name, raw) for raw in parse_batch(body)]
            candidates = [item for item in judged if isinstance(item, _Candidate)]
            settled = iter(self._settle(candidates) if candidates else [])
        except ReportRejected as rejection:
            self.rejected[rejection.code] += 1
            raise
        replies = [next(settled) if isinstance(item, _Candidate) else item for item in judged]
        self.rejected.update(reply.code for reply in replies if isinstance(reply, ReportRejected))
        items = [reply if isinstance(reply, Receipt) else {"code": reply.code} for reply in replies]
        return dump({"format": "sottovoce-batch-receipt/1", "items": items})

    def withdraw(self, name: str, body: bytes) -> dict[str, Any] | None:
        """
        The confirmation that a report is withdrawn, the same every time; None if there is no such report.

        Raises:
            ReportRejected: malformed, unknown survey, or closed.
            StorageError: not withdrawn.
        """
        try:
            report_id = parse_withdrawal(body)
            outcome = self._withdraw(name, bytes.fromhex(report_id))
            if outcome is Outcome.UNKNOWN:
                return None
            if outcome is not Outcome.WITHDRAWN:
                raise ReportRejected(*REFUSALS[outcome])
        except ReportRejected as rejection:
            self.rejected[rejection.code] += 1
            raise
        return {"format": "sottovoce-withdrawal/1", "survey": name, "report_id": report_id}

    def _judge_item(self, name: str, raw: msgspec.Raw) -> _Candidate | Receipt | ReportRejected:
        try:
            item = parse_item(raw)
            return self._judge(name, parse_report(item.report), bytes(item.report), item.token, padded=False)
        except ReportRejected as rejection:
            return rejection

    def _judge(self, name: str, wire: Wire, body: bytes, token: str, padded: bool = True) -> _Candidate | Receipt:
        """What can be said of a report before the transaction; in a batch its bytes come without their padding."""
        published = self._find(name, wire)
        length = published.length(wire.wave)
        if not padded:
            body = body.ljust(length)
        if len(body) != length:
            raise ReportRejected("malformed", "the report does not have the length of this survey's reports")
        hashed = None if published.plan.tokens is None else token_hash(token)
        arrival = Arrival(published.plan, wire.wave, bytes.fromhex(wire.report_id), wire.values, hashed)
        candidate = _Candidate(arrival, make_receipt(wire, body))
        try:
            self._check_open(published)
            published.check_values(wire.values)
        except ReportRejected as rejection:
            return self._look_up(candidate, rejection)
        return candidate

    def _look_up(self, candidate: _Candidate, rejection: ReportRejected) -> Receipt:
        """The receipt after all, if the report is known; otherwise the reason that comes first."""
        arrival = candidate.arrival
        key = (arrival.plan.survey, arrival.report_id)
        known = self._storage.find_report(*key)
        if known is not None:
            if known != (arrival.wave, arrival.values):
                raise ReportRejected(*REFUSALS[Outcome.CONFLICT])
            return candidate.receipt
        if self._storage.is_withdrawn(*key):
            raise ReportRejected(*REFUSALS[Outcome.WITHDRAWN])
        if rejection.code != "closed" and not self._has_token(arrival):
            raise ReportRejected(*REFUSALS[Outcome.TOKEN_INVALID])
        raise rejection

    def _has_token(self, arrival: Arrival) -> bool:
        tokens = arrival.plan.tokens
        return tokens is None or self._storage.has_token(tokens, arrival.token or b"")

    def _settle(self, candidates: list[_Candidate]) -> list[Receipt | ReportRejected]:
        """Store what nothing speaks against; what the transaction found, for each in order."""
        outcomes = self._store([candidate.arrival for candidate in candidates])
        if Outcome.CLOSED in outcomes:
            self._published.clear()
        return [
            candidate.receipt if outcome in {Outcome.NEW, Outcome.SAME} else ReportRejected(*REFUSALS[outcome])
            for candidate, outcome in zip(candidates, outcomes, strict=True)
        ]

    def _withdraw(self, name: str, report_id: bytes) -> Outcome:
        revisions = self._revisions(name)
        for published in reversed(revisions):
            key = published.stored.key
            if self._storage.is_withdrawn(key, report_id):
                return Outcome.WITHDRAWN
            if self._storage.find_report(key, report_id) is not None:
                self._check_open(published)
                return self._storage.withdraw(published.plan, report_id)
        # Once ids are gone nobody can tell whether this one was ever known.
        return Outcome.CLOSED if revisions[-1].stored.purged else Outcome.UNKNOWN

    def _find(self, name: str, wire: Wire) -> Published:
        if wire.survey != name:
            raise _unknown_survey()
        # What is remembered may be out of date in one way that matters here: a revision that is not yet in it.
        for revisions in (self._published.get, self._revisions):
            for published in reversed(revisions(name) or ()):
                if published.stored.digest == wire.digest:
                    return published
        raise ReportRejected("digest_mismatch", "the report is for another version of this survey")

    def _revisions(self, name: str) -> tuple[Published, ...]:
        stored = self._storage.revisions(name)
        if not stored:
            raise _unknown_survey()
        revisions = tuple(Published(revision, stored[0].key) for revision in stored)
        self._published[name] = revisions
        return revisions

    def _check_open(self, published: Published) -> None:
        now = self._clock()
        survey = published.survey
        early = survey.opens is not None and now < survey.opens
        late = survey.closes is not None and now >= survey.closes
        if published.stored.closed or early or late:
            raise ReportRejected(*REFUSALS[Outcome.CLOSED])


def recount(storage: Storage, stored: StoredSurvey) -> dict[int, dict[int, int]]:
    """The counts of a survey, made anew from its stored rows: for checks of the kept ones."""
    survey = survey_of(stored.document)
    tallies: dict[int, dict[int, int]] = {}
    for values in storage.rows(stored.key):
        for question, value in counted(survey, values):
            tally = tallies.setdefault(question, {})
            tally[value] = tally.get(value, 0) + 1
    return tallies


def now() -> datetime:
    """The present moment."""
    return datetime.now(UTC)


def _unknown_survey() -> ReportRejected:
    return ReportRejected("unknown_survey", "no survey has this name")
