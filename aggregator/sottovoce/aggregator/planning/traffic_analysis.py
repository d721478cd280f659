"""Judge whether an observer of the server can match reports to invitations by time, under ``access: blind``.

Blind signatures hide the link between invitation and report, so the times of requests are all that is left.
"""

from collections.abc import Sequence

from sottovoce.shared.spec import Survey, Wave

HOUR = 3600
BEFORE_THE_END = 300
"""Seconds before the end of a wave in which devices send without delay."""
ONE_VISIT_SECONDS = 300
"""Seconds; a delay of at most this gives no protection, because the report still follows its invitation closely."""


def spread(hours: int, waves: Sequence[Wave]) -> int:
    """Return the longest sending delay in seconds, for the wave with the shortest one; 0 if devices do not wait."""
    lengths = [(wave.closes - wave.opens).total_seconds() for wave in waves if wave.opens and wave.closes]
    return max(0, min([hours * HOUR, *(int(length) - BEFORE_THE_END for length in lengths)]))


def is_paired(survey: Survey) -> bool:
    """Return True if an observer can match invitations and reports almost surely, for any number of respondents."""
    # Devices redeem all waves at the first visit, so in later waves of a panel no redemption precedes the report.
    in_one_visit = len(survey.waves) == 1 or survey.fresh_samples
    return survey.is_blind and in_one_visit and _sends_at_once(survey)


def blind_limits(survey: Survey) -> Sequence[str]:
    """Return the message keys of the limits to state; empty unless the survey is blind."""
    if not survey.is_blind:
        return ()
    # Without delay, the report of the first wave follows its invitation at once, even in a panel.
    return ("blind_now", "blind") if _sends_at_once(survey) else ("blind",)


def _sends_at_once(survey: Survey) -> bool:
    return spread(survey.send_within_hours, survey.waves) <= ONE_VISIT_SECONDS


def items_that_show_time(survey: Survey) -> list[int]:
    """Return the indices of items that depend on a private answer, if devices send as soon as a person is ready.

    The time between opening and sending then depends on how many questions were asked, and so on that answer.
    """
    private = {question.name for question in survey.questions if question.mechanism is not None}
    if survey.send_within_hours or survey.send_at_seconds:
        return []
    return [
        index
        for index, item in enumerate(survey.items)
        if any(condition.question in private for condition in item.conditions)
    ]
