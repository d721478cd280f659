"""The true values of a question: what a randomizer reads. How an answer becomes one is in ``types``.

    yes_no, option    the index of an option
    options           a bit mask, bit j for option j
    number            steps above the least value
    numbers           a tuple of steps, in the order of the coordinates

Numbers are whole numbers or decimals written as strings, and exact: 0.3 is step 3 of a grid with steps of 0.1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from sottovoce.shared import rational

Value = int | tuple[int, ...]
"""A true value; a tuple for vector questions only."""

TRUTHS = ("yes_no", "option", "options", "number", "numbers")
"""The kinds of true values: yes or no, one of some options, a set of them, a number on a grid, several such numbers. A
question type has one of them, and a mechanism serves one; a yes or no with a category added is one of three options.
"""

ABSENT = "absent"
"""Name of the category that ``absent_category`` adds after a question's own options; no answer names it."""

MAX_MASK_OPTIONS = 52
"""Most options of a bit mask that JavaScript reads exactly as a whole number."""


@dataclass(frozen=True)
class Grid:
    """The numbers low, low + step, ..., high.

    Attributes:
        low, high, step: exact; (high - low) / step is a whole number from 1 to 2^32.
        noun: what one of them is called.
        unit: what a difference of two of them is a number of.
    """

    noun: ClassVar[str] = "number"
    unit: ClassVar[str] = ""

    low: Fraction
    high: Fraction
    step: Fraction

    def __post_init__(self) -> None:
        if self.step <= 0 or self.low >= self.high:
            raise ValueError("min must be less than max, and step above 0")
        if (self.high - self.low) % self.step:
            raise ValueError("step must divide the range from min to max")
        if self.steps > rational.MAX_DENOMINATOR:
            raise ValueError("there must be at most 2^32 steps from min to max")

    @cached_property
    def steps(self) -> int:
        """Number of steps from the least value to the largest."""
        return int((self.high - self.low) / self.step)

    def index(self, answer: object) -> int:
        """Return the number of steps from the least value to ``answer``.

        Raises ValueError if it is no number of the form that ``read`` takes, out of range, or between two steps.
        """
        steps = (self.read(answer) - self.low) / self.step
        if not 0 <= steps <= self.steps:
            raise ValueError("must lie between min and max")
        if steps.denominator != 1:
            raise ValueError("is not on the grid")
        return steps.numerator

    def nearest(self, answer: object) -> int:
        """Return the number of steps from the least value to the one nearest to ``answer``; of two, the even number.

        An honest answer between two steps is counted as the nearer one, exactly and before anything is randomized.
        Raises ValueError if it is no number of the form that ``read`` takes, or out of range.
        """
        steps = (self.read(answer) - self.low) / self.step
        if not 0 <= steps <= self.steps:
            raise ValueError("must lie between min and max")
        return round(steps)

    @staticmethod
    def read(answer: object) -> Fraction:
        """Read the number that an answer or a bound says; a ``ValueError`` repeats none of it."""
        return rational.parse_decimal(answer)

    @staticmethod
    def write(number: Fraction) -> str:
        """Write a number in its canonical spelling; ``read`` reads it back."""
        return rational.dump_decimal(number)

    def number(self, step: Fraction | int) -> Fraction:
        """Return the number at this many steps above the least one."""
        return self.low + step * self.step

    def text(self, step: int) -> str:
        """Return the canonical answer with this number of steps."""
        return self.write(self.number(step))

    @staticmethod
    def figure(value: float, _towards: int = 0) -> float | str:
        """Return a figure in the unit of these numbers as it is published; -1 rounds it down where it must be, 1 up."""
        return value


@dataclass(frozen=True)
class Domain:
    """The true values of a question.

    Attributes:
        options: names of the options, or of the coordinates of a vector; none for a number.
        grid: the grid of a number, or of each coordinate of a vector.
        max_choices: most options that one answer may name.
        absent: the last option is the category that ``absent_category`` adds.
    """

    options: tuple[str, ...] = ()
    grid: Grid | None = None
    max_choices: int = 1
    absent: bool = False

    @cached_property
    def size(self) -> int:
        """Number of options, or of values on the grid."""
        return len(self.options) if self.grid is None else self.grid.steps + 1

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Index of each option that an answer can name: all but the category that ``absent_category`` adds."""
        return {name: place for place, name in enumerate(self.options[: len(self.options) - self.absent])}

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates of a vector; none for any other question."""
        return () if self.grid is None else self.options

    @property
    def steps(self) -> int:
        """Number of steps of the grid: 0 is the least value, ``steps`` the largest."""
        return self.size - 1


def random_answers(domain: Domain, absent: Value | None) -> tuple[Fraction, ...]:
    """Return the probability of each category for a person who chooses evenly among the options shown.

    ``absent`` is the true value of no answer, which is then an option shown; None if an answer is required.
    """
    shown = len(domain.places) + (absent is not None)
    found = [Fraction(1, shown)] * len(domain.options)
    # Without a category of its own, no answer counts as one of the others.
    if isinstance(absent, int) and not domain.absent:
        found[absent] += Fraction(1, shown)
    return tuple(found)
