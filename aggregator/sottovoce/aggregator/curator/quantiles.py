"""Quantiles of a declared number, chosen from the points of its grid.

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

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from sottovoce.aggregator.curator.count import in_units
from sottovoce.aggregator.curator.grid import NumberGrid
from sottovoce.aggregator.curator.histogram import cell_counts
from sottovoce.aggregator.curator.noisy_max import EXPONENTIAL, noisy_max, shortfall
from sottovoce.aggregator.curator.privacy_cost import Charge
from sottovoce.aggregator.curator.records import Values
from sottovoce.aggregator.curator.release import Release
from sottovoce.aggregator.curator.release_terms import ReleaseTerms
from sottovoce.shared.exact_noise import ExactNoise

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
    return Release(
        question=terms.question("quantiles", **grid.question(), at=[str(q) for q in at]),
        values={"quantiles": [str(grid.low + point * grid.step) for point in sorted(found)]},
        charge=Charge.pure(terms.epsilon),
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
