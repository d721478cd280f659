"""Randomize a million simulated respondents at once, for pilots and tests; never for real respondents.

Reports have exactly the channel of the scalar twin in ``sottovoce.client.randomizers``: the same integer weights, with
arrays instead of numbers, and rejected draws are redrawn. Mechanisms whose report is one pick from a row of weights, or
one bit per option, need no function here. Random bytes come from the operating system, or from a seeded stream for
repeatable runs.
"""

import hashlib
import itertools
import math
import operator
import os
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.shared.arms.arms import samples
from sottovoce.shared.mechanisms.base import Table
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.bits import Bits
from sottovoce.shared.mechanisms.geometric import Geometric
from sottovoce.shared.mechanisms.hadamard_response import HadamardResponse
from sottovoce.shared.mechanisms.kary_rr import KaryRR
from sottovoce.shared.mechanisms.level_table import LevelTable
from sottovoce.shared.mechanisms.rounding_rr import RoundingRR
from sottovoce.shared.mechanisms.sampled_coordinate import SampledCoordinate
from sottovoce.shared.mechanisms.sampled_option import SampledOption
from sottovoce.shared.mechanisms.square_wave import SquareWave
from sottovoce.shared.mechanisms.subset_selection import SubsetSelection
from sottovoce.shared.spec import Survey

Values = NDArray[Any]
"""Integers, one true or reported value per respondent: (n,), or (n, d) for vectors."""

ReadBytes = Callable[[int], bytes]

_PREFIX = 32
"""Number of bits of a uniform number in [0, 1) that are drawn first."""
_CELL = 16
"""Number of low bits of a prefix to ignore in the lookup table; nearly all its cells hold one result."""

BLOCK = 1 << 16
"""Number of respondents per block; arrays of this size stay in the processor's cache."""


def seeded(seed: str) -> ReadBytes:
    """Return a repeatable stream of bytes: SHAKE-128 of the seed and the call number. For simulations only."""
    calls = iter(range(2**62))
    return lambda count: hashlib.shake_128(f"{seed}:{next(calls)}".encode()).digest(count)


class BatchDraws:
    """Arrays of exact random integers, from a function that returns a given number of random bytes."""

    def __init__(self, read: ReadBytes = os.urandom) -> None:
        self._read = read

    def below(self, bound: int, count: int) -> Values:
        """Return ``count`` uniform integers in 0 .. bound - 1, bound at most 2^32."""
        bits = (bound - 1).bit_length()
        kind = np.dtype(np.uint8 if bits <= 8 else np.uint16 if bits <= 16 else np.uint32)
        drawn = self._bits(bits, kind, count)
        if bound == 1 << bits:
            return drawn
        accepted = drawn[drawn < bound]
        while len(accepted) < count:
            # At least half of all draws are accepted, so three times the missing number nearly always suffices.
            more = self._bits(bits, kind, (count - len(accepted)) * 3 + 16)
            accepted = np.concatenate([accepted, more[more < bound]])
        return accepted[:count]

    def bit(self, mechanism: BinaryRR, truth: Values) -> Values:
        """Return reported bits, with P(1) = a where the truth is 1 and b where it is 0."""
        drawn = self.below(mechanism.denominator, len(truth))
        # The thresholds fit the drawn type, because a and b are below 1.
        one, zero = (drawn.dtype.type(mechanism.weights(value)[1]) for value in (1, 0))
        reported: Values = drawn < np.where(truth.astype(bool), one, zero)
        return reported

    def each_below(self, bounds: Sequence[int], count: int) -> Iterator[Values]:
        """Yield ``count`` uniform integers below each bound, drawn as mixed-radix digits of one number below 2^32."""
        places = list(bounds)
        while places:
            fitting = sum(product <= 1 << 32 for product in itertools.accumulate(places, operator.mul))
            group, places = places[:fitting], places[fitting:]
            rest = self.below(math.prod(group), count)
            for bound in group[:-1]:
                number, rest = rest, rest // rest.dtype.type(bound)
                yield number - rest * rest.dtype.type(bound)
            yield rest

    def pick(self, weights: Sequence[int], count: int) -> Values:
        """Return ``count`` random indices with probabilities proportional to the weights."""
        drawn = self.below(sum(weights), count)
        picked = np.zeros(count, dtype=np.uint8)
        for edge in itertools.accumulate(weights[:-1]):
            picked += drawn >= edge
        return picked

    def trials(self, going: Fraction, most: int, count: int) -> Values:
        """Draw from a truncated geometric distribution: 1 plus the successes before the first failure, at most
        ``most``.

        Maths: with U uniform in [0, 1) and ``going``, strictly between 0 and 1, the probability of success, the result
        exceeds j if U < going^j. The first 32 bits of U decide unless they equal those of some going^j; then more bits
        are drawn until they differ, so the distribution is exact.
        """
        edges, numbers_by_cell, divided = _powers(going, most)
        drawn = self.below(1 << _PREFIX, count)
        cells = drawn >> _CELL
        numbers: Values = numbers_by_cell[cells]
        # Only cells with a threshold inside need a binary search.
        near = np.flatnonzero(divided[cells])
        place = np.searchsorted(edges, drawn[near])
        numbers[near] = most - place
        for index in near[np.append(edges, 1 << _PREFIX)[place] == drawn[near]]:
            numbers[index] = self._number(going, most, int(drawn[index]))
        return numbers

    def _number(self, going: Fraction, most: int, drawn: int) -> int:
        """Draw more bits of U to decide a result that its first bits leave open."""
        bits, power = _PREFIX, Fraction(1)
        for number in range(1, most):
            power *= going
            edge, rest = divmod(power.numerator << bits, power.denominator)
            while drawn == edge and rest:
                drawn, bits = drawn << _PREFIX | int(self.below(1 << _PREFIX, 1)[0]), bits + _PREFIX
                edge, rest = divmod(power.numerator << bits, power.denominator)
            if drawn >= edge:
                return number
        return most

    def rows(self, table: Sequence[Sequence[int]], row: Values) -> Values:
        """Draw a column for each entry of ``row``, with the weights of that row of the table."""
        drawn = self.below(sum(table[0]), len(row)).astype(np.int64)
        edges = np.cumsum(np.asarray(table, dtype=np.int64), axis=1)
        result = np.zeros(len(row), dtype=np.int64)
        for column in range(edges.shape[1] - 1):
            result += drawn >= edges[row, column]
        return result

    def _bits(self, bits: int, kind: np.dtype[Any], count: int) -> Values:
        drawn = np.frombuffer(self._read(count * kind.itemsize), dtype=kind)
        return drawn if bits == 8 * kind.itemsize else drawn & kind.type((1 << bits) - 1)


