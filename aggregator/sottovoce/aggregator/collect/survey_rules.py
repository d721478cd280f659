"""A published survey with all that admission asks of it, worked out once."""

from datetime import datetime
from functools import cached_property, lru_cache
from operator import contains

from sottovoce.aggregator.collect.decode import parse_values
from sottovoce.aggregator.storage import Plan, StoredSurvey
from sottovoce.aggregator.storage.rows import Values, pack
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.parse_survey import load_survey
from sottovoce.shared.report import report_length
from sottovoce.shared.spec import Survey

_MOST_REMEMBERED = 4096


class Published:
    """
    A survey as admission sees it.

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
        self._packed: dict[bytes, bytes] = {}
        self._seen: list[set[int | None]] = [set() for _ in self.survey.questions]

    @cached_property
    def plan(self) -> Plan:
        """What storage must know."""
        survey = self.survey
        tokens = self._tokens if survey.asks_for_token else None
        return Plan(self.stored.key, survey.cohort, survey.release_batch, tokens, survey.masks)

    def length(self, wave: int) -> int:
        """Bytes of every report of this wave."""
        if wave not in self._lengths:
            self._lengths[wave] = report_length(self.survey, wave)
        return self._lengths[wave]

    def check_open(self, wave: int, now: datetime) -> None:
        """
        The survey has this wave, and it is open; its window is closed at its start and open at its end.

        Raises:
            ReportRejected: ``out_of_range``, or ``closed``.
        """
        if wave >= len(self.survey.waves):
            raise ReportRejected("out_of_range", "the survey has no such wave")
        window = self.survey.waves[wave]
        early = window.opens is not None and now < window.opens
        late = window.closes is not None and now >= window.closes
        if self.stored.closed or early or late:
            raise ReportRejected("closed", "the survey is not open")

    def check_values(self, values: Values) -> None:
        """
        Every question has a value that its mechanism can report.

        Raises:
            ReportRejected: ``out_of_range``; the message names no value.
        """
        as_many = len(values) == len(self._seen) and values.count(None) == self._unasked
        if as_many and all(map(contains, self._seen, values)):
            return
        check_values(self.survey, values)
        for seen, value in zip(self._seen, values, strict=True):
            if len(seen) < _MOST_REMEMBERED:
                seen.add(value)

    def pack_values(self, text: bytes) -> bytes:
        """
        What a report has between its brackets, as it is stored, once it is canonical and possible.

        Raises:
            ReportRejected: ``malformed`` or ``out_of_range``.
        """
        packed = self._packed.get(text)
        if packed is None:
            values = parse_values(text)
            self.check_values(values)
            packed = pack(values)
            if len(self._packed) < _MOST_REMEMBERED:
                self._packed[text] = packed
        return packed


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


@lru_cache(maxsize=64)
def survey_of(document: bytes) -> Survey:
    """The survey in its stored bytes; parsed once, since bytes never change under a digest."""
    return load_survey(document)
