"""What a researcher sets before a rehearsal: how many people are invented, and with what shares and means."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sottovoce.aggregator.planning.simulated_truth import SetShares
from sottovoce.shared.answers import ABSENT
from sottovoce.shared.spec import Question, Survey

MOST_PEOPLE = 100_000
"""More would take the machine away from others."""

PEOPLE = 1_000
"""Where nobody said how many will answer."""

YES = 10.0
"""Percent of people of whom a thing is true, where nothing was set."""

LOWER = Fraction(1, 4)
"""Where a mean lies between the least and the largest number, where nothing was set: most numbers are small."""

MOST_DRAWS = 9_999

_LONGEST = 24


@dataclass(frozen=True)
class Field:
    """
    One thing that can be set.

    Attributes:
        name: of its parameter in the address.
        question: whose it is.
        option: the option's or coordinate's name; "" for the mean of a number.
        written: as it was set, or what is taken where nothing was.
        kept: nothing else than that was set, so that addresses need not say it.
        refused: what was written cannot be set.
    """

    name: str
    question: Question
    option: str
    written: str
    kept: bool
    refused: bool = False


@dataclass(frozen=True)
class Setting:
    """
    Everything that decides a rehearsal, beside the survey.

    Attributes:
        people: invented.
        again: the same setting with other people, counted from 1.
        fields: question by question.
        wanted: the same for each question, as shares and places.
        refused: names of fields that cannot be as they were written; what they would be unwritten is taken.
    """

    people: int
    again: int
    fields: Sequence[Field]
    wanted: tuple[SetShares, ...]
    refused: tuple[str, ...]

    @property
    def query(self) -> dict[str, str]:
        """The parameters of an address that leads to the same rehearsal."""
        written = {field.name: field.written for field in self.fields if not field.kept}
        again = {"again": str(self.again)} if self.again > 1 else {}
        return {"n": str(self.people), **again, **written}

    def of(self, question: Question) -> list[Field]:
        """What can be set for a question."""
        return [field for field in self.fields if field.question is question]


def read_setting(survey: Survey, query: Mapping[str, str], people: int | None) -> Setting:
    """
    The setting that an address asks for; what it does not say is as nobody set it.

    Args:
        survey: that is rehearsed.
        query: ``n``, ``again``, and ``set.question.option`` in percent or ``set.question`` as a mean.
        people: how many are expected to answer; None if nobody said.
    """
    expected = min(people or PEOPLE, MOST_PEOPLE)
    number, again = _whole(query.get("n", ""), MOST_PEOPLE), _whole(query.get("again", ""), MOST_DRAWS)
    fields: list[Field] = []
    for question in survey.questions:
        fields += _possible([_field(question, option, query) for option in options_to_set(question)])
    refused = [field.name for field in fields if field.refused]
    if query.get("n", "").strip() and number is None:
        refused.insert(0, "n")
    wanted = tuple(_wanted(question, [f for f in fields if f.question is question]) for question in survey.questions)
    return Setting(number or expected, again or 1, fields, wanted, tuple(refused))


def options_to_set(question: Question) -> tuple[str, ...]:
    """Of which options a share is set, or of which coordinates a mean; "" for the one number. The rest say no."""
    if question.kind.truth == "number":
        return ("",)
    return question.options[1:] if question.kind.truth == "yes_no" else question.options


def _field(question: Question, option: str, query: Mapping[str, str]) -> Field:
    name = f"set.{question.name}.{option}" if option else f"set.{question.name}"
    usual, given = _usual(question, option), query.get(name, "").strip()
    if not given or given == usual:
        return Field(name, question, option, usual, kept=True)
    written = _written(question, given[:_LONGEST])
    if written is None:
        return Field(name, question, option, usual, kept=True, refused=True)
    return Field(name, question, option, written, kept=written == usual)


def _usual(question: Question, option: str) -> str:
    """What is taken where nothing was set."""
    grid = question.domain.grid
    if grid is not None:
        return grid.text(math.floor(grid.steps * LOWER))
    if question.domain.absent and option == ABSENT:
        return "0"
    if question.kind.truth == "option":
        return _percent(100 / (question.domain.size - question.domain.absent))
    return _percent(YES)


def _written(question: Question, given: str) -> str | None:
    """What was written in its one spelling; None if it is no percentage from 0 to 100, or no mean within the range."""
    grid = question.domain.grid
    try:
        if grid is not None:
            mean = given.replace(",", ".")
            return mean if grid.low <= grid.read(mean) <= grid.high else None
        percent = float(given.removesuffix("%").strip().replace(",", "."))
    except ValueError:
        return None
    return _percent(percent) if 0 <= percent <= 100 else None


def _percent(percent: float) -> str:
    return f"{percent:.2f}".rstrip("0").rstrip(".")


def _possible(fields: list[Field]) -> list[Field]:
    """The fields of a question, or those of nothing set where they cannot be together."""
    total = sum(float(field.written) for field in fields if field.question.domain.grid is None)
    kind = fields[0].question.kind.truth
    if not ((kind == "yes_no" and total > 100) or (kind == "option" and not total)):
        return fields
    return [Field(f.name, f.question, f.option, _usual(f.question, f.option), kept=True, refused=True) for f in fields]


def _wanted(question: Question, fields: Sequence[Field]) -> SetShares:
    grid = question.domain.grid
    if grid is not None:
        return SetShares(
            places=tuple(float((grid.read(f.written) - grid.low) / (grid.high - grid.low)) for f in fields)
        )
    shares = [float(field.written) / 100 for field in fields]
    if question.kind.truth == "yes_no":
        return SetShares((max(1 - sum(shares), 0.0), *shares))
    if question.kind.truth == "option":
        return SetShares(tuple(share / sum(shares) for share in shares))
    return SetShares(tuple(shares))


def _whole(written: str, most: int) -> int | None:
    digits = written.strip()
    found = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 12 else 0
    return found if 1 <= found <= most else None


def set_figures(question: Question, wanted: SetShares) -> Iterator[float]:
    """What was set, in the order of the options, coordinates, or the one number: shares, or means in the unit."""
    grid = question.domain.grid
    if grid is None:
        yield from wanted.shares
    else:
        yield from (float(grid.low + Fraction(place) * (grid.high - grid.low)) for place in wanted.places)
