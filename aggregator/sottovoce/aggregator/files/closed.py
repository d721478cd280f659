"""When files of reports exist: of closed surveys and closed waves, and of try-outs at any time."""

from collections.abc import Sequence
from datetime import datetime

from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.surveys import survey_of, wave_state
from sottovoce.shared.errors import EstimateError

_OPEN = (
    "the survey is open: files of reports come when it is closed, since two of them that are taken while reports "
    "come could differ by one person's"
)


def check_closed(revisions: Sequence[StoredSurvey], wave: int | None, now: datetime) -> None:
    """
    Refuse what more reports may still join.

    Args:
        revisions: all of one survey, at least one.
        wave: the one that is asked for; None for all.
        now: with its time zone.

    Raises:
        EstimateError: the survey, or this wave of it, is open or has not begun; or there is no such wave.
    """
    surveys = [survey_of(stored.document) for stored in revisions]
    waves = [survey.waves for survey in surveys]
    if wave is not None and not 0 <= wave < max(map(len, waves)):
        raise EstimateError("the survey has no such wave")
    if surveys[-1].trial or all(stored.closed for stored in revisions):
        return
    if wave is None:
        raise EstimateError(f"{_OPEN}; close it, or name a closed wave")
    # Links to an older revision go on working, so that its window counts as well.
    if any(wave_state(each[wave], now) != "closed" for each in waves if wave < len(each)):
        raise EstimateError("this wave is open, or has not begun: files of its reports come when it is closed")
