"""Check reports against their survey without a database; single reports and batches share this."""

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from operator import contains
from typing import Protocol

from sottovoce.aggregator.intake.decode import Submission, decode_values
from sottovoce.aggregator.invitations.rsa_blind_signer import is_signature
from sottovoce.aggregator.storage import StoragePlan, StoredSurvey
from sottovoce.aggregator.storage.pack_values import Values, pack
from sottovoce.aggregator.surveys.stored_surveys import survey_of, wave_state
from sottovoce.shared.arms.arms import samples
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.redemption import message, read_number
from sottovoce.shared.report import report_length
from sottovoce.shared.spec import Survey

_MOST_REMEMBERED = 4096
"""Entries of each cache in ``SurveyRules``, to bound its memory."""


class Checkable(Protocol):
    """Report, or batch of reports that differ only in id and values."""

    @property
    def wave(self) -> int:
        """Number of the reports' wave."""

    @property
    def length(self) -> int:
        """Bytes of the longest report, as received."""

    @property
    def padded(self) -> bool:
        """Return True if the reports have the padding that makes all reports of a wave equally long."""

    @property
    def values(self) -> Sequence[Values | bytes]:
        """Values of each report, decoded, or as the JSON text between their brackets."""


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

    def length(self, wave: int) -> int:
        """Return the padded length of this wave's reports, in bytes."""
        if wave not in self._lengths:
            self._lengths[wave] = report_length(self.survey, wave)
        return self._lengths[wave]

    def check(self, reports: Checkable, now: datetime) -> list[bytes]:
        """Check reports and return their packed values; their only source, so that no report skips the checks.

        Raises ReportRejected: ``malformed``, ``out_of_range`` or ``closed``; the message names no value.
        """
        length = self.length(reports.wave)
        if reports.length > length or (reports.padded and reports.length < length):
            raise ReportRejected("malformed", "the report does not have the length of this survey's reports")
        self.check_open(reports.wave, now)
        return list(map(self._pack, reports.values))

    def check_one(self, submission: Submission, now: datetime) -> bytes:
        """Check a report and its signature, and return its packed values.

        Raises ReportRejected as for ``check``, or ``token_invalid``.
        """
        (packed,) = self.check(submission, now)
        self.check_signature(submission)
        return packed

    def check_signature(self, submission: Submission) -> None:
        """Check the blind signature of a report's id if the survey has ``access: blind``.

        Raises ReportRejected, ``token_invalid``.
        """
        if not self.survey.is_blind:
            return
        report_id, moduli = submission.report.report_id, self.survey.moduli[submission.wave : submission.wave + 1]
        if not any(_is_signed(report_id, submission.signature, modulus) for modulus in moduli):
            raise ReportRejected("token_invalid", "the survey asks for a signature of the report's id for this wave")

    def check_open(self, wave: int, now: datetime) -> None:
        """Check that the survey has this wave, open; raise ReportRejected, ``out_of_range`` or ``closed``."""
        if wave >= len(self.survey.waves):
            raise ReportRejected("out_of_range", "the survey has no such wave")
        if self.stored.closed or wave_state(self.survey.waves[wave], now) != "open":
            raise ReportRejected("closed", "the survey is not open")

    def _pack(self, given: Values | bytes) -> bytes:
        if not isinstance(given, bytes):
            self._check_values(given)
            return pack(given)
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
