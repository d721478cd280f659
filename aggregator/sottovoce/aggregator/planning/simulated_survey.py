"""Simulate surveys: true answers for every question, randomized reports, and estimates compared with the truth.

Reports are simulated in memory, for the same functions that make files and joint results of real reports. They are
never stored in a database: these objects have no method to write. True values have given shares and means, and random
arms of respondents who are planned for or simulated are drawn by the survey's weights.

Blocks       The answers of many respondents to the questions of a block are randomized together. The offset of a report
             from the truth, (y - x) mod k in each question, has one law for every truth: each combination of offsets
             has the weight of its number of offsets that are not 0. So one draw below the total picks the combination.
"""

import itertools
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.estimates import RevisionCounts, SurveyResults, analyse
from sottovoce.aggregator.analysis.report_columns import Columns, read_columns
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.estimators.means import grid_of, in_units
from sottovoce.aggregator.planning.vectorized_randomizers import BLOCK, BatchDraws, Values, ask_batch, simulate
from sottovoce.aggregator.storage import Cell
from sottovoce.aggregator.storage.hash_chain import SurveyLogEntry
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.storage.pack_values import LETTERS, null
from sottovoce.aggregator.storage.reports.batch_columns import cut, tallies, tally
from sottovoce.shared.answers import Domain
from sottovoce.shared.arms.arms import is_arm
from sottovoce.shared.mechanisms.joint_rr import JointRR
from sottovoce.shared.parse_item import planned_comparisons
from sottovoce.shared.spec import Question, Survey
from sottovoce.shared.visibility import Condition

RowMask = NDArray[np.bool_]

Inventor = Callable[[int], Values]
"""Function from a number of respondents to their true values; each call continues the stream."""

TrueShares = NDArray[np.float64]

STEADINESS = 7.0
"""Concentration of numbers around their mean: the sum of the two parameters of the beta distribution."""

_SMALL = 1 << 16
"""Largest total that is looked up in a table; above it a draw needs a search."""


def simulate_survey(survey: Survey, truths: Sequence[Values], asked: Sequence[Any], draws: BatchDraws) -> list[Values]:
    """Return the reported values of each question, from the respondents who are asked it, as ``ask_batch`` selects.

    Questions that respondents randomize by hand are simulated through the same channel.
    """
    reported: list[Values] = []
    for index, (question, truth) in enumerate(zip(survey.questions, truths, strict=True)):
        mechanism = question.mechanism
        if mechanism is None:
            reported.append(truth[asked[index]])
        elif question.member is None:
            reported.append(simulate(mechanism, truth[asked[index]], draws))
        elif question.member.position == 0:
            block = question.member.block
            places = slice(index, index + len(block.sizes))
            reported += _simulate_asked(block, truths[places], asked[places], draws)
    return reported


def _simulate_asked(block: JointRR, truths: Sequence[Values], asked: Sequence[Any], draws: BatchDraws) -> list[Values]:
    if block.ask is None:
        # They are asked together.
        return simulate_block(block, [truth[asked[0]] for truth in truths], draws)
    held = np.zeros((len(asked), len(truths[0])), dtype=bool)
    for row, chosen in zip(held, asked, strict=True):
        row[chosen] = True
    reported = [np.zeros_like(truth) for truth in truths]
    sets, of_each = np.unique(held, axis=1, return_inverse=True)
    for number, drawn in enumerate(sets.T):
        people, positions = np.flatnonzero(of_each == number), np.flatnonzero(drawn).tolist()
        if len(positions):
            moved = simulate_block(block, [truths[each][people] for each in positions], draws)
            for position, values in zip(positions, moved, strict=True):
                reported[position][people] = values
    return [values[chosen] for values, chosen in zip(reported, held, strict=True)]


