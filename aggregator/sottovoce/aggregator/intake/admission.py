"""Admit reports: from the bytes of a request to a stored report, or a rejection with a reason from the closed list.

Single reports and batches pass the same three steps: the check of values against their survey, the group commit, the
reply. A report that can be checked from memory stays on the event loop; one that needs a database read goes to a thread
first.

The order of checks matters. A report that is stored already gets its receipt again, even after the survey has closed or
with a spent token: the first receipt may have been lost on the way. Looking up every report first would cost each a
database read. So the checks without a read come first, and a report that fails one is looked up before it is rejected.
The transaction that stores the report decides the rest.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from operator import contains
from typing import Any, NamedTuple

from sottovoce.aggregator.clock import Clock
from sottovoce.aggregator.http.headers import EXPECTED
from sottovoce.aggregator.intake.decode import (
    MOST_ITEMS,
    ReportDocument,
    Submission,
    decode_batch,
    decode_report,
    decode_values,
    decode_withdrawal,
    dump,
    make_receipt,
    malformed,
)
from sottovoce.aggregator.intake.group_commit import ReportJob, Submitted, completed_job
from sottovoce.aggregator.invitations.rsa_blind_signer import is_signature
from sottovoce.aggregator.storage import Outcome, ReportBatch, Storage, StoragePlan, StoredSurvey
from sottovoce.aggregator.storage.models import ID
from sottovoce.aggregator.storage.pack_values import Values, pack
from sottovoce.aggregator.storage.reports.batch_columns import cut
from sottovoce.aggregator.surveys.lifecycle import survey_of, unknown_survey, wave_state
from sottovoce.shared.arms.arms import samples
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.redemption import message, read_number, token_hash
from sottovoce.shared.report import report_length
from sottovoce.shared.spec import Survey

_START = re.compile(
    rb'\{"format":"sottovoce-batch/1","items":\['
    rb'(\{"report":(\{"format":"sottovoce-report/1","survey":"([a-z0-9_-]{1,64})","digest":"([0-9a-f]{64})",'
    rb'"wave":(0|[1-9][0-9]{0,3}),"report_id":"))'
)
_BETWEEN = b'","values":['
_IDS = re.compile(rb"[0-9a-f]*").fullmatch
_ID = 32
_VALUES = _ID + len(_BETWEEN)
_ONE_ID = re.compile(rb"[0-9a-f]{32}").fullmatch

_MOST_REMEMBERED = 4096
"""Entries of each cache in ``SurveyRules``, to bound its memory."""


class SurveyRules:
    """Rules for the reports of a survey revision, with caches.

    ``tokens`` is the key of the first revision: tokens refer to it, so that they stay valid after a correction.
    """

    def __init__(self, stored: StoredSurvey, tokens: int) -> None:
        self.stored = stored
        self.survey = survey_of(stored.document)
        self._tokens = tokens
        self._lengths: dict[int, int] = {}
        # Of a drawn set of blocks, and of an arm, the number of values is not enough to know that it is whole.
        drawn = bool(samples(self.survey))
        self._unasked = None if (drawn and self.survey.blocks) or self.survey.arms else self.survey.longest.count(None)
        # Packed values by their JSON text: most reports of a batch repeat values, and then skip decoding and checks.
        self._packed: dict[bytes, bytes] = {}
        # Valid values by question: with many questions, few reports are equal, but each question has few values.
        self._seen: list[set[int | None]] = [set() for _ in self.survey.questions]

    @cached_property
    def plan(self) -> StoragePlan:
        """Facts about the revision that storage needs."""
        survey = self.survey
        tokens = self._tokens if survey.asks_for_token else None
        return StoragePlan(self.stored.key, survey.cohort, survey.release_batch, tokens, survey.masks, survey.is_blind)

    @cached_property
    def heads(self) -> dict[bytes, int]:
        """Numbers of waves by the bytes of a report before its id; none if reports need more than ids and values."""
        survey = self.survey
        waves = () if survey.asks_for_invitation else range(len(survey.waves))
        start = b'{"format":"sottovoce-report/1","survey":"%s","digest":"%s","wave":%d,"report_id":"'
        return {start % (survey.name.encode(), self.stored.digest.encode(), wave): wave for wave in waves}

    def length(self, wave: int) -> int:
        """Return the padded length of this wave's reports, in bytes."""
        if wave not in self._lengths:
            self._lengths[wave] = report_length(self.survey, wave)
        return self._lengths[wave]

    def check(self, wave: int, length: int, values: Sequence[Values | bytes], now: datetime) -> list[bytes]:
        """Check reports of a wave and return their packed values; the only source of those, so none skips the checks.

        ``length`` counts the bytes of the longest report with its padding; ``values`` are those of each, decoded, or
        as the JSON text between their brackets. Raises ReportRejected: ``malformed``, ``out_of_range`` or ``closed``;
        the message names no value.
        """
        if length != self.length(wave):
            raise ReportRejected("malformed", "the report does not have the length of this survey's reports")
        self.check_open(wave, now)
        return list(map(self._pack, values))

    def check_one(self, submission: Submission, now: datetime) -> bytes:
        """Check a report and its signature, and return its packed values.

        Raises ReportRejected as for ``check``, or ``token_invalid``.
        """
        report, length = submission.report, len(submission.body)
        length = length if submission.padded else max(length, self.length(report.wave))
        (packed,) = self.check(report.wave, length, [report.values], now)
        self.check_signature(submission)
        return packed

    def check_signature(self, submission: Submission) -> None:
        """Check the blind signature of a report's id if the survey has ``access: blind``.

        Raises ReportRejected, ``token_invalid``.
        """
        if not self.survey.is_blind:
            return
        report = submission.report
        moduli = self.survey.moduli[report.wave : report.wave + 1]
        if not any(_is_signed(report.report_id, submission.signature, modulus) for modulus in moduli):
            raise ReportRejected("token_invalid", "the survey asks for a signature of the report's id for this wave")

    def check_open(self, wave: int, now: datetime) -> None:
        """Check that the survey has this wave, open; raise ReportRejected, ``out_of_range`` or ``closed``."""
        if wave >= len(self.survey.waves):
            raise ReportRejected("out_of_range", "the survey has no such wave")
        if self.stored.closed or wave_state(self.survey.waves[wave], now) != "open":
            raise ReportRejected("closed", "the survey is not open")

    def _pack(self, given: Values | bytes) -> bytes:
        if isinstance(given, bytes):
            return self.pack_text(given)
        self._check_values(given)
        return pack(given)

    def pack_text(self, given: bytes) -> bytes:
        """Check values that are JSON text without brackets, and return them packed; raise as ``check`` does."""
        packed = self._packed.get(given)
        if packed is None:
            packed = self._pack(decode_values(given))
            if len(self._packed) < _MOST_REMEMBERED:
                self._packed[given] = packed
        return packed

    def _check_values(self, values: Values) -> None:
        as_many = len(values) == len(self._seen) and values.count(None) == self._unasked
        if as_many and all(map(contains, self._seen, values)):
            return
        check_values(self.survey, values)
        for seen, value in zip(self._seen, values, strict=True):
            if len(seen) < _MOST_REMEMBERED:
                seen.add(value)


