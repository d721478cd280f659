"""Question types: their base class (the domain of true values, their parsing and their text), those whose answers are
options (one, yes or no, or several), and those whose answers are numbers on a grid.

The true value of a number is the number of steps above the least one.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from fractions import Fraction
from typing import Any, ClassVar, TypeGuard

from sottovoce.shared.answers import MAX_MASK_OPTIONS, Domain, Grid, Value
from sottovoce.shared.checks import MISSING, Reader

MAX_CHOICES = 1000

Fields = Mapping[str, Any]
"""The document of a question."""

NAMED = {"$ref": "#/$defs/choices"}

BOUNDS = ("min", "max", "step")
NUMBER = {"$ref": "#/$defs/number"}


class QuestionType(ABC):
    """A type of question.

    Attributes:
        name: the type's name in a survey file.
        truth: the kind of its true values, one of ``answers.TRUTHS``; mechanisms, forms and estimates go by it.
        keys: the keys that describe its true values, with the JSON Schema of each.
        required: those of them that an author must give; the canonical survey always has them all.
        list_key: the one of them that lists options or coordinates by name and label, or "".
        most_choices: how many of these there may be.
        answer_schema: the JSON Schema of an answer.
        takes_category: ``absent_category`` can add an option, and a public question can be the cohort.
        may_be_public: the question can be asked openly.
        is_set: an answer names any number of the options, and its true value is a bit mask of them.
        single: one value, so that it can be a row of a matrix, and be named by conditions.
    """

    name: ClassVar[str]
    truth: ClassVar[str]
    keys: ClassVar[Mapping[str, Any]] = {}
    required: ClassVar[tuple[str, ...]] = ()
    list_key: ClassVar[str] = ""
    most_choices: ClassVar[int] = MAX_CHOICES
    answer_schema: ClassVar[Mapping[str, Any]] = {"type": "string"}
    takes_category: ClassVar[bool] = False
    may_be_public: ClassVar[bool] = True
    is_set: ClassVar[bool] = False
    single: ClassVar[bool] = True

    @abstractmethod
    def domain(self, fields: Fields, names: Sequence[str], reader: Reader, pointer: str) -> Domain | None:
        """Return the document's true values, with these names of options or coordinates; None after a noted mistake."""

    def dump_domain(self, domain: Domain) -> dict[str, Any]:  # noqa: ARG002 - most have nothing more to say
        """Return the canonical ``keys`` but the list of names."""
        return {}

    @abstractmethod
    def encode(self, domain: Domain, answer: object) -> Value:
        """Return the true value of an answer; a ValueError repeats nothing of what is none."""

    @abstractmethod
    def answer(self, domain: Domain, value: Any) -> Any:  # noqa: ANN401 - as the type has it
        """Return the answer that has this true value, in its canonical spelling; ``encode`` reads it back."""

    @abstractmethod
    def holds(self, domain: Domain, value: object) -> bool:
        """Return True if this is a true value of the domain: a randomizer's epsilon holds for no other."""

    def check_exact(self, domain: Domain, answer: object) -> None:  # noqa: B027 - most have nothing to round
        """Refuse, by a ``ValueError``, an author's answer that ``encode`` would round: only a respondent's is."""

    def check_absent(self, value: Value) -> None:  # noqa: B027 - most allow every value
        """Refuse, by a ``ValueError``, a true value that may not stand for no answer."""


def is_below(value: object, bound: int) -> TypeGuard[int]:
    """Return True for an integer (not a bool) from 0 to ``bound`` - 1."""
    return type(value) is int and 0 <= value < bound


