"""
When joint results exist: for what is closed, and for try-outs.

Their intervals are for one look, rows are immutable once they can no longer come, and no two of them can be subtracted
while reports come. What is open has the shown counts of each question, for all and by cohort.

Reopened    A file of the first close and one of a later close could be subtracted as well. So after another close there
            are joint results only if every cell (revision, wave, cohort) is as the first close showed it, or has grown
            by ``release_batch``. What a second close gave out is not kept, so that a third one gives nothing out that
            is not as the first had it.
Limit       Until a survey is closed its reports can be withdrawn, those of closed waves too: two looks at such a wave
            differ by what was withdrawn between them.
"""

from collections.abc import Sequence
from datetime import datetime

from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.storage.report_reader import ReadableReports
from sottovoce.aggregator.storage.survey_log import CLOSED
from sottovoce.aggregator.surveys.stored_surveys import survey_of, wave_state
from sottovoce.shared.errors import EstimateError, StillOpen
from sottovoce.shared.sentence import Sentence
from sottovoce.shared.spec import Survey

STILL_OPEN = (
    "the survey is open: tables of two questions, regressions, weights and files of reports exist once it is closed,"
    " and for each wave once that is closed; until then there are the results of each question"
)
REOPENED = (
    "the survey was closed before, and since then fewer than {least} reports came, or some were withdrawn, in a "
    "group of respondents (revision, wave, cohort): this result and an earlier one would differ by these people "
    "alone; reopen the survey until there are more"
)
REOPENED_TWICE = (
    "the survey was closed more than twice, and reports came or were withdrawn since the first time: this result "
    "and an earlier one could differ by a few people alone; use the results of each question"
)
NO_SURVEY = "there is no survey of this name"
NO_WAVE = "the survey has no such wave"


def check_closed(storage: ReadableReports, revisions: Sequence[StoredSurvey], wave: int | None, now: datetime) -> None:
    """
    Return if joint results, regressions, weights and files of reports exist: the one place where that is decided.

    Args:
        storage: the database.
        revisions: all of one survey.
        wave: the one that is asked for; None for all of them together.
        now: the present moment.

    Raises:
        EstimateError: there is no such survey or wave; or an earlier result could be subtracted.
        StillOpen: it is open, and no try-out.
    """
    if not revisions:
        raise EstimateError(NO_SURVEY)
    surveys = [survey_of(stored.document) for stored in revisions]
    windows = [survey.waves[wave] for survey in surveys if wave is not None and 0 <= wave < len(survey.waves)]
    if wave is not None and not windows:
        raise EstimateError(NO_WAVE)
    if surveys[-1].trial:
        return
    if all(stored.closed for stored in revisions):
        _refuse_differences(storage, surveys[-1])
    elif not windows or any(wave_state(window, now) != "closed" for window in windows):
        raise StillOpen(STILL_OPEN)


def _refuse_differences(storage: ReadableReports, survey: Survey) -> None:
    """What was closed again must differ from the first time by nothing, or by enough people."""
    closed = sum(line.what == CLOSED and line.about == survey.name for line in storage.record())
    if closed > 2 and storage.changed_since_close(survey.name):
        raise EstimateError(REOPENED_TWICE)
    if storage.changed_since_close(survey.name, survey.release_batch):
        raise EstimateError(Sentence(REOPENED, least=survey.release_batch))