def simulate_block(block: JointRR, truths: Sequence[Values], draws: BatchDraws) -> list[Values]:
    """Randomize the true categories, shape (n,), of a block's questions that are asked; return the reported."""
    (places, offsets), parts = _offsets(block), []
    for start in range(0, len(truths[0]), BLOCK):
        some = [truth[start : start + BLOCK] for truth in truths]
        drawn = draws.below(block.total, len(some[0]))
        way = places[drawn] if block.total <= _SMALL else np.searchsorted(places, drawn, side="right")
        moved = [truth.astype(offset.dtype) + offset[way] for truth, offset in zip(some, offsets, strict=True)]
        sized = zip(moved, block.asked_sizes, strict=True)
        parts.append([np.where(value < size, value, value - size) for value, size in sized])
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)] if parts else [*truths]


@lru_cache(maxsize=16)
def _offsets(block: JointRR) -> tuple[Values, tuple[Values, ...]]:
    """Return what tells a draw's combination of offsets, and the offsets of each question by combination.

    The first is a table of combinations by draw where the total is small, else the cumulative weights.
    """
    offsets = np.indices(block.asked_sizes).reshape(block.asked, -1)
    weights = np.array(block.offset_weights, dtype=np.int64)
    places = np.repeat(np.arange(len(weights), dtype=np.uint16), weights) if block.total <= _SMALL else weights.cumsum()
    kinds = [np.min_scalar_type(2 * size) for size in block.asked_sizes]
    return places, tuple(row.astype(kind) for row, kind in zip(offsets, kinds, strict=True))


def arm_shares(survey: Survey, question: Question) -> tuple[float, ...]:
    """Return the expected share of each arm if the question reports the arm; empty for any other question."""
    if not is_arm(survey, question):
        return ()
    whole = sum(arm.weight for arm in survey.arms)
    return tuple(arm.weight / whole for arm in survey.arms)


def asked_in_simulation(survey: Survey, truths: Sequence[Values], draws: BatchDraws) -> list[Any]:
    """Return who is asked each question: those of its arms and, under ``ask``, of their sets.

    With arms, the last array of ``truths`` has the arms. A selection is a mask of shape (count,), or a slice of all.
    """
    if not survey.arms:
        return ask_batch(survey, len(truths[0]), draws)
    arms = truths[-1]
    masks = np.zeros((len(survey.questions), len(arms)), dtype=bool)
    for arm, places in enumerate(survey.places_by_arm):
        people = np.flatnonzero(arms == arm)
        asked = ask_batch(survey, len(people), draws, arm)
        for index in places:
            masks[index, people[asked[index]]] = True
    return [slice(None) if mask.all() else mask for mask in masks]


@dataclass(frozen=True)
class SetShares:
    """Shares or means that the researcher set for a question.

    Attributes:
        shares: share of each option, 0 to 1; they sum to 1 if respondents choose one option. Empty for a number.
        places: mean of a number, or of each coordinate, rescaled to 0 (smallest value) .. 1 (largest value).
    """

    shares: tuple[float, ...] = ()
    places: tuple[float, ...] = ()


def _inventor(survey: Survey, question: Question, generator: np.random.Generator, wanted: SetShares | None) -> Inventor:
    """Return a sampler of true values of a question with the ``wanted`` shares or means, independently.

    None is for invented ones: shares are drawn uniformly from all distributions (Dirichlet), numbers are skewed towards
    their lower end, and anchors have their known share. Arms are drawn by their weights in either case.
    """
    domain, shares = question.domain, arm_shares(survey, question) or (() if wanted is None else wanted.shares)
    if wanted is None and question.known_share is not None:
        yes = float(question.known_share)
        shares = (1 - yes, yes, 0.0)[: domain.size]
    if domain.grid is not None:
        return _numbers(domain, generator) if wanted is None else _around(domain, wanted.places, generator)
    if question.kind.is_set:
        return _masks(domain, np.array(shares) if shares else generator.beta(1, 3, size=domain.size), generator)
    own = np.array(shares) if shares else generator.dirichlet(np.ones(domain.size))
    return lambda count: generator.choice(domain.size, size=count, p=own).astype(np.int64)


def _numbers(domain: Domain, generator: np.random.Generator) -> Inventor:
    size = [len(domain.options)] if domain.coordinates else []
    return lambda count: np.rint(generator.beta(2, 5, size=(count, *size)) * domain.steps).astype(np.int64)


