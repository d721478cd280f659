"""Decide the questions for one respondent: those of the arm that the device draws and, under ``ask`` of the survey or
of a block, a drawn set of them.

The device draws the arm by integer weights and the set with equal chances, independently of every answer, so neither
costs epsilon. The arm is reported as a public choice of its own, after the survey's questions; the set shows in the
report. What is not asked has no value, which says nothing more than the arm and the set do. A survey without ``arms``
is as one with a single arm.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.mechanisms.joint_rr import JointMember, JointRR

ARM = "arm"
"""Name of the public choice that reports the arm; no question of a survey with arms has it."""

MOST_ARMS = 8
MOST_WEIGHT = 1000

Unit = tuple[int, ...]
"""Indices of the questions that are drawn together: those of a block, or one private question."""


@dataclass(frozen=True)
class Block:
    """Questions whose answers are randomized together.

    Attributes:
        name: unique among the names of the survey's items.
        questions: their indices in the survey, one after the other.
        mechanism: how a combination of their answers is randomized; each question has the part that concerns it.
    """

    name: str
    questions: tuple[int, ...]
    mechanism: JointRR


def flat_items(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the entries of a valid survey's document, each block followed by its items."""
    return [part for entry in document["questions"] for part in (entry, *entry.get("items", ()))]


def blocks_of(mechanisms: Sequence[Mechanism | None]) -> tuple[Block, ...]:
    """Return the blocks of questions with these mechanisms, in order; None stands for a public question."""
    found: dict[str, Block] = {}
    for index, member in enumerate(mechanisms):
        if isinstance(member, JointMember):
            before = found[member.block_name].questions if member.position else ()
            found[member.block_name] = Block(member.block_name, (*before, index), member.block)
    return tuple(found.values())


@dataclass(frozen=True)
class Arm:
    """An arm of an experiment, drawn with its weight's share of all weights."""

    name: str
    weight: int

    def dump(self) -> dict[str, Any]:
        """Return the arm's document in the canonical survey."""
        return {"name": self.name, "weight": self.weight}


@dataclass(frozen=True)
class UnitSample:
    """Units of which the device draws ``size``, every set with the same chance."""

    size: int
    units: tuple[Unit, ...]