@lru_cache(maxsize=16)
def _powers(ratio: Fraction, most: int) -> tuple[Values, Values, Values]:
    """Return the thresholds of ``BatchDraws.trials``, precomputed.

    They are the first bits of ratio, ratio^2, ..., ratio^(most - 1) in ascending order; the result for each cell of
    2^16 prefixes; and a mask of the cells that contain a threshold, whose prefixes need a search.
    """
    powers = itertools.accumulate(itertools.repeat(ratio, most - 1), operator.mul)
    edges = np.array([(power.numerator << _PREFIX) // power.denominator for power in powers], dtype=np.int64)[::-1]
    below = np.searchsorted(edges, np.arange((1 << _PREFIX - _CELL) + 1) << _CELL)
    return edges, most - below[:-1], below[:-1] != below[1:]


def simulate(mechanism: Any, truth: Values, draws: BatchDraws) -> Values:  # noqa: ANN401 - any of MECHANISMS
    """Randomize true values from ``Question.encode``, shape (n,), or (n, d) for a vector; return shape (n,)."""
    batch = BATCH.get(mechanism.name) or (_bits if mechanism.report_kind == "bits" else _table)
    blocks = [batch(mechanism, truth[start : start + BLOCK], draws) for start in range(0, len(truth), BLOCK)]
    return np.concatenate(blocks) if blocks else np.zeros(0, dtype=np.int64)


def ask_batch(survey: Survey, count: int, draws: BatchDraws, arm: int = 0) -> list[Any]:
    """Draw which respondents of an arm (0 without arms) get each question: a mask of shape (count,), or a slice of all.

    The twin of ``sottovoce.client.question_sample``: ``ask`` counts private questions, a block as one.
    """
    asked: list[Any] = [slice(None)] * len(survey.questions)
    for sample in samples(survey, arm):
        places = np.tile(np.arange(len(sample.units)), (count, 1))
        respondents = np.arange(count)
        # The first steps of a Fisher-Yates shuffle, for all respondents at once.
        for place in range(sample.size):
            other = place + draws.below(len(sample.units) - place, count).astype(np.int64)
            places[respondents, other], places[:, place] = places[:, place].copy(), places[respondents, other]
        for number, unit in enumerate(sample.units):
            for index in unit:
                drawn = (places[:, : sample.size] == number).any(axis=1)
                # A block that is asked has a set of its own.
                asked[index] = drawn if isinstance(asked[index], slice) else asked[index] & drawn
    return asked


def _table(mechanism: Table, truth: Values, draws: BatchDraws) -> Values:
    """Randomize with any mechanism whose report is one pick from a row of weights."""
    different, row = np.unique(truth, return_inverse=True)
    return draws.rows([mechanism.weights(value) for value in different.tolist()], row)


def _kary_rr(mechanism: KaryRR, truth: Values, draws: BatchDraws) -> Values:
    drawn = draws.below(mechanism.denominator, len(truth))
    true, other = mechanism.keep.numerator, mechanism.keep.denominator
    # With keep = r / s: a draw below r keeps the truth; the rest are blocks of s, one for each other category.
    is_truth = drawn < true
    moved = (drawn - drawn.dtype.type(true)) // drawn.dtype.type(other)
    narrow = moved.astype(np.min_scalar_type(mechanism.inputs))
    truth = truth.astype(narrow.dtype)
    return np.where(is_truth, truth, narrow + (narrow >= truth))


def _subset_selection(mechanism: SubsetSelection, truth: Values, draws: BatchDraws) -> Values:
    count, k = len(truth), mechanism.options
    kind = np.min_scalar_type((1 << k) - 1).type
    included = draws.pick(mechanism.inclusion, count).astype(kind)
    # Other options are numbered 0 .. k - 2, without the truth. Floyd's algorithm: add a draw from 0 .. j, or j itself
    # if the draw is already in the set.
    others = np.zeros(count, dtype=kind)
    places = range(k - 1 - mechanism.size, k - 1)
    for last, drawn in zip(places, draws.each_below([last + 1 for last in places], count), strict=True):
        bit = kind(1) << drawn.astype(kind)
        if last == places[0]:
            bit *= kind(1) - included  # one other option less if the truth is included
        taken = (others & bit) != 0
        others |= bit
        others |= taken * kind(1 << last)
    own = kind(1) << truth.astype(kind)
    masks: Values = others + (others & -own) + own * included
    return masks


def _hadamard_response(mechanism: HadamardResponse, truth: Values, draws: BatchDraws) -> Values:
    count = len(truth)
    own = draws.pick(mechanism.inclusion, count).astype(bool)
    index = draws.below(mechanism.columns // 2, count).astype(np.int64)
    row = truth.astype(np.int64) + 1
    free = row & -row
    column = (index & -free) << 1 | index & (free - 1)
    return np.where((np.bitwise_count(row & column) % 2 == 0) == own, column, column | free)


def _sampled_option(mechanism: SampledOption, truth: Values, draws: BatchDraws) -> Values:
    option = draws.below(mechanism.options, len(truth)).astype(np.int64)
    return 2 * option + draws.bit(mechanism.bit, truth.astype(np.int64) >> option & 1)


def _bits(mechanism: Bits, truth: Values, draws: BatchDraws) -> Values:
    """Randomize with any mechanism whose report has an independent bit for each option."""
    masks = np.asarray(mechanism.selected_bits(truth.astype(np.int64)))
    reported = np.zeros(len(truth), dtype=np.int64)
    for option in range(mechanism.options):
        reported |= draws.bit(mechanism.bit, masks >> option & 1).astype(np.int64) << option
    return reported


def _rounding_rr(mechanism: RoundingRR, truth: Values, draws: BatchDraws) -> Values:
    high = draws.below(mechanism.steps, len(truth)) >= mechanism.steps - truth.astype(np.int64)
    return draws.bit(mechanism.bit, high).view(np.uint8)


def _level_table(mechanism: LevelTable, truth: Values, draws: BatchDraws) -> Values:
    below, rest = np.divmod(truth.astype(np.int64) * (len(mechanism.rows) - 1), mechanism.steps)
    up = draws.below(mechanism.steps, len(truth)) >= mechanism.steps - rest
    return draws.rows(mechanism.rows, below + up)


def _square_wave(mechanism: SquareWave, truth: Values, draws: BatchDraws) -> Values:
    first = truth.astype(np.int64) * mechanism.bins // (mechanism.steps + 1)
    near, far = mechanism.keep.numerator, mechanism.keep.denominator
    window = 2 * mechanism.width + 1
    drawn = draws.below(window * near + (mechanism.bins - 1) * far, len(truth)).astype(np.int64)
    outside = (drawn - window * near) // far
    return np.where(drawn < window * near, first + drawn // near, outside + window * (outside >= first))


def _geometric(mechanism: Geometric, truth: Values, draws: BatchDraws) -> Values:
    sign = np.array([0, 1, -1])[draws.pick(mechanism.direction, len(truth))]
    magnitude = draws.trials(mechanism.ratio, mechanism.steps, len(truth))
    noisy: Values = np.clip(truth.astype(np.int64) + sign * magnitude, 0, mechanism.steps)
    return noisy


def _sampled_coordinate(mechanism: SampledCoordinate, truth: Values, draws: BatchDraws) -> Values:
    coordinate = draws.below(mechanism.coordinates, len(truth)).astype(np.int64)
    drawn = truth[np.arange(len(truth)), coordinate]
    return 2 * coordinate + _rounding_rr(mechanism.number, drawn, draws)


BATCH: dict[str, Callable[[Any, Values, BatchDraws], Values]] = {
    "binary_rr": lambda mechanism, truth, draws: draws.bit(mechanism, truth).view(np.uint8),
    "kary_rr": _kary_rr,
    "memoized_rr": lambda mechanism, truth, draws: draws.bit(
        mechanism.instantaneous, draws.bit(mechanism.permanent, truth)
    ).view(np.uint8),
    "subset_selection": _subset_selection,
    "hadamard_response": _hadamard_response,
    "sampled_option": _sampled_option,
    "rounding_rr": _rounding_rr,
    "level_table": _level_table,
    "square_wave": _square_wave,
    "geometric": _geometric,
    "sampled_coordinate": _sampled_coordinate,
}
"""Functions ``batch(mechanism, truth, draws) -> reported`` of mechanisms that need their own, or a faster one."""