def _masks(domain: Domain, shares: TrueShares, generator: np.random.Generator) -> Inventor:
    """Return a sampler of a set of options per respondent, as bit masks; options are independent.

    ``shares`` are probabilities to choose, before the limit on the number of choices.
    """

    def drawn(count: int) -> Values:
        choices = generator.random((count, domain.size)) < shares
        # Respondents with too many choices keep the first ones.
        choices &= choices.cumsum(axis=1) <= domain.max_choices
        found: Values = (choices.astype(np.int64) << np.arange(domain.size)).sum(axis=1)
        return found

    return drawn


def _around(domain: Domain, places: Sequence[float], generator: np.random.Generator) -> Inventor:
    """Return a sampler of beta-distributed numbers on the grid; a mean at an end of the range gives only that end."""

    def column(place: float, count: int) -> Any:  # noqa: ANN401 - an array of numbers
        if not 0 < place < 1:
            return np.full(count, place)
        return generator.beta(STEADINESS * place, STEADINESS * (1 - place), size=count)

    def drawn(count: int) -> Values:
        exact = np.column_stack([column(place, count) for place in places]) * domain.steps
        # Randomized rounding keeps the mean exact on a grid of any coarseness.
        found: Values = np.floor(exact + generator.random(exact.shape)).astype(np.int64).clip(0, domain.steps)
        return found if domain.coordinates else found[:, 0]

    return drawn


@dataclass(frozen=True)
class InventedReports:
    """Simulated reports of a closed survey in its first wave; implements ``storage.report_reader.ReadableReports``.

    ``numbers`` are reported values, unsigned and of one width, shape (reports, questions); all bits set where not
    asked.
    """

    survey: Survey
    numbers: NDArray[Any]
    journal: None = None
    drafts: None = None
    releases: None = None

    def record(self) -> list[SurveyLogEntry]:
        """Return an empty survey log."""
        return []

    def changed_since_shown(self, name: str, wave: int | None = None) -> int:  # noqa: ARG002 - interface of storage
        """Return 0: simulated reports never change after the close."""
        return 0

    def packed_by_wave(self, survey: int) -> Iterator[list[tuple[int, bytes]]]:  # noqa: ARG002 - there is only one
        """Yield (wave, packed values) of all reports, in the form that a database returns."""
        width = self.numbers.itemsize
        # Big-endian with a leading width byte, as ``pack_values`` stores rows.
        values = np.ascontiguousarray(self.numbers, dtype=f">u{width}").view(np.uint8)
        packed = np.column_stack([np.full(len(values), width, np.uint8), values])
        yield [(0, row) for row in cut(packed.tobytes(), packed.shape[1])]

    @cached_property
    def revision(self) -> RevisionCounts:
        """Only revision, closed, with its published counts."""
        return RevisionCounts.closed_with(self.survey, len(self.numbers), [*self._cells()])

    @property
    def columns(self) -> Columns:
        """Reports as columns, the input of joint results."""
        return read_columns(self, [self.revision.stored])

    def _cells(self) -> Iterator[Cell]:
        yield self._cell(ALL, self.numbers)
        if self.survey.cohort is not None:
            cohorts = self.numbers[:, self.survey.cohort]
            for cohort in np.unique(cohorts).tolist():
                yield self._cell(cohort, self.numbers[cohorts == cohort])

    def _cell(self, cohort: int, numbers: NDArray[Any]) -> Cell:
        counts: dict[int, dict[int, int]] = {}
        for _, question, value, count in tallies(numbers, self.survey.masks).tolist():
            counts.setdefault(question, {})[value] = count
        return Cell(0, cohort, len(numbers), 0, counts)


def reports_of(survey: Survey, truths: Sequence[Values], draws: BatchDraws) -> InventedReports:
    """Simulate the reports of respondents with these true values, on the questions that each device draws."""
    count = len(truths[0])
    width = next(width for width in LETTERS if max(question.largest for question in survey.questions) < null(width))
    numbers = np.full((count, len(survey.questions)), null(width), dtype=f"u{width}")
    asked = asked_in_simulation(survey, truths, draws)
    for index, (asks, values) in enumerate(zip(asked, simulate_survey(survey, truths, asked, draws), strict=True)):
        numbers[asks, index] = values
    return InventedReports(survey, numbers)


