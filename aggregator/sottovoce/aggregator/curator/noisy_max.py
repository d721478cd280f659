"""Report noisy max, the most frequent of m cells or marks, and noisy quantiles of a declared number.

The noisy max:

Answer       The index of the largest c_j + x_j and nothing else, ties to the lowest index; x_j exact noise.
Noise        Exponential (geometric: x >= 0, P(x) ~ e^(-rate x)), which falls short by less, or discrete
             Laplace, the textbook's. Cell j wins if x_j is at least a number t that the other cells' noise decides.
             A neighbour moves t by 1 under add/remove and by 2 under replace-one, and either noise has
             P(x >= t) <= e^rate P(x >= t + 1), so that both need the same rate. Over all orders of the cells
             exponential noise has the probabilities of permute-and-flip; unlike its coin flips, this noise is
             drawn before it meets a count. It is drawn in eighths, of rate / 8 each, so that ties are rare: in whole
             counts, ties to the lowest index would make the winner fall short by a third more (.38 against .28 of 100
             cells of 2,000 records at epsilon 1; continuous noise .26).
Rate         epsilon under add/remove: a record changes all counts in one direction, by at most 1 each, however many
             marks it has. epsilon / 2 under replace-one: one count falls and another rises, and with rate epsilon the
             privacy loss would be up to twice epsilon (at epsilon 1: 1.94 with 2 cells, 2.00 with 3).
Privacy      epsilon-differentially private, delta = 0, for any number of cells.
Count        The winner's count is *not* free: max(c_j + x_j) is not part of this release, and publishing the winner's
             noisy or true count with it breaks the guarantee. Ask ``count`` for it, which is charged separately.
Probability  P(j) = sum over v of P(x = v - c_j) prod_{i<j} P(c_i + x < v) prod_{i>j} P(c_i + x <= v), exactly.
             [20, 15, 10] at rate 1 with Laplace noise: .993354, .006608, .000038 (continuous: .98815, .01178, .00007).
Error        The smallest t such that an answer whose count is t or more below the largest has probability <= .05,
             whatever the counts: the worst are m - 1 others t below the largest, all before it in order.
Sources      Dwork and Roth 2014, 3.3 (claim 3.9, for monotone neighbours); Ding et al. 2021 (ties, and permute-and-flip
             by exponential noise); McKenna and Sheldon 2020 (permute-and-flip).

Quantiles of a declared number are chosen from the points of its grid:

Distance     Of a point v from the quantile q = a/b, with L of n records below it and U up to it:
             max(L - q n, q n - U, 0) records. It is 0 for every q-quantile of the records; at least one point has it.
Sensitivity  Of the distance, at every point: 1 under replace-one (L and U change by at most 1, n does not), and
             max(q, 1 - q) under add/remove, where n changes too. Both are reached. Distances are counted in 1/b.
Answer       The point whose distance is the smallest after exponential noise of rate epsilon / (2 D), D the
             sensitivity; ties go to the lowest. A record can bring one point nearer and another farther, hence the 2.
             This is permute-and-flip, the exponential mechanism with its waste removed: at the same epsilon its
             expected distance is never larger. Unlike a draw by weights, its noise is drawn before it meets a record.
Several      Each quantile has an equal part of epsilon. The answers are sorted, which costs nothing.
Privacy      epsilon-differentially private, delta = 0, for any number of points.
Error        In records: the smallest t such that an answer t or more from its quantile has probability <= .05.
Sources      McSherry and Talwar 2007 (exponential mechanism); Smith 2011 (quantiles); McKenna and Sheldon 2020.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from sottovoce.aggregator.curator.count import cell_counts, in_units
from sottovoce.aggregator.curator.declaration import Values
from sottovoce.aggregator.curator.grid import NumberGrid
from sottovoce.aggregator.curator.noise_distribution import BETA, smallest
from sottovoce.aggregator.curator.release import Release, ReleaseTerms
from sottovoce.shared.exact_noise import ExactNoise

Floats = npt.NDArray[np.float64]

NOT_FREE = "the winner's number is not part of this release and not free: a count of it is a question of its own"

_PARTS = 8
"""Parts of a count in which exponential noise is drawn."""

_SUMMED = 20_000
"""Largest reach 40 / rate for which the winner's probability is summed; wider noise gets a bound."""


