"""
The random arms of a survey, and what one respondent is asked: with arms one of several sets, under ``ask`` a drawn one.

The device draws the arm by integer weights, independently of every answer, so it costs no epsilon; it is reported as a
public choice of its own, after the survey's questions. What is not asked in an arm has no value, as under ``ask``: the
arm does not depend on answers, so the missing value says nothing more than the arm does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

ARM = "arm"
"""Name of the public choice that reports the arm; no question of a survey with arms has it."""

MOST_ARMS = 8
MOST_WEIGHT = 1000


@dataclass(frozen=True)
class Arm:
    """One arm of an experiment, drawn with its weight's share of all weights."""

    name: str
    weight: int

    def dump(self) -> dict[str, Any]:
        """Return its document in the canonical survey."""
        return {"name": self.name, "weight": self.weight}


class Reported(Protocol):
    """Questions and the arm, of which a report has values."""

    @property
    def largest(self) -> int:
        """The largest value that a report may carry for it."""

    @property
    def epsilon(self) -> float:
        """The privacy loss of one report."""


class Shown(Protocol):
    """Items of a survey, in the order shown."""

    @property
    def questions(self) -> Sequence[Reported]:
        """Questions of this item, none for a note."""

    def is_in(self, arm: str) -> bool:
        """Return True if it is asked in the arm of this name."""


class HasArms(Protocol):
    """Surveys, as far as this module needs to know them."""

    @property
    def document(self) -> Mapping[str, Any]:
        """The canonical object, all defaults written out."""

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The arms; empty if there are none."""

    @property
    def items(self) -> Sequence[Shown]:
        """Items of the survey, in the order shown."""

    @property
    def questions(self) -> Sequence[Reported]:
        """Questions of the survey and, with arms, the arm last."""

    @property
    def units(self) -> tuple[tuple[int, ...], ...]:
        """Indices of the questions that are drawn together."""

    @property
    def asked_units(self) -> int:
        """Number of units that each respondent is asked."""

    @property
    def places_by_arm(self) -> list[tuple[int, ...]]:
        """Indices of what has a value in each arm."""


def places_by_arm(survey: HasArms) -> list[tuple[int, ...]]:
    """Indices of what has a value in each arm, the arm itself last; one entry, of all questions, without arms."""
    items = [item for item in survey.items for _ in item.questions]
    every = [tuple(index for index, item in enumerate(items) if item.is_in(arm.name)) for arm in survey.arms]
    return [(*places, len(items)) for places in every] or [tuple(range(len(items)))]


def share_asked(survey: HasArms, *indices: int) -> Fraction:
    """
    Return the expected share of respondents whose arm asks all questions with these indices; 1 without arms.

    Args:
        survey: the survey.
        indices: of some of its questions.
    """
    if not survey.arms:
        return Fraction(1)
    arms = zip(survey.arms, survey.places_by_arm, strict=True)
    asking = sum(arm.weight for arm, places in arms if {*indices} <= {*places})
    return Fraction(asking, sum(arm.weight for arm in survey.arms))


def reports_by_question(survey: HasArms, sizes: Sequence[int]) -> list[int]:
    """
    Return the number of reports that must have a value of each question.

    Args:
        survey: the survey.
        sizes: number of reports in each arm; of all reports without arms.
    """
    held = list(zip(sizes, survey.places_by_arm, strict=True))
    return [sum(size for size, places in held if index in places) for index in range(len(survey.questions))]


def is_arm(survey: HasArms, question: Reported) -> bool:
    """Return True for the public choice that reports the arm, which is no answer of a person."""
    return bool(survey.arms) and question is survey.questions[-1]


def epsilons_by_arm(survey: HasArms) -> list[list[float]]:
    """The privacy loss of each unit that is asked, in each arm; one entry, of all units, without arms."""
    questions = survey.questions
    return [
        [questions[unit[0]].epsilon for unit in survey.units if unit[0] in places] for places in survey.places_by_arm
    ]


def is_asked_set(survey: HasArms, values: Sequence[object]) -> bool:
    """
    Return True if just the questions of one respondent have values.

    Args:
        survey: the survey.
        values: one for each question, None for those that were not asked.
    """
    absent = {index for index, value in enumerate(values) if value is None}
    if survey.arms:
        arm = values[-1]
        if type(arm) is not int or not 0 <= arm < len(survey.arms):
            return False
        return absent == set(range(len(values))).difference(survey.places_by_arm[arm])
    unasked = [unit for unit in survey.units if unit[0] in absent]
    whole = {index for unit in unasked for index in unit}
    return len(survey.units) - len(unasked) == survey.asked_units and absent == whole


def longest_values(survey: HasArms) -> tuple[int | None, ...]:
    """Values of the longest report: in the arm, or of the units under ``ask``, whose values take most digits."""
    largest: list[int | None] = [question.largest for question in survey.questions]
    if survey.arms:
        # A value that is not there takes four letters.
        lengths = [sum(len(str(largest[index])) - 4 for index in places) for places in survey.places_by_arm]
        longest = survey.places_by_arm[lengths.index(max(lengths))]
        return tuple(each if index in longest else None for index, each in enumerate(largest))
    longer = {unit: sum(len(str(largest[index])) - 4 for index in unit) for unit in survey.units}
    by_length = sorted(survey.units, key=lambda unit: longer[unit], reverse=True)
    unasked = {index for unit in by_length[survey.asked_units :] for index in unit}
    return tuple(None if index in unasked else value for index, value in enumerate(largest))
