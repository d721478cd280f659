"""
From an answer, as a form or a program gives it, to the true value that a randomizer reads.

    boolean, select_one, rating   an option's name          its index
    select_multiple               a list of option names    a bit mask, bit j for option j
    integer, decimal              a number on the grid      steps above the least value
    vector                        a map of such numbers     a tuple of steps, in the order of the coordinates

Numbers are whole numbers or decimals written as strings, and exact: 0.3 is step 3 of a grid with steps of 0.1.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeGuard

from sottovoce.shared import rational

Value = int | tuple[int, ...]
"""A true value; a tuple for vector questions only."""

TRUTHS = ("yes_no", "option", "options", "number", "numbers")
"""
The kinds of true values: yes or no, one of some options, a set of them, a number on a grid, several such numbers. A
question type has one of them, and a mechanism serves one; a yes or no with a category added is one of three options.
"""

ABSENT = "absent"
"""Name of the category that ``absent_category`` adds after a question's own options; no answer names it."""

MAX_MASK_OPTIONS = 52
"""A bit mask of so many options is a whole number that JavaScript reads exactly."""


@dataclass(frozen=True)
class Grid:
    """
    The numbers low, low + step, ..., high.

    Attributes:
        low, high, step: exact; (high - low) / step is a whole number from 1 to 2^32.
    """

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
        """
        How many steps ``answer`` lies above the least value.

        Raises:
            ValueError: not a number of the form that ``parse_decimal`` reads, out of range, or between two steps.
        """
        number = rational.parse_decimal(answer)
        if not self.low <= number <= self.high:
            raise ValueError("must lie between min and max")
        steps = (number - self.low) / self.step
        if steps.denominator != 1:
            raise ValueError("is not on the grid")
        return steps.numerator


@dataclass(frozen=True)
class Domain:
    """
    The true values of one question.

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

    @property
    def size(self) -> int:
        """Number of options, or of values on the grid."""
        return len(self.options) if self.grid is None else self.grid.steps + 1

    @property
    def steps(self) -> int:
        """Number of steps of the grid: 0 is the least value, ``steps`` the largest."""
        return self.size - 1


def holds(question_type: str, domain: Domain, value: object) -> bool:
    """Whether ``value`` is a true value of a question of this type: what a randomizer's epsilon counts on."""
    if isinstance(value, tuple):
        right = question_type == "vector" and len(value) == len(domain.options)
        return right and all(_within(step, domain.size) for step in value)
    if question_type == "select_multiple":
        return _within(value, 1 << domain.size) and value.bit_count() <= domain.max_choices
    return question_type != "vector" and _within(value, domain.size)


def _within(value: object, bound: int) -> TypeGuard[int]:
    return type(value) is int and 0 <= value < bound


def _one(domain: Domain, answer: object) -> int:
    if not isinstance(answer, str) or answer not in domain.options[: domain.size - domain.absent]:
        raise ValueError("is not one of its options")
    return domain.options.index(answer)


def _several(domain: Domain, answer: object) -> int:
    # A text is a sequence too, so that the one option "ab" would pass for the two options "a" and "b".
    if not isinstance(answer, list | tuple):
        raise ValueError("must be a list of options")
    chosen = [_one(domain, option) for option in answer]
    if len(set(chosen)) != len(chosen):
        raise ValueError("names an option twice")
    if len(chosen) > domain.max_choices:
        raise ValueError("names more options than may be chosen")
    return sum(1 << option for option in chosen)


def _number(domain: Domain, answer: object) -> int:
    assert domain.grid is not None  # noqa: S101 - every number has a grid
    return domain.grid.index(answer)


def _numbers(domain: Domain, answer: object) -> tuple[int, ...]:
    if not isinstance(answer, Mapping) or set(answer) != set(domain.options):
        raise ValueError("must be a map with one number for each coordinate")
    return tuple(_number(domain, answer[coordinate]) for coordinate in domain.options)


ENCODERS: dict[str, Callable[[Domain, object], Value]] = {
    "boolean": _one,
    "select_one": _one,
    "rating": _one,
    "select_multiple": _several,
    "integer": _number,
    "decimal": _number,
    "vector": _numbers,
}
"""``encode(domain, answer) -> value`` by question type; a ``ValueError`` says what is wrong and repeats no answer."""