def _is_signed(report_id: str, signature: str, modulus: int) -> bool:
    try:
        number = read_number(signature)
    except ValueError:
        return False
    return is_signature(message(modulus, bytes.fromhex(report_id)), number, modulus)


def check_values(survey: Survey, values: Values) -> None:
    """Check that a report has values for as many questions as a respondent is asked, each a value of its mechanism.

    Raises ReportRejected, ``out_of_range``; the message names no value.
    """
    if len(values) != len(survey.questions):
        raise ReportRejected("out_of_range", "the report does not have one value for each question")
    if not survey.asks_for(values):
        raise ReportRejected("out_of_range", "the report does not answer as many questions as each respondent is asked")
    for question, value in zip(survey.questions, values, strict=True):
        if value is not None and not question.admits(value):
            raise ReportRejected("out_of_range", f"question '{question.name}': the value is not one of its reports")


class QuickReport(NamedTuple):
    """Report that was checked without decoding: all its bytes but those of id and values are known.

    Attributes:
        start: bytes up to the values, of which the last 32 are the id.
    """

    rules: SurveyRules
    wave: int
    start: bytes
    packed: bytes
    body: bytes


class FastBatch(NamedTuple):
    """Batch of reports that differ only in id and values.

    Attributes:
        head: common beginning of the reports, up to the id.
        ids: hexadecimal digits of all ids, concatenated.
        rests: bytes of each report between ``head`` and its last two brackets.
    """

    survey: str
    digest: str
    wave: int
    head: bytes
    ids: str
    rests: list[bytes]

    def receipts(self, length: int) -> list[bytes]:
        """Return the receipts as JSON; ``length`` is the padded length of a report."""
        # Receipts cover the padded report, as the device sent or would have sent it alone.
        reports = [(self.head + rest + b"]}").ljust(length) for rest in self.rests]
        return [make_receipt(report, len(self.head) + _ID) for report in reports]


