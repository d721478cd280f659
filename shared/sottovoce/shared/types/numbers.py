"""Question types whose answers are numbers on a grid; the true value is the number of steps above the least one."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from fractions import Fraction
from typing import Any, ClassVar

from sottovoce.shared.answers import Domain, Grid
from sottovoce.shared.checks import MISSING, Reader
from sottovoce.shared.types.base import Fields, QuestionType, is_below
from sottovoce.shared.types.options import NAMED

BOUNDS = ("min", "max", "step")
NUMBER = {"$ref": "#/$defs/number"}


class DecimalType(QuestionType):
    """The type of numbers from ``min`` to ``max`` in steps of ``step``.

    Attributes:
        grid: what the numbers are on, and how they are written.
        default_step: the step where the question names none; None if it must.
        must_be_whole: what is said of a bound or step that is no whole number; "" if it may be any.
    """

    name = "decimal"
    truth = "number"
    keys: ClassVar[Mapping[str, Any]] = dict.fromkeys(BOUNDS, NUMBER)
    required: ClassVar[tuple[str, ...]] = BOUNDS
    answer_schema: ClassVar[Mapping[str, Any]] = {"type": ["string", "integer"]}

    grid: ClassVar[type[Grid]] = Grid
    default_step: ClassVar[int | None] = None
    must_be_whole: ClassVar[str] = ""

    def domain(self, fields: Fields, names: Sequence[str], reader: Reader, pointer: str) -> Domain | None:
        """Return the grid; of each coordinate, where there are names."""
        given = fields if self.default_step is None else {"step": self.default_step, **fields}
        # The step is a plain number, also where the bounds are written in another way.
        readers = (self.grid.read, self.grid.read, Grid.read)
        bounds = [
            self._number(given.get(key, MISSING), read, reader, f"{pointer}/{key}")
            for key, read in zip(BOUNDS, readers, strict=True)
        ]
        low, high, step = bounds
        if low is None or high is None or step is None:
            return None
        with reader.noting(pointer):
            return Domain(tuple(names), self.grid(low, high, step))
        return None

    def dump_domain(self, domain: Domain) -> dict[str, Any]:
        """Return the bounds and the step, each in its one spelling."""
        grid = grid_of(domain)
        return {"min": grid.text(0), "max": grid.text(grid.steps), "step": Grid.write(grid.step)}

    def encode(self, domain: Domain, answer: object) -> int:
        """Return the number of steps above the least value, of the nearest step."""
        return grid_of(domain).nearest(answer)

    def check_exact(self, domain: Domain, answer: object) -> None:
        """Refuse a number between two steps."""
        grid_of(domain).index(answer)

    def answer(self, domain: Domain, value: int) -> str:
        """Return the number as its canonical text."""
        return grid_of(domain).text(value)

    def holds(self, domain: Domain, value: object) -> bool:
        """Return True for a number of steps on the grid."""
        return is_below(value, domain.size)

    def _number(self, value: object, read: Any, reader: Reader, pointer: str) -> Fraction | None:  # noqa: ANN401 - a Grid.read
        if value is MISSING:
            reader.problem(pointer, "is missing")
            return None
        with reader.noting(pointer):
            number: Fraction = read(value)
            if self.must_be_whole and number.denominator != 1:
                raise ValueError(self.must_be_whole)
            return number
        return None


def grid_of(domain: Domain) -> Grid:
    """Return the grid of a number."""
    assert domain.grid is not None  # noqa: S101 - every number has a grid
    return domain.grid


class IntegerType(DecimalType):
    """The type of whole numbers from ``min`` to ``max``, in steps of 1 unless ``step`` says otherwise."""

    name = "integer"
    required = ("min", "max")
    default_step = 1
    must_be_whole = "must be a whole number, as the question is an integer"


DAY = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
FIRST = date(1970, 1, 1)

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class DayGrid(Grid):
    """The days low, low + step, ..., high, counted from 1970-01-01; from the year 1 to 9999."""

    noun = "date (YYYY-MM-DD)"
    unit = " days"

    @staticmethod
    def read(answer: object) -> Fraction:
        """Read the day of an ISO date; a ``ValueError`` repeats none of it."""
        if not isinstance(answer, str) or not _DAY.fullmatch(answer):
            raise ValueError('must be a date written as a string, such as "2026-01-31"')
        try:
            return Fraction((date.fromisoformat(answer) - FIRST).days)
        except ValueError:
            raise ValueError("must be a day that there is in the calendar") from None

    @staticmethod
    def write(number: Fraction) -> str:
        """Write a day as an ISO date."""
        return (FIRST + timedelta(days=int(number))).isoformat()

    @staticmethod
    def figure(value: float, towards: int = 0) -> str:
        """Return the ISO date of the nearest day, or of the one before or after; no further than the calendar goes."""
        day = -(-value // 1) if towards > 0 else value // 1 if towards < 0 else (value + 0.5) // 1
        least, most = ((end - FIRST).days for end in (date.min, date.max))
        return DayGrid.write(Fraction(min(max(int(day), least), most)))


class DateType(IntegerType):
    """The type of days from ``min`` to ``max``, as ISO dates; every day unless ``step`` says every how manieth."""

    name = "date"
    keys: ClassVar[Mapping[str, Any]] = {"min": DAY, "max": DAY, "step": NUMBER}
    answer_schema: ClassVar[Mapping[str, Any]] = DAY
    grid = DayGrid
    must_be_whole = "must be a whole number of days"


class VectorType(DecimalType):
    """The type of numbers for each of ``coordinates``, a map; the true value is a tuple of steps, in their order."""

    name = "vector"
    truth = "numbers"
    keys: ClassVar[Mapping[str, Any]] = {"coordinates": NAMED, **dict.fromkeys(BOUNDS, NUMBER)}
    required = ("coordinates", *BOUNDS)
    list_key = "coordinates"
    answer_schema: ClassVar[Mapping[str, Any]] = {"type": "object"}
    may_be_public = False
    single = False

    def domain(self, fields: Fields, names: Sequence[str], reader: Reader, pointer: str) -> Domain | None:
        """Return the grid of each coordinate."""
        domain = super().domain(fields, names, reader, pointer)
        return domain if names else None

    def encode(self, domain: Domain, answer: object) -> Any:  # noqa: ANN401 - a tuple, where one number has an int
        """Return the steps of all coordinates."""
        if not isinstance(answer, Mapping) or set(answer) != set(domain.options):
            raise ValueError("must be a map with one number for each coordinate")
        return tuple(grid_of(domain).nearest(answer[coordinate]) for coordinate in domain.options)

    def check_exact(self, domain: Domain, answer: Any) -> None:  # noqa: ANN401 - as ``encode`` has read it
        """Refuse a number between two steps."""
        for coordinate in domain.options:
            grid_of(domain).index(answer[coordinate])

    def answer(self, domain: Domain, value: Any) -> Any:  # noqa: ANN401 - the same
        """Return the numbers as texts, by coordinate."""
        return {name: grid_of(domain).text(step) for name, step in zip(domain.options, value, strict=True)}

    def holds(self, domain: Domain, value: object) -> bool:
        """Return True for as many numbers of steps as there are coordinates."""
        if not isinstance(value, tuple) or len(value) != len(domain.options):
            return False
        return all(is_below(step, domain.size) for step in value)