@dataclass(frozen=True)
class WinnerNoise:
    """Noise of a noisy maximum.

    Attributes:
        draw: one draw of rate n/d.
        share: P(x) for an array of integers and a = e^(-rate).
        at_most: P(at most x) likewise.
    """

    name: str
    draw: Callable[[ExactNoise, int, int], int]
    share: Callable[[Floats, float], Floats]
    at_most: Callable[[Floats, float], Floats]


def _laplace_at_most(x: Floats, a: float) -> Floats:
    tail = a ** np.where(x < 0, -x, x + 1) / (1 + a)
    return np.where(x < 0, tail, 1 - tail)


LAPLACE = WinnerNoise(
    "Laplace",
    lambda draws, n, d: draws.discrete_laplace(n, d),
    lambda x, a: (1 - a) / (1 + a) * a ** np.abs(x),
    _laplace_at_most,
)
EXPONENTIAL = WinnerNoise(
    "exponential",
    lambda draws, n, d: draws.geometric(n, d),
    lambda x, a: np.where(x < 0, 0.0, (1 - a) * a ** np.maximum(x, 0)),
    lambda x, a: np.where(x < 0, 0.0, 1 - a ** (np.maximum(x, 0) + 1)),
)
NOISES = {noise.name: noise for noise in (EXPONENTIAL, LAPLACE)}


def top_mark(
    counts: Sequence[int], terms: ReleaseTerms, draws: ExactNoise, noise: WinnerNoise = EXPONENTIAL
) -> Release:
    """Release the index of the mark that most records have; ``counts`` has the number of records with each mark."""
    twice = terms.neighbours.of(1, 2)
    parts = _PARTS if noise is EXPONENTIAL else 1
    rate, scaled = terms.epsilon / twice / parts, [parts * count for count in counts]
    direction = "all one way" if twice == 1 else "one up and another down"
    return terms.pure(
        values={"index": noisy_max(scaled, rate, draws, noise)},
        sensitivity=f"Each count changes by at most 1 {terms.neighbours.in_words}, {direction}: "
        f"{noise.name} noise of scale {twice}/epsilon.",
        error=in_units(shortfall(rate, len(counts), noise), Fraction(1, parts)),
        notes=(NOT_FREE,),
    )


def top_cell(
    cells: npt.NDArray[Any], k: int, terms: ReleaseTerms, draws: ExactNoise, noise: WinnerNoise = EXPONENTIAL
) -> Release:
    """Release the index of the cell with most records.

    ``cells`` are n indices in 0 .. k - 1; others are counted in the nearest cell. Raises ValueError unless k is from 1
    to 2^24.
    """
    return top_mark(cell_counts(cells, k), terms, draws, noise)


def noisy_max(counts: Sequence[int], rate: Fraction, draws: ExactNoise, noise: WinnerNoise = LAPLACE) -> int:
    """Return the index of the largest noisy count; ties go to the lowest index."""
    drawn = [noise.draw(draws, rate.numerator, rate.denominator) for _ in counts]
    noisy = [count + each for count, each in zip(counts, drawn, strict=True)]
    return noisy.index(max(noisy))


def winner_distribution(counts: Sequence[int], rate: Fraction, noise: WinnerNoise = LAPLACE) -> Floats:
    """Return the probability of each index, by summation over the winner's noisy count."""
    a = math.exp(-rate)
    # The tails beyond 40 / rate have probability below 10^-17.
    reach = math.ceil(40 / float(rate)) + 1
    v = np.arange(min(counts) - reach, max(counts) + reach + 1, dtype=np.float64)
    at_most = np.array([noise.at_most(v - count, a) for count in counts])
    below = np.array([noise.at_most(v - 1 - count, a) for count in counts])
    here = np.array([noise.share(v - count, a) for count in counts])
    rows = range(len(counts))
    return np.array(
        [(here[j] * below[:j].prod(axis=0) * at_most[j + 1 :].prod(axis=0)).sum() for j in rows], dtype=np.float64
    )