def decode_fast_batch(body: bytes, most: int) -> FastBatch | None:
    """Parse a batch; return None if it is of another kind or has more than ``most`` reports.

    Most batches are of this kind: one survey and wave, without tokens. Canonical JSON has only one form, so splitting
    the batch at the bytes that all reports share leaves ids and values, five times as fast as decoding and encoding
    again. Any other batch is for ``decode``, item by item.

    This checks every byte except those of the values, which the caller must decode strictly.
    """
    start = _START.match(body)
    if start is None or not body.endswith(b"]}}]}"):
        return None
    item, head, survey, digest, wave = start.groups()
    # Values that contained these bytes would fail their strict decoding, so splitting here is safe.
    rests = body[start.end() : -5].split(b"]}}," + item)
    ids = b"".join([rest[:_ID] for rest in rests])
    complete = len(rests) <= most and len(ids) == _ID * len(rests) and _IDS(ids)
    if not complete or {rest[_ID:_VALUES] for rest in rests} != {_BETWEEN}:
        return None
    return FastBatch(survey.decode(), digest.decode(), int(wave), head, ids.decode(), rests)


Submit = Callable[[ReportJob], Submitted]

ADMITTED = (Outcome.NEW, Outcome.SAME)
REFUSALS = {
    Outcome.CONFLICT: ("id_conflict", "another report has this id; the first one stays"),
    Outcome.WITHDRAWN: ("withdrawn", "the report with this id was withdrawn"),
    Outcome.CLOSED: ("closed", "the survey is not open"),
    Outcome.UNKNOWN: ("unknown_survey", "no survey has this name"),
    Outcome.TOKEN_INVALID: ("token_invalid", f"the survey asks for a token that has not been used; {EXPECTED}"),
}

_ForSurvey = ReportDocument | FastBatch


class _Candidate(NamedTuple):
    """Report that passed all checks but those of the transaction."""

    arrival: ReportBatch
    receipt: bytes


class Pending:
    """Reports that wait to be stored; ``reply`` makes the reply from their outcomes."""

    def __init__(self, submitted: Submitted, reply: Callable[[list[Outcome]], bytes]) -> None:
        self.submitted = submitted
        self._reply = reply

    def reply(self) -> bytes:
        """Wait until the reports are durable and return the reply as JSON.

        Raises ReportRejected if the transaction refused the one report, StorageError if it is not stored.
        """
        return self._reply(self.submitted.result())


