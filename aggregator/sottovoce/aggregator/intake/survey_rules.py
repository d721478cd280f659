"""The rules that a report must keep to before the database is asked: one function for whatever way it came."""

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
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.redemption import message, read_number
from sottovoce.shared.report import report_length
from sottovoce.shared.spec import Survey

_MOST_REMEMBERED = 4096


class Checkable(Protocol):
    """One report, or several that differ in id and values only."""

    @property
    def wave(self) -> int:
        """Number of the wave."""

    @property
    def length(self) -> int:
        """Bytes of the longest, as it came."""

    @property
    def padded(self) -> bool:
        """Whether it came with the padding that makes all reports of a wave equally long."""

    @property
    def values(self) -> Sequence[Values | bytes]:
        """The values of each, decoded, or as the text between its brackets."""


class SurveyRules:
    """
    A published survey with all that intake asks of it, worked out once.

    Args:
        stored: its row.
        tokens: key under which its tokens lie, that of the first revision: a token outlives a correction.
    """

    def __init__(self, stored: StoredSurvey, tokens: int) -> None:
        self.stored = stored
        self.survey = survey_of(stored.document)
        self._tokens = tokens
        self._lengths: dict[int, int] = {}
        self._unasked = self.survey.unasked
        # By their text: so most reports of a batch need neither be decoded nor looked at question by question.
        self._packed: dict[bytes, bytes] = {}
        # By question: a survey of many questions has more reports than can be remembered, but each question few values.
        self._seen: list[set[int | None]] = [set() for _ in self.survey.questions]

    @cached_property
    def plan(self) -> StoragePlan:
        """What storage must know."""
        survey = self.survey
        tokens = self._tokens if survey.asks_for_token else None
        return StoragePlan(self.stored.key, survey.cohort, survey.release_batch, tokens, survey.masks, survey.is_blind)

    def length(self, wave: int) -> int:
        """Bytes of every report of this wave."""
        if wave not in self._lengths:
            self._lengths[wave] = report_length(self.survey, wave)
        return self._lengths[wave]

    def check(self, reports: Checkable, now: datetime) -> list[bytes]:
        """
        The values of reports as they are stored, which nothing else gives: what is not checked cannot be stored.

        Raises:
            ReportRejected: ``malformed``, ``out_of_range`` or ``closed``; the message names no value.
        """
        length = self.length(reports.wave)
        if reports.length > length or (reports.padded and reports.length < length):
            raise ReportRejected("malformed", "the report does not have the length of this survey's reports")
        self.check_open(reports.wave, now)
        return list(map(self._pack, reports.values))

    def check_one(self, submission: Submission, now: datetime) -> bytes:
        """
        The same for one report, with what only it brings.

        Raises:
            ReportRejected: also ``token_invalid``.
        """
        (packed,) = self.check(submission, now)
        self.check_signature(submission)
        return packed

    def check_signature(self, submission: Submission) -> None:
        """
        A survey with ``access: blind`` has signed this id, and does not know for whom. Any other asks for nothing.

        Raises:
            ReportRejected: ``token_invalid``.
        """
        if not self.survey.is_blind:
            return
        report_id, moduli = submission.report.report_id, self.survey.moduli[submission.wave : submission.wave + 1]
        if not any(_is_signed(report_id, submission.signature, modulus) for modulus in moduli):
            raise ReportRejected("token_invalid", "the survey asks for a signature of the report's id for this wave")

    def check_open(self, wave: int, now: datetime) -> None:
        """
        The survey has this wave, and it is open.

        Raises:
            ReportRejected: ``out_of_range``, or ``closed``.
        """
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
    """
    Every question that one respondent is asked has a value that its mechanism can report, and no other has one.

    Raises:
        ReportRejected: ``out_of_range``; the message names no value.
    """
    if len(values) != len(survey.questions):
        raise ReportRejected("out_of_range", "the report does not have one value for each question")
    if not survey.asks_for(values):
        raise ReportRejected("out_of_range", "the report does not answer as many questions as each respondent is asked")
    for question, value in zip(survey.questions, values, strict=True):
        if value is not None and not question.admits(value):
            raise ReportRejected("out_of_range", f"question '{question.name}': the value is not one of its reports")