class SampledSurvey:
    """Part of a survey that decides which questions one respondent is asked; ``spec.Survey`` has the rest.

    Attributes:
        items, questions: in order; with arms, the last question reports the arm.
        arms: of which the device draws one; empty for none.
        ask: number of private questions of the arm, a block as one, that the device draws; None for all.
    """

    items: tuple[Any, ...]
    questions: tuple[Any, ...]
    arms: tuple[Arm, ...]
    ask: int | None

    @cached_property
    def private(self) -> tuple[int, ...]:
        """Indices of the questions that are randomized, of which ``ask`` leaves some out."""
        return tuple(index for index, question in enumerate(self.questions) if question.mechanism is not None)

    @cached_property
    def places_by_arm(self) -> list[tuple[int, ...]]:
        """Indices of what may have a value in each arm, the arm itself last; one entry, of all, without arms."""
        items = [item for item in self.items for _ in item.questions]
        every = [tuple(index for index, item in enumerate(items) if item.is_in(arm.name)) for arm in self.arms]
        return [(*places, len(items)) for places in every] or [tuple(range(len(self.questions)))]

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The questions that are randomized together, in order."""
        return blocks_of([question.mechanism for question in self.questions])

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """Indices of the questions that are drawn together: those of each block, each other private one by itself."""
        rest = {index: block.questions for block in self.blocks for index in block.questions}
        return tuple(dict.fromkeys(rest.get(index, (index,)) for index in self.private))

    @cached_property
    def units_by_arm(self) -> list[tuple[Unit, ...]]:
        """Units of each arm, of which ``ask`` takes some; one entry, of all units, without arms."""
        return [tuple(unit for unit in self.units if unit[0] in places) for places in self.places_by_arm]

    @cached_property
    def asked_by_unit(self) -> dict[Unit, int]:
        """Number of questions that a person is asked of a unit, if of any."""
        drawn = {block.questions: block.mechanism.asked for block in self.blocks}
        return {unit: drawn.get(unit, len(unit)) for unit in self.units}

    @cached_property
    def is_sampled(self) -> bool:
        """Return True if some devices draw what they ask, by ``ask`` of the survey or of a block."""
        return any(samples(self, arm) for arm in range(len(self.places_by_arm)))

    @property
    def epsilons_by_arm(self) -> list[list[float]]:
        """The privacy loss of each unit of each arm; one entry, of all units, without arms."""
        return [[self.questions[unit[0]].epsilon for unit in units] for units in self.units_by_arm]

    @property
    def unit_epsilons(self) -> list[float]:
        """The privacy loss of each unit, in the dearest arm: a block costs as much as each question in it."""
        return max(self.epsilons_by_arm, key=self._largest_sum)

    @property
    def epsilon(self) -> float:
        """The privacy loss of one whole report: the sum over its units, of the m costliest, in the dearest arm."""
        return max(map(self._largest_sum, self.epsilons_by_arm))

    def epsilon_in_arm(self, arm: int) -> float:
        """Return the privacy loss of a report of the arm with this index, 0 without arms."""
        return self._largest_sum(self.epsilons_by_arm[arm])

    @cached_property
    def groups(self) -> dict[tuple[int, int], Fraction]:
        """Return the share of people who send so many randomized answers of so many, by both numbers.

        Arms that send alike are one group, as all are that randomize every answer, or none.
        """
        weights = [arm.weight for arm in self.arms] or [1]
        groups: dict[tuple[int, int], Fraction] = {}
        for weight, places, units in zip(weights, self.places_by_arm, self.units_by_arm, strict=True):
            chance = sum(sorted((self.asked_by_unit[unit] for unit in units), reverse=True)[: self.ask])
            total = chance + len({*places}.difference(self.private)) - bool(self.arms)
            key = (chance, total) if 0 < chance < total else (int(chance > 0), 1)
            groups[key] = groups.get(key, Fraction(0)) + Fraction(weight, sum(weights))
        return groups

    def _largest_sum(self, epsilons: Sequence[float]) -> float:
        return math.fsum(sorted(epsilons, reverse=True)[: self.ask])

    @cached_property
    def longest(self) -> tuple[int | None, ...]:
        """Values of the longest report: in the arm, and of the units under ``ask``, whose values take most digits."""
        largest = [question.largest for question in self.questions]

        def length(indices: Sequence[int]) -> int:
            # A value that is not there takes four letters.
            return sum(len(str(largest[index])) - 4 for index in indices)

        sets = []
        for arm, places in enumerate(self.places_by_arm):
            longest = {*places}
            # The sets within blocks first, so that a block counts with what is asked of it.
            for sample in reversed(samples(self, arm)):
                units = [tuple(longest.intersection(unit)) for unit in sample.units]
                longest.difference_update(*sorted(units, key=length, reverse=True)[sample.size :])
            sets.append(longest)
        longest = max(sets, key=lambda places: length([*places]))
        return tuple(each if index in longest else None for index, each in enumerate(largest))

    def asks_for(self, values: Sequence[object]) -> bool:
        """Return True if just the questions of one respondent have values; None stands for one not asked."""
        arm = values[-1] if self.arms else 0
        if type(arm) is not int or not 0 <= arm < len(self.places_by_arm):
            return False
        present = {index for index, value in enumerate(values) if value is not None}
        units = self.units_by_arm[arm]
        begun = [unit for unit in units if not present.isdisjoint(unit)]
        public = {*self.places_by_arm[arm]}.difference(self.private)
        whole = all(len(present.intersection(unit)) == self.asked_by_unit[unit] for unit in begun)
        return whole and len(begun) == asked_of(self, units) and public <= present <= public.union(*begun)


def asked_of(survey: SampledSurvey, units: Sequence[Unit]) -> int:
    """Return how many of an arm's units each of its respondents is asked: ``ask``, or all if there are no more."""
    return len(units) if survey.ask is None else min(survey.ask, len(units))


def samples(survey: SampledSurvey, arm: int = 0) -> list[UnitSample]:
    """Return what the device draws from in an arm (0 without arms), in the order drawn; empty if all is asked."""
    units = survey.units_by_arm[arm]
    asked = asked_of(survey, units)
    whole = [UnitSample(asked, units)] if asked < len(units) else []
    drawn = [(unit, survey.asked_by_unit[unit]) for unit in units]
    return whole + [UnitSample(m, tuple((index,) for index in unit)) for unit, m in drawn if m < len(unit)]


def share_asked(survey: SampledSurvey, *indices: int) -> Fraction:
    """Return the expected share of respondents who are asked all questions with these indices."""
    weights = [arm.weight for arm in survey.arms] or [1]
    asked = Fraction(0)
    for arm, weight in enumerate(weights):
        if {*indices} <= {*survey.places_by_arm[arm]}:
            share = Fraction(weight)
            for sample in samples(survey, arm):
                total, wanted = len(sample.units), sum(not {*unit}.isdisjoint(indices) for unit in sample.units)
                share *= Fraction(math.perm(sample.size, wanted), math.perm(total, wanted))
            asked += share
    return asked / sum(weights)


def reports_by_question(survey: SampledSurvey, sizes: Sequence[int]) -> list[int]:
    """Return the number of reports that may have a value of each question, and must of a public one.

    ``sizes`` are numbers of reports in each arm; of all reports without arms.
    """
    held = list(zip(sizes, survey.places_by_arm, strict=True))
    return [sum(size for size, places in held if index in places) for index in range(len(survey.questions))]


def is_arm(survey: SampledSurvey, question: object) -> bool:
    """Return True for the public choice that reports the arm, which is no answer of a person."""
    return bool(survey.arms) and question is survey.questions[-1]


def arm_index(survey: SampledSurvey, name: str) -> int:
    """Return the index of the arm of this name; 0 without arms."""
    return [arm.name for arm in survey.arms].index(name) if survey.arms else 0