def hide(survey: Survey, truths: list[Values]) -> list[Values]:
    """Replace the truths of hidden questions with the question's fixed value; the array twin of ``Survey.encode``."""
    hidden = list(truths)
    given: dict[str, tuple[Values, RowMask]] = {}
    index = 0
    for item in survey.items:
        held = {condition: _holds(condition, *given[condition.question]) for condition in item.conditions}
        shown = np.ones(len(truths[0]), dtype=bool)
        for condition in item.visible_if:
            shown &= held[condition]
        if item.any_of:
            shown &= np.any([held[condition] for condition in item.any_of], axis=0)
        for question in item.questions:
            hidden[index] = _without(question, hidden[index], shown)
            # A condition on a question without an answer does not hold.
            answered = shown & (hidden[index] != question.absent) if question.domain.absent else shown
            given[question.name] = hidden[index], answered
            index += 1
    return hidden


def _without(question: Question, truth: Values, shown: RowMask) -> Values:
    if question.absent is None or shown.all():
        return truth
    return np.where(shown[:, None] if truth.ndim == 2 else shown, truth, np.array(question.absent))


def _holds(condition: Condition, values: Values, answered: RowMask) -> RowMask:
    if condition.span is not None:
        return answered & (values >= condition.span[0]) & (values <= condition.span[1])
    if not condition.mask:
        return answered & np.isin(values, condition.options)
    meets: RowMask = (values & sum(1 << option for option in condition.options)) != 0
    return answered & meets


Tally = Mapping[int, int]


Figure = float | str
"""A number, or a date as text."""


class SimulatedEstimate(NamedTuple):
    """Unclipped estimate with its interval, and the true value among the simulated respondents."""

    question: str
    option: str
    truth: Figure
    raw: Figure
    low: Figure
    high: Figure


@dataclass(frozen=True)
class Piloted:
    """Results of a simulated closed survey, and the tallies of each question's true values, one for each coordinate."""

    results: SurveyResults
    truths: Sequence[Sequence[Tally]]


def invent(survey: Survey, count: int, seed: int, block: int = BLOCK) -> Iterator[list[Values]]:
    """Yield true values of ``count`` simulated respondents in blocks: an array for each question.

    Hidden questions have their fixed value. Memory grows with ``block``.
    """
    draw = _inventors(survey, seed, [None] * len(survey.questions))
    for start in range(0, count, block):
        yield hide(survey, [values(min(block, count - start)) for values in draw])


def invent_as_set(survey: Survey, count: int, seed: int, wanted: Sequence[SetShares]) -> list[Values]:
    """Return true values of ``count`` simulated respondents with given shares or means, an array for each question.

    Answers to different questions are independent, except that hidden questions have their fixed value.
    """
    return hide(survey, [values(count) for values in _inventors(survey, seed, wanted)])


def _inventors(survey: Survey, seed: int, wanted: Sequence[SetShares | None]) -> list[Inventor]:
    # A generator for each question, so that no question's values depend on the draws of another.
    seeds = np.random.SeedSequence(seed).spawn(len(survey.questions))
    return [
        _inventor(survey, question, np.random.Generator(np.random.PCG64(seeds[first])), shares)
        for question, first, shares in zip(survey.questions, answered_once(survey), wanted, strict=True)
    ]


def answered_once(survey: Survey) -> list[int]:
    """Return for each question the place of the first one to which people have the same answer, as in a design."""
    first = [*range(len(survey.questions))]
    places = {question.name: place for place, question in enumerate(survey.questions)}
    for each in planned_comparisons(survey):
        if each.design:
            one, other = sorted(first[places[name]] for name in (each.question, each.against))
            first = [one if place == other else place for place in first]
    return first


