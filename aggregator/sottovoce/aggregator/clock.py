"""The present moment, and the day that it is in."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

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


def date_of(day: int) -> date:
    """The day that is so many days after 1970-01-01."""
    return date(1970, 1, 1) + timedelta(days=day)
