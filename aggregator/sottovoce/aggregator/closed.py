"""
When joint results exist: for what is closed, and for try-outs.

Their intervals are for one look, rows are immutable once they can no longer come, and no two of them can be subtracted
while reports come. What is open has the shown counts of each question, for all and by cohort.
"""

from collections.abc import Sequence
from datetime import datetime

from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.surveys import survey_of, wave_state
from sottovoce.shared.errors import EstimateError, StillOpen

STILL_OPEN = (
    "the survey is open: tables of two questions, regressions, weights and files of reports exist once it is closed,"
    " and for each wave once that is closed; until then there are the results of each question"
)
NO_SURVEY = "there is no survey of this name"
NO_WAVE = "the survey has no such wave"


def check_closed(revisions: Sequence[StoredSurvey], wave: int | None, now: datetime) -> None:
    """
    Return if joint results, regressions, weights and files of reports exist: the one place where that is decided.

    Args:
        revisions: all of one survey.
        wave: the one that is asked for; None for all of them together.
        now: the present moment.

    Raises:
        EstimateError: there is no such survey or wave.
        StillOpen: it is open, and no try-out.
    """
    if not revisions:
        raise EstimateError(NO_SURVEY)
    surveys = [survey_of(stored.document) for stored in revisions]
    windows = [survey.waves[wave] for survey in surveys if wave is not None and 0 <= wave < len(survey.waves)]
    if wave is not None and not windows:
        raise EstimateError(NO_WAVE)
    if surveys[-1].trial or all(stored.closed for stored in revisions):
        return
    if not windows or any(wave_state(window, now) != "closed" for window in windows):
        raise StillOpen(STILL_OPEN)
