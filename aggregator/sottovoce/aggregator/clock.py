"""The present moment, and the day that it is in."""

from collections.abc import Callable
from datetime import UTC, datetime

DAY = 86400
"""Seconds of a day."""

Clock = Callable[[], datetime]
"""Whatever tells the present moment, with its time zone; tests hand over one that they set."""


def now() -> datetime:
    """The present moment."""
    return datetime.now(UTC)


def day_of(moment: datetime) -> int:
    """Days since 1970-01-01, in UTC."""
    return int(moment.timestamp()) // DAY
