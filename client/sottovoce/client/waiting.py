"""Choose when a drawn report is sent, where the survey asks that devices wait: at a random moment, or at a set one."""

import math
from datetime import datetime

from sottovoce.client.draws import Draws
from sottovoce.shared.spec import Survey

SECONDS_OF_HOUR = 3600
BEFORE_THE_END = 300
"""Seconds that a report is due before its wave ends: at that moment itself none is taken, and clocks differ."""
TO_RECORD = 2
"""Seconds that drawing and recording may take: a report recorded shortly before a moment is sent at the next one."""


def draw_send_at(survey: Survey, wave: int, draws: Draws, present: datetime, opened: datetime) -> int:
    """Draw when a report is to be sent, in seconds since 1970, after its values; 0 where it does not wait.

    With ``send_within_hours``, bytes of one ``below``: every second is equally likely, in the survey's hours and five
    minutes or more before the wave ends; in these last minutes a report does not wait. With ``send_at_seconds`` no
    bytes: the moment is the next whole multiple of these seconds since the survey was ``opened``.
    """
    longest = longest_wait(survey, wave, present)
    if survey.send_within_hours:
        return int(present.timestamp()) + draws.below(longest + 1)
    if not longest:
        return 0
    until = _until_multiple(survey.send_at_seconds, (present - opened).total_seconds())
    return math.floor(present.timestamp() + min(longest, until) + 0.5)


def _until_multiple(period: int, elapsed: float) -> float:
    return (math.floor((elapsed + TO_RECORD) / period) + 1) * period - elapsed


def longest_wait(survey: Survey, wave: int, present: datetime) -> int:
    """Return the longest that a report drawn now would wait, in seconds; 0 where it is sent at once."""
    period, closes = survey.send_at_seconds, survey.waves[wave].closes
    most = period + TO_RECORD if period else survey.send_within_hours * SECONDS_OF_HOUR
    return min(most, most if closes is None else max(0, int((closes - present).total_seconds()) - BEFORE_THE_END))