def shortfall(rate: Fraction, cells: int, noise: WinnerNoise) -> dict[str, Any]:
    """Return the error of the winner: how far its count may be below the largest; for very wide noise a bound."""
    bound = math.log(cells / BETA) / float(rate)
    # Exponential noise is above t with probability a^t, so that t is enough; of Laplace noise two cells err.
    enough = math.ceil(bound) + 1 if noise is EXPONENTIAL else 2 * math.ceil(bound) + 2
    t = enough
    if rate >= Fraction(40, _SUMMED):
        t = smallest(lambda gap: _win_probability(rate, cells, gap, noise), enough)
    figure = "ceil(figure) - 1" if noise is EXPONENTIAL else "2 ceil(figure) - 2"
    theorem = {"name": f"Pr[winner's count <= largest - {figure}] <= 1/20", "figure": bound}
    return {"t": t, "beta": str(BETA), "theorem": theorem}


def _win_probability(rate: Fraction, cells: int, gap: int, noise: WinnerNoise) -> float:
    """Return the probability that a cell ``gap`` below the largest wins, if all others are so low and come first."""
    a = math.exp(-rate)
    reach = math.ceil(40 / float(rate)) + 1
    v = np.arange(-reach, gap + reach + 1, dtype=np.float64)
    return float((noise.share(v - gap, a) * (1 - noise.at_most(v - 1, a) ** (cells - 1))).sum())


MOST_POINTS = 100_000
MOST_PARTS = 1000
"""Largest denominator of a quantile."""


def quantiles(
    values: Values, grid: NumberGrid, at: Sequence[Fraction], terms: ReleaseTerms, draws: ExactNoise
) -> Release:
    """Release quantiles of n values.

    Raises ValueError if the grid has too many points, or a quantile is out of range.

    Args:
        values: n integers, steps above the lower bound; clipped to 0 .. steps.
        grid: of at most 100,000 points.
        at: the quantiles, ascending, each between 0 and 1 with a denominator of at most 1,000.
        terms: epsilon of all of them together, and neighbouring relation.
    """
    check_quantiles(grid, at)
    counts = np.array(cell_counts(values, grid.steps + 1))
    rates = [terms.epsilon / (2 * len(at) * unit_sensitivity(q, terms)) for q in at]
    found = [
        noisy_max((-distances(counts, q)).tolist(), rate, draws, EXPONENTIAL) for q, rate in zip(at, rates, strict=True)
    ]
    errors = [shortfall(rate, len(counts), EXPONENTIAL) for rate in rates]
    largest = max(Fraction(unit_sensitivity(q, terms), q.denominator) for q in at)
    return terms.pure(
        values={"quantiles": [str(grid.low + point * grid.step) for point in sorted(found)]},
        sensitivity=f"The distance of a point from a quantile changes by at most {largest} (in records) "
        f"{terms.neighbours.in_words}.",
        error={
            f"the rank of {q} (in records)": in_units(error, Fraction(1, q.denominator))
            for q, error in zip(at, errors, strict=True)
        },
        notes=(f"each quantile has epsilon {terms.epsilon / len(at)}; many points may be equally near",),
    )


def check_quantiles(grid: NumberGrid, at: Sequence[Fraction]) -> None:
    """Raise ValueError if the grid has too many points, or a quantile is out of range."""
    if grid.steps >= MOST_POINTS:
        raise ValueError(f"quantiles are of numbers with at most {MOST_POINTS:,} points; declare a coarser step")
    if not at or not all(0 < q < 1 and q.denominator <= MOST_PARTS for q in at):
        raise ValueError("a quantile is a fraction between 0 and 1 with at most three decimals, such as 0.5 or 1/4")


def unit_sensitivity(q: Fraction, terms: ReleaseTerms) -> int:
    """Return the largest change of a point's distance, in parts of a record of which b make one."""
    return terms.neighbours.of(max(q.numerator, q.denominator - q.numerator), q.denominator)


def distances(counts: Values, q: Fraction) -> Values:
    """Return the distance of each point from the quantile q = a/b, in parts of a record, which has b; ``counts`` are
    records at each point.
    """
    up_to = np.cumsum(counts)
    target = q.numerator * up_to[-1]
    below, above = q.denominator * (up_to - counts) - target, target - q.denominator * up_to
    found: Values = np.maximum(np.maximum(below, above), 0)
    return found
