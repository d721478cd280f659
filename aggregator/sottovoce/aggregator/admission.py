"""
From the bytes of a request to a stored report, or a reason from the closed list.

The order matters: a report that is known already is acknowledged again even after the survey has closed, so that a
respondent whose receipt was lost on the way is never told that the report was.
"""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import msgspec
from sottovoce.aggregator.storage import Arrival, Outcome, Storage, StoredSurvey
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.parsing import load_survey
from sottovoce.shared.report import FORMAT, MAX_WAVE, Report, receipt, report_length
from sottovoce.shared.spec import Survey

Clock = Callable[[], datetime]


class _Wire(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The report's JSON, decoded strictly; field order is the canonical order."""

    format: str
    survey: str
    digest: str
    wave: int
    report_id: str
    values: list[int | None]


_decode = msgspec.json.Decoder(_Wire).decode
_encode = msgspec.json.Encoder().encode


class Admission:
    """
    Admits reports.

    Args:
        storage: where reports are kept.
        clock: the present moment, with its time zone; the respondent's own clock decides nothing.
    """

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock
        self.rejected: Counter[str] = Counter()

    def admit(self, name: str, body: bytes) -> dict[str, Any]:
        """
        The receipt for the report in ``body``, stored durably.

        Raises:
            ReportRejected: the reason is counted; nothing of the report is kept.
            StorageError: not stored.
        """
        try:
            return self._admit(name, body)
        except ReportRejected as rejection:
            self.rejected[rejection.code] += 1
            raise

    def _admit(self, name: str, body: bytes) -> dict[str, Any]:
        report = parse_wire(body)
        stored, survey = self._survey(name, report)
        if len(body) != report_length(survey, report.wave):
            raise ReportRejected("malformed", "the report does not have the length of this survey's reports")
        if not self._known(stored, report):
            self._check_open(stored, survey)
            check_values(survey, report)
            self._store(stored, survey, report)
        return receipt(report, body)

    def _survey(self, name: str, report: Report) -> tuple[StoredSurvey, Survey]:
        revisions = self._storage.revisions(name)
        if not revisions or report.survey != name:
            raise ReportRejected("unknown_survey", "no survey has this name")
        for stored in revisions:
            if stored.digest == report.digest:
                return stored, survey_of(stored.document)
        raise ReportRejected("digest_mismatch", "the report is for another version of this survey")

    def _known(self, stored: StoredSurvey, report: Report) -> bool:
        earlier = self._storage.find_report(stored.key, report.report_id)
        if earlier is None:
            return False
        if (earlier.wave, earlier.values) != (report.wave, report.values):
            raise _conflict()
        return True

    def _check_open(self, stored: StoredSurvey, survey: Survey) -> None:
        now = self._clock()
        early = survey.opens is not None and now < survey.opens
        late = survey.closes is not None and now >= survey.closes
        if stored.closed or early or late:
            raise _closed()

    def _store(self, stored: StoredSurvey, survey: Survey, report: Report) -> None:
        cohort = None if survey.cohort is None else report.values[survey.cohort]
        arrival = Arrival(stored.key, report, cohort, counted(survey, report.values), survey.release_batch)
        outcome = self._storage.store([arrival])[0]
        if outcome is Outcome.CONFLICT:
            raise _conflict()
        if outcome is Outcome.CLOSED:
            raise _closed()


def parse_wire(body: bytes) -> Report:
    """
    The report in ``body``; the fast twin of ``sottovoce.shared.report.parse_report``, bound to it by the vectors.

    Decoding alone would let duplicate keys, another order, spaces or escapes pass; encoding the result again must give
    the body.

    Raises:
        ReportRejected: ``malformed``.
    """
    try:
        wire = _decode(body)
        same = _encode(wire) == body.rstrip(b" ")
    except (msgspec.MsgspecError, RecursionError, ValueError):
        raise _malformed() from None
    if (
        not same
        or wire.format != FORMAT
        or not 0 <= wire.wave <= MAX_WAVE
        or not _hexadecimal(wire.report_id, 32)
        or not _hexadecimal(wire.digest, 64)
    ):
        raise _malformed()
    return Report(wire.survey, wire.digest, wire.wave, wire.report_id, tuple(wire.values))


def check_values(survey: Survey, report: Report) -> None:
    """
    Every question has a value that its mechanism can report.

    Raises:
        ReportRejected: ``out_of_range``; the message names no value.
    """
    if len(report.values) != len(survey.questions):
        raise ReportRejected("out_of_range", "the report does not have one value for each question")
    for question, value in zip(survey.questions, report.values, strict=True):
        if value is None or not question.admits(value):
            raise ReportRejected("out_of_range", f"question '{question.name}': the value is not one of its reports")


def counted(survey: Survey, values: tuple[int | None, ...]) -> tuple[tuple[int, int], ...]:
    """What to count: (index of the question, key of its tally), for each question that was asked."""
    return tuple(
        (index, key)
        for index, (question, value) in enumerate(zip(survey.questions, values, strict=True))
        if value is not None
        for key in question.counted(value)
    )


def recount(storage: Storage, stored: StoredSurvey) -> dict[int, dict[int, int]]:
    """The counts of a survey, made anew from its stored rows: for checks of the kept ones."""
    survey = survey_of(stored.document)
    tallies: dict[int, dict[int, int]] = {}
    for values in storage.rows(stored.key):
        for question, value in counted(survey, values):
            tally = tallies.setdefault(question, {})
            tally[value] = tally.get(value, 0) + 1
    return tallies


@lru_cache(maxsize=64)
def survey_of(document: bytes) -> Survey:
    """The survey in its stored bytes; parsed once, since bytes never change under a digest."""
    return load_survey(document)


def now() -> datetime:
    """The present moment."""
    return datetime.now(UTC)


def _hexadecimal(text: str, length: int) -> bool:
    return len(text) == length and not set(text) - set("0123456789abcdef")


def _malformed() -> ReportRejected:
    return ReportRejected("malformed", "the report is not in canonical form")


def _conflict() -> ReportRejected:
    return ReportRejected("id_conflict", "another report has this id; the first one stays")


def _closed() -> ReportRejected:
    return ReportRejected("closed", "the survey is not open")
