"""``decimal``: a number on a grid, written as a decimal; the true value is its number of steps above the least one."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from sottovoce.shared.answers import Domain, Grid
from sottovoce.shared.checks import MISSING, Reader
from sottovoce.shared.sentence import error_message
from sottovoce.shared.types.base import Fields, QuestionType, is_below

BOUNDS = ("min", "max", "step")
NUMBER = {"$ref": "#/$defs/number"}


class DecimalType(QuestionType):
    """
    One of the numbers from ``min`` to ``max`` in steps of ``step``.

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
        """The grid; of each coordinate, where there are names."""
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
        try:
            return Domain(tuple(names), self.grid(low, high, step))
        except ValueError as error:
            reader.problem(pointer, error_message(error))
            return None

    def dump_domain(self, domain: Domain) -> dict[str, Any]:
        """The bounds and the step, each in its one spelling."""
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
        try:
            number: Fraction = read(value)
        except ValueError as error:
            reader.problem(pointer, error_message(error))
            return None
        if self.must_be_whole and number.denominator != 1:
            reader.problem(pointer, self.must_be_whole)
            return None
        return number


def grid_of(domain: Domain) -> Grid:
    """The grid of a number."""
    assert domain.grid is not None  # noqa: S101 - every number has a grid
    return domain.grid
