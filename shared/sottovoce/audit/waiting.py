"""Surveys whose reports wait before they are sent: the moment at which an audit's device lives, and the wait's draw."""

from sottovoce.shared.spec import Survey

ORDINARY = 1_700_000_000
SECONDS_OF_HOUR = 3600
_STEP = 7919
"""From one wait to the next, a prime, so that all bytes of a wait differ."""


def present_of(survey: Survey, wave: int) -> int:
    """
    A moment, in seconds since 1970, that leaves all of a report's time before its wave ends.

    Args:
        survey: that is answered.
        wave: of it.
    """
    closes = survey.waves[wave].closes
    return ORDINARY if closes is None else int(closes.timestamp()) - (survey.send_within_hours + 1) * SECONDS_OF_HOUR


def tape_of_wait(survey: Survey, number: int) -> bytes:
    """
    The random bytes of a wait; none where reports are sent at once.

    Args:
        survey: that is answered.
        number: of the vector; the first one's report need not wait.
    """
    longest = survey.send_within_hours * SECONDS_OF_HOUR
    return (number * _STEP % (longest + 1)).to_bytes((longest.bit_length() + 7) // 8) if longest else b""