class Admission:
    """Checks of reports, and their submission to storage.

    Args:
        storage: database for the reports.
        clock: returns the present moment with its time zone; the respondent's clock is never used.
        submit: hands a job to the group commit; None to store each job at once.
    """

    def __init__(self, storage: Storage, clock: Clock, submit: Submit | None = None) -> None:
        self._storage = storage
        self._clock = clock
        self._submit = submit or _submit_directly(storage)
        self._rules: dict[str, tuple[SurveyRules, ...]] = {}
        self.rejected: Counter[str] = Counter()

    def admit(self, name: str, body: bytes, token: str = "", signature: str = "") -> dict[str, Any]:
        """Store the report in ``body`` durably and return its receipt; the arguments are those of ``read``.

        Raises ReportRejected (counted; nothing of the report is stored), or StorageError (not stored).
        """
        receipt: dict[str, Any] = json.loads(self.begin(name, body, token, signature).reply())
        return receipt

    def begin(self, name: str, body: bytes, token: str = "", signature: str = "") -> Pending:
        """Check a report and submit it without waiting until it is stored; call ``reply`` for the receipt.

        The arguments are those of ``read``. Raises ReportRejected for a reason known before the transaction.
        """
        return self.begin_with_database(self.read(name, body, token, signature))

    def read(self, name: str, body: bytes, token: str = "", signature: str = "") -> Submission:
        """Decode a report; the first step of ``begin``.

        ``name`` is from the request's path, token or signature from its ``Authorization`` header, empty if there is
        none. Raises ReportRejected: ``malformed``, or ``unknown_survey`` if the report names another survey.
        """
        with self._counting():
            submission = Submission(decode_report(body), body, token, signature=signature)
            _check_name(name, submission.report)
        return submission

    def begin_from_memory(self, submission: Submission) -> Pending | None:
        """Check and submit a report without reading the database; return None, without effect, if a read is needed.

        That is so if the survey's rules are not cached, or the report breaks a rule: it may be stored already. Raises
        ReportRejected, ``busy``.
        """
        rules = self._cached_rules(submission.report)
        if rules is None:
            return None
        try:
            packed = rules.check_one(submission, self._clock())
        except ReportRejected:
            return None
        return self._send(_candidate(rules, submission, packed))

    def read_quick(self, name: str, body: bytes) -> QuickReport | None:
        """Check a report by comparing bytes; return None, without effect, for any that has to be decoded.

        Canonical JSON has only one form, so a report whose other bytes are known is as good as its id and values; what
        breaks a rule, or was not seen before, is for ``read``.
        """
        at = body.find(_BETWEEN)
        head = body[: at - _ID]
        for rules in reversed(self._rules.get(name, ())):
            wave = rules.heads.get(head)
            if wave is None:
                continue
            values = body[at + len(_BETWEEN) :].rstrip(b" ")
            if len(body) != rules.length(wave) or not _ONE_ID(body, at - _ID, at) or not values.endswith(b"]}"):
                return None
            try:
                return QuickReport(rules, wave, body[:at], rules.pack_text(values[:-2]), body)
            except ReportRejected:
                return None
        return None

    def submit_quick(self, reports: list[QuickReport]) -> Submitted:
        """Submit reports as one job, which has their outcomes in order.

        Raises as ``GroupCommit.submit`` does, and ReportRejected, for all, if the survey or wave of one is not open.
        """
        for rules, wave in {(report.rules, report.wave) for report in reports}:
            rules.check_open(wave, self._clock())
        first, ids = reports[0], bytes.fromhex(b"".join([report.start[-_ID:] for report in reports]).decode())
        packed = [report.packed for report in reports]
        if all([report.rules is first.rules and report.wave == first.wave for report in reports]):
            return self._submit(_arrivals(first.rules.plan, first.wave, ids, packed))
        each = zip(reports, cut(ids, ID), packed, strict=True)
        return self._submit([ReportBatch(of.rules.plan, of.wave, report_id, values) for of, report_id, values in each])

    def replies_quick(self, reports: list[QuickReport], outcomes: list[Outcome]) -> list[bytes | ReportRejected]:
        """Return the receipt of each report as JSON, or ReportRejected if the transaction refused it."""
        return self._replies_for([make_receipt(report.body, len(report.start)) for report in reports], outcomes)

    def begin_with_database(self, submission: Submission) -> Pending:
        """Check and submit a report, reading the database where needed; the second step of ``begin``.

        Raises ReportRejected for a reason known before the transaction.
        """
        with self._counting():
            judged = self._judge(submission, self._clock())
        return Pending(completed_job([]), lambda _: judged) if isinstance(judged, bytes) else self._send(judged)

    def begin_batch(self, name: str, body: bytes) -> Pending:
        """Check and submit up to 1,000 reports; the reply has a receipt or ``{"code": reason}`` for each, in order.

        Raises ReportRejected if the batch as a whole is rejected; nothing of it is stored.
        """
        with self._counting():
            now = self._clock()
            batch = decode_fast_batch(body, MOST_ITEMS)
            pending = None if batch is None else self._begin_fast(name, batch, now)
            if pending is not None:
                return pending
            judged = [self._judge_item(name, item, now) for item in decode_batch(body)]
            arrivals = [item.arrival for item in judged if isinstance(item, _Candidate)]
            submitted = self._submit(arrivals) if arrivals else completed_job([])
        return Pending(submitted, lambda outcomes: self._batch_reply(judged, outcomes))

    def withdraw(self, name: str, body: bytes) -> dict[str, Any] | None:
        """Withdraw a report; return the confirmation, the same when repeated, or None if there is no such report.

        Raises:
            ReportRejected: ``malformed``, ``unknown_survey`` or ``closed``.
            StorageError: not withdrawn.
        """
        with self._counting():
            report_id = decode_withdrawal(body)
            outcome = self._withdraw(name, bytes.fromhex(report_id))
            if outcome is Outcome.UNKNOWN:
                return None
            if outcome is not Outcome.WITHDRAWN:
                raise ReportRejected(*REFUSALS[outcome])
        return {"format": "sottovoce-withdrawal/1", "survey": name, "report_id": report_id}

    @contextmanager
    def _counting(self) -> Iterator[None]:
        """Count a rejection by its reason."""
        try:
            yield
        except ReportRejected as rejection:
            self.rejected[rejection.code] += 1
            raise

    def _begin_fast(self, name: str, batch: FastBatch, now: datetime) -> Pending | None:
        """Check and submit a batch on the fast path; return None, without effect, if any report breaks a rule."""
        try:
            _check_name(name, batch)
            rules = self._find(batch)
            length = max(len(batch.head) + max(map(len, batch.rests)) + 2, rules.length(batch.wave))
            packed = rules.check(batch.wave, length, [rest[_VALUES:] for rest in batch.rests], now)
        except ReportRejected:
            return None
        if rules.survey.asks_for_invitation:
            return None
        submitted = self._submit(_arrivals(rules.plan, batch.wave, bytes.fromhex(batch.ids), packed))
        # Hashing overlaps with the transaction, which another thread runs.
        receipts = batch.receipts(rules.length(batch.wave))
        return Pending(submitted, lambda outcomes: _batch_document(self._replies_for(receipts, outcomes)))

    def _judge_item(self, name: str, item: Submission | None, now: datetime) -> _Candidate | bytes | ReportRejected:
        try:
            with self._counting():
                if item is None:
                    raise malformed()
                _check_name(name, item.report)
                return self._judge(item, now)
        except ReportRejected as rejection:
            return rejection

    def _judge(self, submission: Submission, now: datetime) -> _Candidate | bytes:
        """Check a report before the transaction; return a candidate to store, or the receipt of a stored report."""
        rules = self._find(submission.report)
        try:
            packed = rules.check_one(submission, now)
        except ReportRejected as rejection:
            # A malformed report cannot equal a stored one. After any other failure (survey closed since, token spent)
            # the report may be stored already, and then its sender gets the receipt again.
            if rejection.code == "malformed":
                raise
            self._raise_unless_stored(rules, submission, rejection)
            return _receipt_of(rules, submission)
        return _candidate(rules, submission, packed)

    def _send(self, candidate: _Candidate) -> Pending:
        with self._counting():
            submitted = self._submit([candidate.arrival])
        return Pending(submitted, lambda outcomes: self._receipt(candidate.receipt, outcomes[0]))

    def _raise_unless_stored(self, rules: SurveyRules, submission: Submission, rejection: ReportRejected) -> None:
        """Return if this very report is stored; otherwise raise the rejection with the highest priority."""
        plan, report = rules.plan, submission.report
        key = (plan.survey, bytes.fromhex(report.report_id))
        known = self._storage.find_report(*key)
        if known is not None:
            if known != (report.wave, report.values):
                raise ReportRejected(*REFUSALS[Outcome.CONFLICT])
            return
        if self._storage.is_withdrawn(*key):
            raise ReportRejected(*REFUSALS[Outcome.WITHDRAWN])
        # Privacy: without a valid token, a sender must not learn more about the report; the close is public.
        if rejection.code == "closed":
            raise rejection
        if plan.tokens is not None and not self._storage.has_token(
            plan.tokens, token_hash(submission.token, report.survey)
        ):
            raise ReportRejected(*REFUSALS[Outcome.TOKEN_INVALID])
        rules.check_signature(submission)
        raise rejection

    def _receipt(self, receipt: bytes, outcome: Outcome) -> bytes:
        """Return the receipt of one report; raise ReportRejected if the transaction refused it."""
        (reply,) = self._replies_for([receipt], [outcome])
        if isinstance(reply, ReportRejected):
            raise reply
        return reply

    def _batch_reply(self, judged: list[_Candidate | bytes | ReportRejected], outcomes: list[Outcome]) -> bytes:
        replies = iter(self._replies_for([item.receipt for item in judged if isinstance(item, _Candidate)], outcomes))
        return _batch_document([next(replies) if isinstance(item, _Candidate) else item for item in judged])

    def _replies_for(self, receipts: Sequence[bytes], outcomes: list[Outcome]) -> list[bytes | ReportRejected]:
        """Return, for each report in order, its receipt or the rejection for its outcome, which is counted."""
        if outcomes.count(Outcome.NEW) == len(receipts):
            return [*receipts]
        # Another node may have closed or deleted the survey: drop the cached rules.
        if Outcome.CLOSED in outcomes or Outcome.UNKNOWN in outcomes:
            self._rules.clear()
        self.rejected.update(REFUSALS[outcome][0] for outcome in outcomes if outcome not in ADMITTED)
        return [
            receipt if outcome in ADMITTED else ReportRejected(*REFUSALS[outcome])
            for receipt, outcome in zip(receipts, outcomes, strict=True)
        ]

    def _withdraw(self, name: str, report_id: bytes) -> Outcome:
        revisions = self._load(name)
        for rules in reversed(revisions):
            key = rules.stored.key
            report = self._storage.find_report(key, report_id)
            if report is not None:
                rules.check_open(report.wave, self._clock())
                return self._storage.withdraw(rules.plan, report_id)
            # Query tombstones last, since the report may be withdrawn between the two queries.
            if self._storage.is_withdrawn(key, report_id):
                return Outcome.WITHDRAWN
        # After a purge, ids cannot be looked up, so the reply must not claim that there was no such report.
        return Outcome.CLOSED if revisions[-1].stored.purged else Outcome.UNKNOWN

    def _find(self, sent: _ForSurvey) -> SurveyRules:
        """Return the rules of the revision that a report was made for; reload them if they may be stale."""
        rules = self._cached_rules(sent)
        # Reload for a revision that the cache lacks, and for a closed survey, which may have been reopened or deleted.
        if rules is None or rules.stored.closed:
            rules = _rules_with_digest(self._load(sent.survey), sent.digest)
        if rules is None:
            raise ReportRejected("digest_mismatch", "the report is for another version of this survey")
        return rules

    def _cached_rules(self, sent: _ForSurvey) -> SurveyRules | None:
        return _rules_with_digest(self._rules.get(sent.survey, ()), sent.digest)

    def _load(self, name: str) -> tuple[SurveyRules, ...]:
        stored = self._storage.revisions(name)
        if not stored:
            raise unknown_survey()
        self._rules[name] = tuple(SurveyRules(revision, stored[0].key) for revision in stored)
        return self._rules[name]


