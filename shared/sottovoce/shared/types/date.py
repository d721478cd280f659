"""``date``: a day between two others, written as an ISO date; the true value is its number of steps after the first."""

import re
from collections.abc import Mapping
from datetime import date, timedelta
from fractions import Fraction
from typing import Any, ClassVar

from sottovoce.shared.answers import Grid
from sottovoce.shared.types.decimal import NUMBER
from sottovoce.shared.types.integer import IntegerType

DAY = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
FIRST = date(1970, 1, 1)

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class DayGrid(Grid):
    """The days low, low + step, ..., high, counted from 1970-01-01; from the year 1 to 9999."""

    noun = "date (YYYY-MM-DD)"
    unit = " days"

    @staticmethod
    def read(answer: object) -> Fraction:
        """The day of an ISO date; a ``ValueError`` repeats none of it."""
        if not isinstance(answer, str) or not _DAY.fullmatch(answer):
            raise ValueError('must be a date written as a string, such as "2026-01-31"')
        try:
            return Fraction((date.fromisoformat(answer) - FIRST).days)
        except ValueError:
            raise ValueError("must be a day that there is in the calendar") from None

    @staticmethod
    def write(number: Fraction) -> str:
        """The ISO date of a day."""
        return (FIRST + timedelta(days=int(number))).isoformat()

    @staticmethod
    def figure(value: float, towards: int = 0) -> str:
        """The ISO date of the nearest day, or of the one before or after; no further than the calendar goes."""
        day = -(-value // 1) if towards > 0 else value // 1 if towards < 0 else (value + 0.5) // 1
        least, most = ((end - FIRST).days for end in (date.min, date.max))
        return DayGrid.write(Fraction(min(max(int(day), least), most)))


class DateType(IntegerType):
    """One of the days from ``min`` to ``max``, every day unless ``step`` says every how manieth."""

    name = "date"
    keys: ClassVar[Mapping[str, Any]] = {"min": DAY, "max": DAY, "step": NUMBER}
    answer_schema: ClassVar[Mapping[str, Any]] = DAY
    grid = DayGrid
    must_be_whole = "must be a whole number of days"
