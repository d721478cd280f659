"""Tell the time, and convert days."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

DAY = 86400
"""Number of seconds in a day."""

Clock = Callable[[], datetime]
"""Function that returns the current time with a time zone; tests pass one that they control."""


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def day_of(moment: datetime) -> int:
    """Return the number of days from 1970-01-01 to a moment, in UTC."""
    return int(moment.timestamp()) // DAY


def date_of(day: int) -> date:
    """Convert a number of days since 1970-01-01 to a date."""
    return date(1970, 1, 1) + timedelta(days=day)
