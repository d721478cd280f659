"""
From the bytes of a request to a stored report, or a reason from the closed list.

The order matters: a report that is known already is acknowledged again even after the survey has closed or with a
token that is spent, so that a respondent whose receipt was lost on the way is never told that the report was. To ask
the database first for every report would cost each of them a read; so the checks that need none come first, and a
report that fails one is refused only after it has been looked up. The rest is decided within the transaction that
stores it.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from sottovoce.aggregator.clock import Clock
from sottovoce.aggregator.collect.decode import (
    MOST_ITEMS,
    Item,
    Receipt,
    Wire,
    dump,
    make_receipt,
    malformed,
    parse_batch,
    parse_report,
    parse_withdrawal,
    ready,
    report_bytes,
)
from sottovoce.aggregator.collect.fast_batch import Alike, split_alike
from sottovoce.aggregator.collect.survey_rules import Published
from sottovoce.aggregator.storage import Arrival, Outcome, Plan, Storage
from sottovoce.aggregator.storage.base import ID
from sottovoce.aggregator.storage.columns import cut
from sottovoce.aggregator.storage.rows import pack
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.report import MAX_WAVE
from sottovoce.shared.tokens import token_hash

R = TypeVar("R")
Submit = Callable[[Sequence[Arrival]], Future[list[Outcome]]]

ADMITTED = (Outcome.NEW, Outcome.SAME)
REFUSALS = {
    Outcome.CONFLICT: ("id_conflict", "another report has this id; the first one stays"),
    Outcome.WITHDRAWN: ("withdrawn", "the report with this id was withdrawn"),
    Outcome.CLOSED: ("closed", "the survey is not open"),
    Outcome.TOKEN_INVALID: ("token_invalid", "the survey asks for a token that has not been used"),
}


class WouldRead(Exception):
    """To go on, the database would have to be read."""


class _Candidate(NamedTuple):
    """A report that only the transaction can still refuse."""

    arrival: Arrival
    receipt: Receipt


class Pending:
    """
    Reports on their way into the database.

    Args:
        future: done when they are durable, or failed.
        reply: makes the answer from what became of each of them.
    """

    def __init__(self, future: Future[list[Outcome]], reply: Callable[[list[Outcome]], bytes]) -> None:
        self.future = future
        self._reply = reply

    def reply(self) -> bytes:
        """
        The answer as JSON, once the reports are durable.

        Raises:
            ReportRejected: the transaction refused the one report.
            StorageError: not stored.
        """
        return self._reply(self.future.result())


class Admission:
    """
    Admits reports.

    Args:
        storage: where reports are kept.
        clock: the present moment, with its time zone; the respondent's own clock decides nothing.
        submit: takes a group to be stored; the writer's way in, or else the storage's own, at once.
    """

    def __init__(self, storage: Storage, clock: Clock, submit: Submit | None = None) -> None:
        self._storage = storage
        self._clock = clock
        self._submit = submit or _at_once(storage)
        self._published: dict[str, tuple[Published, ...]] = {}
        self.rejected: Counter[str] = Counter()

    def admit(self, name: str, body: bytes, token: str = "") -> dict[str, Any]:
        """
        The receipt for the report in ``body``, stored durably.

        Raises:
            ReportRejected: the reason is counted; nothing of the report is kept.
            StorageError: not stored.
        """
        receipt: dict[str, Any] = json.loads(self.begin(name, body, token).reply())
        return receipt

    def begin(self, name: str, body: bytes, token: str = "", may_read: bool = True) -> Pending:
        """
        The same without waiting for the report to be stored: nothing is acknowledged until the reply is asked for.

        Unless it ``may_read``, the database is not asked about a survey that is not remembered or a report that fails a
        check.

        Raises:
            ReportRejected: as far as it can be told without the transaction.
            WouldRead: it may not, and would have to; nothing was done.
        """
        with self._counting():
            wire = parse_report(body)
            published = self._find(name, wire.survey, wire.digest, may_read)
            judged = self._judge(published, wire, body, token, self._clock(), may_read)
            if isinstance(judged, Receipt):
                return Pending(_done([]), lambda _: dump(judged))
            future = self._submit([judged.arrival])
        return Pending(future, lambda outcomes: self._single_reply(judged, outcomes))

    def begin_batch(self, name: str, body: bytes) -> Pending:
        """
        Up to 1,000 reports; the reply has, in their order, a receipt or ``{"code": reason}`` for each.

        Raises:
            ReportRejected: the batch as a whole; nothing of it is kept.
        """
        with self._counting():
            now = self._clock()
            alike = split_alike(body, MOST_ITEMS)
            begun = None if alike is None else self._begin_alike(name, alike, now)
            if begun is not None:
                return begun
            judged = [self._judge_item(name, item, now) for item in parse_batch(body)]
            arrivals = [item.arrival for item in judged if isinstance(item, _Candidate)]
            future = self._submit(arrivals) if arrivals else _done([])
        return Pending(future, lambda outcomes: self._batch_reply(judged, outcomes))

    def withdraw(self, name: str, body: bytes) -> dict[str, Any] | None:
        """
        The confirmation that a report is withdrawn, the same every time; None if there is no such report.

        Raises:
            ReportRejected: malformed, unknown survey, or closed.
            StorageError: not withdrawn.
        """
        with self._counting():
            report_id = parse_withdrawal(body)
            outcome = self._withdraw(name, bytes.fromhex(report_id))
            if outcome is Outcome.UNKNOWN:
                return None
            if outcome is not Outcome.WITHDRAWN:
                raise ReportRejected(*REFUSALS[outcome])
        return {"format": "sottovoce-withdrawal/1", "survey": name, "report_id": report_id}

    def _begin_alike(self, name: str, alike: Alike, now: datetime) -> Pending | None:
        """The same for reports that differ only in id and values; None unless there is nothing wrong with any."""
        try:
            published = self._find(name, alike.survey, alike.digest)
            published.check_open(alike.wave, now)
            length = published.length(alike.wave)
            packed = list(map(published.pack_values, alike.texts))
        except ReportRejected:
            return None
        if alike.wave > MAX_WAVE or alike.length > length or published.plan.tokens is not None:
            return None
        future = self._submit(_arrivals(published.plan, alike.wave, bytes.fromhex(alike.ids), packed))
        # While the database is at it.
        receipts = alike.receipts(length)
        whole = f'{{"format":"sottovoce-batch-receipt/1","items":[{",".join(receipts)}]}}'.encode()
        return Pending(future, lambda outcomes: self._alike_reply(receipts, whole, outcomes))

    def _judge_item(self, name: str, item: Item | None, now: datetime) -> _Candidate | Receipt | ReportRejected:
        if item is None:
            return malformed()
        try:
            published = self._find(name, item.report.survey, item.report.digest)
            body = report_bytes(item.report, published.length(item.report.wave))
            return self._judge(published, item.report, body, item.token, now)
        except ReportRejected as rejection:
            return rejection

    def _judge(
        self, published: Published, wire: Wire, body: bytes, token: str, now: datetime, may_read: bool = True
    ) -> _Candidate | Receipt:
        """What can be said of a report before the transaction."""
        if len(body) != published.length(wire.wave):
            raise ReportRejected("malformed", "the report does not have the length of this survey's reports")
        plan = published.plan
        tokens = () if plan.tokens is None else (token_hash(token),)
        try:
            published.check_open(wire.wave, now)
            published.check_values(wire.values)
        except ReportRejected as rejection:
            if not may_read:
                raise WouldRead from None
            self._look_up(plan, wire, tokens, rejection)
            return make_receipt(wire, body)
        arrival = Arrival(plan, wire.wave, bytes.fromhex(wire.report_id), pack(wire.values), tokens)
        return _Candidate(arrival, make_receipt(wire, body))

    def _look_up(self, plan: Plan, wire: Wire, tokens: tuple[bytes, ...], rejection: ReportRejected) -> None:
        """Nothing, if the very report is known; otherwise the reason that comes first."""
        key = (plan.survey, bytes.fromhex(wire.report_id))
        known = self._storage.find_report(*key)
        if known is not None:
            if known != (wire.wave, wire.values):
                raise ReportRejected(*REFUSALS[Outcome.CONFLICT])
            return
        if self._storage.is_withdrawn(*key):
            raise ReportRejected(*REFUSALS[Outcome.WITHDRAWN])
        good = plan.tokens is None or self._storage.has_token(plan.tokens, *tokens)
        if rejection.code != "closed" and not good:
            raise ReportRejected(*REFUSALS[Outcome.TOKEN_INVALID])
        raise rejection

    def _single_reply(self, candidate: _Candidate, outcomes: list[Outcome]) -> bytes:
        with self._counting():
            (settled,) = self._settle([candidate.receipt], outcomes)
            if isinstance(settled, ReportRejected):
                raise settled
        return dump(settled)

    def _alike_reply(self, receipts: list[str], whole: bytes, outcomes: list[Outcome]) -> bytes:
        if outcomes.count(Outcome.NEW) == len(receipts):
            return whole
        return self._told(self._settle(list(map(ready, receipts)), outcomes))

    def _batch_reply(self, judged: list[_Candidate | Receipt | ReportRejected], outcomes: list[Outcome]) -> bytes:
        settled = iter(self._settle([item.receipt for item in judged if isinstance(item, _Candidate)], outcomes))
        return self._told([next(settled) if isinstance(item, _Candidate) else item for item in judged])

    def _told(self, replies: Sequence[object]) -> bytes:
        self.rejected.update(reply.code for reply in replies if isinstance(reply, ReportRejected))
        items = [{"code": reply.code} if isinstance(reply, ReportRejected) else reply for reply in replies]
        return dump({"format": "sottovoce-batch-receipt/1", "items": items})

    def _settle(self, receipts: Sequence[R], outcomes: list[Outcome]) -> list[R | ReportRejected]:
        """What the transaction found, for each in order."""
        if Outcome.CLOSED in outcomes:
            self._published.clear()
        return [
            receipt if outcome in ADMITTED else ReportRejected(*REFUSALS[outcome])
            for receipt, outcome in zip(receipts, outcomes, strict=True)
        ]

    @contextmanager
    def _counting(self) -> Iterator[None]:
        try:
            yield
        except ReportRejected as rejection:
            self.rejected[rejection.code] += 1
            raise

    def _withdraw(self, name: str, report_id: bytes) -> Outcome:
        revisions = self._revisions(name)
        for published in reversed(revisions):
            key = published.stored.key
            if self._storage.is_withdrawn(key, report_id):
                return Outcome.WITHDRAWN
            found = self._storage.find_report(key, report_id)
            if found is not None:
                published.check_open(found.wave, self._clock())
                return self._storage.withdraw(published.plan, report_id)
        # Once ids are gone nobody can tell whether this one was ever known.
        return Outcome.CLOSED if revisions[-1].stored.purged else Outcome.UNKNOWN

    def _find(self, name: str, survey: str, digest: str, may_read: bool = True) -> Published:
        if survey != name:
            raise _unknown_survey()
        # What is remembered may be out of date in one way that matters here: a revision that is not yet in it.
        for revisions in (self._published.get, self._revisions):
            for published in reversed(revisions(name) or ()):
                if published.stored.digest == digest:
                    return published
            if not may_read:
                raise WouldRead
        raise ReportRejected("digest_mismatch", "the report is for another version of this survey")

    def _revisions(self, name: str) -> tuple[Published, ...]:
        stored = self._storage.revisions(name)
        if not stored:
            raise _unknown_survey()
        revisions = tuple(Published(revision, stored[0].key) for revision in stored)
        self._published[name] = revisions
        return revisions


def _arrivals(plan: Plan, wave: int, report_ids: bytes, packed: list[bytes]) -> list[Arrival]:
    """Such reports as one arrival, or, where their values do not take the same room, as one for each."""
    if len({(len(values), values[0]) for values in packed}) == 1:
        return [Arrival(plan, wave, report_ids, b"".join(packed))]
    pairs = zip(cut(report_ids, ID), packed, strict=True)
    return [Arrival(plan, wave, report_id, values) for report_id, values in pairs]


def _unknown_survey() -> ReportRejected:
    return ReportRejected("unknown_survey", "no survey has this name")


def _at_once(storage: Storage) -> Submit:
    return lambda arrivals: _done(storage.store(arrivals))


def _done(outcomes: list[Outcome]) -> Future[list[Outcome]]:
    future: Future[list[Outcome]] = Future()
    future.set_result(outcomes)
    return future