def pilot(survey: Survey, blocks: Iterable[list[Values]], draws: BatchDraws) -> Piloted:
    """Randomize blocks of true values with the batch client and estimate the results of the closed survey."""
    tallies: dict[int, Counter[int]] = {index: Counter() for index in range(len(survey.questions))}
    true = [[Counter[int]() for _ in each.domain.coordinates or (each.name,)] for each in survey.questions]
    n = 0
    for truths in blocks:
        n += len(truths[0])
        for index, values in enumerate(randomized(survey, truths, draws)):
            tallies[index].update(tally(values, survey.masks.get(index, 0)))
        for question, found, truth in zip(survey.questions, true, truths, strict=True):
            for counter, counted in zip(found, true_tallies(question, truth), strict=True):
                counter.update(counted)
    return Piloted(analyse([RevisionCounts.closed_with(survey, n, [Cell(0, ALL, n, 0, tallies)])]), true)


def true_tallies(question: Question, truth: Values) -> list[Tally]:
    """Return tallies of true values, shape (n,), or (n, d) for a vector, as ``true_figure`` takes them."""
    return [tally(column, _options_of_mask(question)) for column in np.atleast_2d(truth.T)]


def randomized(survey: Survey, truths: list[Values], draws: BatchDraws) -> list[Values]:
    """Return the reported values of each question, from the respondents who are asked it.

    Questions that respondents randomize by hand are simulated through the same channel.
    """
    return simulate_survey(survey, truths, asked_in_simulation(survey, truths, draws), draws)


def true_figure(question: Question, truths: Sequence[Tally], estimate: Estimate) -> float | None:
    """Return the true value of an estimate's option, mean or quantile, from tallies; None for the share of a bin."""
    if question.domain.coordinates:
        return _mean(question, truths[question.options.index(estimate.option)])
    (truth,) = truths
    if question.domain.grid is None:
        mask = _options_of_mask(question)
        return truth.get(question.options.index(estimate.option), 0) / (truth[mask] if mask else sum(truth.values()))
    if estimate.kind == "mean":
        return _mean(question, truth)
    return _quantile(question, truth, int(estimate.option[1:])) if estimate.kind == "quantile" else None


def compare(piloted: Piloted) -> list[SimulatedEstimate]:
    """Return every estimate with its true value, except the shares of bins."""
    rows = []
    for result, truth in zip(piloted.results.questions, piloted.truths, strict=True):
        for estimate in result.estimates:
            true = true_figure(result.question, truth, estimate)
            if true is not None and estimate.raw is not None:
                low, high = estimate.ends
                figures = ((float(true), 0), (estimate.raw, 0), (low, -1), (high, 1))
                grid = None if estimate.kind == "share" else result.question.domain.grid
                written = [value if grid is None else grid.figure(value, towards) for value, towards in figures]
                rows.append(SimulatedEstimate(result.question.name, estimate.option, *written))
    return rows


def answers_of(survey: Survey, truths: list[Values], respondent: int) -> dict[str, Any]:
    """Return a simulated respondent's answers in the form's representation."""
    values = zip(survey.questions, (truth[respondent].tolist() for truth in truths), strict=True)
    return {
        each.name: None if each.domain.absent and value == each.absent else each.answer(value) for each, value in values
    }


def _options_of_mask(question: Question) -> int:
    """Return the number of options if true values are bit masks, else 0."""
    return question.domain.size if question.kind.is_set else 0


def _mean(question: Question, truth: Tally) -> float:
    return _in_units(question, Fraction(sum(step * count for step, count in truth.items()), sum(truth.values())))


def _quantile(question: Question, truth: Tally, percent: int) -> float:
    """Return a quantile by linear interpolation between the two nearest order statistics."""
    # As numpy's default (type 7 of Hyndman and Fan 1996), but from a tally and exact.
    steps = sorted(truth)
    upto = list(itertools.accumulate(truth[step] for step in steps))
    rank = Fraction(percent * (upto[-1] - 1), 100)
    below, above = (steps[bisect_right(upto, place)] for place in (math.floor(rank), math.ceil(rank)))
    return _in_units(question, below + (above - below) * (rank - math.floor(rank)))


def _in_units(question: Question, steps: Fraction) -> float:
    (number,) = in_units([steps], grid_of(question.domain))
    return number
