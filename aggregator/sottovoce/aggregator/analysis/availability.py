"""Check that joint results are available: for closed surveys, closed waves and test runs.

Intervals of joint results are valid for one look only, and two results could be subtracted while reports still arrive.
An open survey therefore has only the published counts of each question, for all respondents and by cohort.

Reopened    Results of a first and a later close could be subtracted as well. After a later close, joint results exist
            only if that close showed everything (see ``close_survey``), so that all results are of one state.
Limit       Respondents can withdraw reports until the survey is closed, even reports of closed waves. Two looks at such
            a wave differ by the reports withdrawn between them.
"""

from collections.abc import Sequence
from datetime import datetime

from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.storage.report_reader import ReadableReports
from sottovoce.aggregator.surveys.lifecycle import survey_of, wave_state
from sottovoce.shared.errors import EstimateError, StillOpen

STILL_OPEN = (
    "the survey is open: tables of two questions, regressions, weights and files of reports exist once it is closed,"
    " and for each wave once that is closed; until then there are the results of each question"
)
REOPENED = (
    "the survey was closed before, and since then fewer than {least} reports came, or some were withdrawn, in a "
    "group of respondents (revision, wave, cohort): this result and an earlier one would differ by these people "
    "alone; reopen the survey until there are more"
)
NO_SURVEY = "there is no survey of this name"
NO_WAVE = "the survey has no such wave"


def check_closed(storage: ReadableReports, revisions: Sequence[StoredSurvey], wave: int | None, now: datetime) -> None:
    """Check that joint results, regressions, weights and files of reports are available for a wave, or (None) for all.

    Raises:
        EstimateError: the survey or wave does not exist, or an earlier result could be subtracted.
        StillOpen: the survey or wave is open, and the survey is not a test run.
    """
    if not revisions:
        raise EstimateError(NO_SURVEY)
    surveys = [survey_of(stored.document) for stored in revisions]
    windows = [survey.waves[wave] for survey in surveys if wave is not None and 0 <= wave < len(survey.waves)]
    if wave is not None and not windows:
        raise EstimateError(NO_WAVE)
    # Test runs have invented answers, so there is nothing to protect.
    if surveys[-1].trial:
        return
    is_closed = all(stored.closed for stored in revisions)
    # A closed wave is available while later waves of the survey are still open.
    if not is_closed and (not windows or any(wave_state(window, now) != "closed" for window in windows)):
        raise StillOpen(STILL_OPEN)
    of_wave = None if is_closed else wave
    # The difference of two joint tables would be a table of the few people who came or left in between.
    if any(stored.was_closed for stored in revisions) and storage.changed_since_shown(surveys[-1].name, of_wave):
        raise EstimateError(REOPENED, least=surveys[-1].release_batch)
