"""What somebody who watches the server could tell under ``access: blind``, where signatures tell nothing."""

from collections.abc import Sequence

from sottovoce.shared.spec import Survey, Wave

HOUR = 3600
BEFORE_THE_END = 300
"""Seconds before the end of a wave in which devices send without a wait."""
HARDLY = 300
"""Seconds; reports that are spread over no more of them follow their invitations as if nothing had waited."""


def spread(hours: int, waves: Sequence[Wave]) -> int:
    """
    Over how many seconds reports are spread, at most, in the wave that leaves devices the least; 0 if none waits.

    Args:
        hours: within which devices are asked to send.
        waves: when reports are taken.
    """
    lengths = [(wave.closes - wave.opens).total_seconds() for wave in waves if wave.opens and wave.closes]
    return max(0, min([hours * HOUR, *(int(length) - BEFORE_THE_END for length in lengths)]))


def is_in_one_visit(survey: Survey) -> bool:
    """
    Whether everybody redeems and reports in one visit.

    All waves are redeemed at the first visit, so that of people who are asked again only the first report is paired.
    """
    return len(survey.waves) == 1 or survey.fresh_samples


def is_paired(survey: Survey) -> bool:
    """Whether a watcher pairs invitation and report for certain, or all but, however many people take part."""
    return survey.is_blind and is_in_one_visit(survey) and _hardly_waits(survey)


def blind_limits(survey: Survey) -> Sequence[str]:
    """Names of the sentences, in the catalogues, that say so; none unless the survey is blind."""
    if not survey.is_blind:
        return ()
    # Without a wait the first wave's report is on the heels of the invitation, whatever comes later.
    return ("blind_now", "blind") if _hardly_waits(survey) else ("blind",)


def _hardly_waits(survey: Survey) -> bool:
    return spread(survey.send_within_hours, survey.waves) <= HARDLY