class SelectOneType(QuestionType):
    """The type whose answer is the name of one of the options in ``choices``; the true value is its index."""

    name = "select_one"
    truth = "option"
    keys: ClassVar[Mapping[str, Any]] = {"choices": NAMED}
    required: ClassVar[tuple[str, ...]] = ("choices",)
    list_key = "choices"
    takes_category = True

    def domain(self, fields: Fields, names: Sequence[str], reader: Reader, pointer: str) -> Domain | None:  # noqa: ARG002
        """Return the domain with these options; None without any."""
        return Domain(tuple(names)) if names else None

    def encode(self, domain: Domain, answer: object) -> int:
        """Return the option's index; the category for no answer is not named."""
        return option_index(domain, answer)

    def answer(self, domain: Domain, value: int) -> str:
        """Return the name of the option with this index."""
        return domain.options[value]

    def holds(self, domain: Domain, value: object) -> bool:
        """Return True for the index of an option."""
        return is_below(value, domain.size)


def option_index(domain: Domain, answer: object) -> int:
    """Return the index of the option with this name; a ``ValueError`` repeats nothing of it."""
    place = domain.places.get(answer) if isinstance(answer, str) else None
    if place is None:
        raise ValueError("is not one of its options")
    return place


class RatingType(SelectOneType):
    """The type whose answer is one of some options in an order, shown side by side."""

    name = "rating"


BOOLEAN_OPTIONS = ("no", "yes")
"""The options of a yes/no question, in the order of their values 0 and 1."""


class BooleanType(SelectOneType):
    """The type whose answer is yes or no; the true value is 1 for yes."""

    name = "boolean"
    truth = "yes_no"
    keys: ClassVar[Mapping[str, Any]] = {}
    required = ()
    list_key = ""

    def domain(self, fields: Fields, names: Sequence[str], reader: Reader, pointer: str) -> Domain:  # noqa: ARG002
        """Return the domain, the same for every such question."""
        return Domain(BOOLEAN_OPTIONS)


class SelectMultipleType(QuestionType):
    """The type of at most ``max_choices`` of the options, or none, as a list of names; the true value is a bit mask."""

    name = "select_multiple"
    truth = "options"
    keys: ClassVar[Mapping[str, Any]] = {
        "choices": {**NAMED, "maxItems": MAX_MASK_OPTIONS},
        "max_choices": {"type": "integer", "minimum": 1, "maximum": MAX_MASK_OPTIONS},
    }
    required = ("choices",)
    list_key = "choices"
    most_choices = MAX_MASK_OPTIONS
    answer_schema: ClassVar[Mapping[str, Any]] = {"type": "array"}
    may_be_public = False
    is_set = True

    def domain(self, fields: Fields, names: Sequence[str], reader: Reader, pointer: str) -> Domain | None:
        """Return the options, and how many of them may be chosen: all, unless the question says otherwise."""
        if not names:
            return None
        most = reader.integer(fields.get("max_choices", len(names)), f"{pointer}/max_choices", 1, len(names))
        return Domain(tuple(names), max_choices=most)

    def dump_domain(self, domain: Domain) -> dict[str, Any]:
        """Return the largest number of options that one answer may name."""
        return {"max_choices": domain.max_choices}

    def encode(self, domain: Domain, answer: object) -> int:
        """Return the mask of the options that are named."""
        # A text is a sequence too, so that the one option "ab" would pass for the two options "a" and "b".
        if not isinstance(answer, list | tuple):
            raise ValueError("must be a list of options")
        selected = [option_index(domain, option) for option in answer]
        if len(set(selected)) != len(selected):
            raise ValueError("names an option twice")
        if len(selected) > domain.max_choices:
            raise ValueError("names more options than may be chosen")
        return sum(1 << option for option in selected)

    def answer(self, domain: Domain, value: int) -> list[str]:
        """Return the names of the options, in their order."""
        return [option for index, option in enumerate(domain.options) if value >> index & 1]

    def holds(self, domain: Domain, value: object) -> bool:
        """Return True for a mask of no more options than may be chosen."""
        return is_below(value, 1 << domain.size) and value.bit_count() <= domain.max_choices

    def check_absent(self, value: Value) -> None:
        """Refuse all but the empty set: any other one would be taken for a choice."""
        if value:
            raise ValueError("must be an empty list: who is absent sends the empty set")


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
    unit = "days"

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