def _rules_with_digest(revisions: tuple[SurveyRules, ...], digest: str) -> SurveyRules | None:
    return next((rules for rules in reversed(revisions) if rules.stored.digest == digest), None)


def _check_name(name: str, sent: _ForSurvey) -> None:
    if sent.survey != name:
        raise unknown_survey()


def _candidate(rules: SurveyRules, submission: Submission, packed: bytes) -> _Candidate:
    plan, report = rules.plan, submission.report
    tokens = () if plan.tokens is None else (token_hash(submission.token, report.survey),)
    arrival = ReportBatch(plan, report.wave, bytes.fromhex(report.report_id), packed, tokens)
    return _Candidate(arrival, _receipt_of(rules, submission))


def _receipt_of(rules: SurveyRules, submission: Submission) -> bytes:
    body = submission.body.ljust(rules.length(submission.report.wave))
    return make_receipt(body, body.index(_BETWEEN))


def _batch_document(replies: Sequence[bytes | ReportRejected]) -> bytes:
    items = [reply if isinstance(reply, bytes) else dump({"code": reply.code}) for reply in replies]
    return b'{"format":"sottovoce-batch-receipt/1","items":[%s]}' % b",".join(items)


def _arrivals(plan: StoragePlan, wave: int, report_ids: bytes, packed: list[bytes]) -> list[ReportBatch]:
    """Return the reports as one batch if their packed values have one shape, else as one batch each."""
    if len({(len(values), values[0]) for values in packed}) == 1:
        return [ReportBatch(plan, wave, report_ids, b"".join(packed))]
    pairs = zip(cut(report_ids, ID), packed, strict=True)
    return [ReportBatch(plan, wave, report_id, values) for report_id, values in pairs]


def _submit_directly(storage: Storage) -> Submit:
    return lambda job: completed_job(storage.store(job))
