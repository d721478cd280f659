"""Noisy mean of a declared number.

Replace-one  n is public, so that the mean is the noisy sum of steps over n: sensitivity (high - low) / n. With n = 0
             the exact value is replaced by the middle of the range.
Add/remove   n is not public and gets noise too. Half of epsilon goes to n (sensitivity 1), half to the sum of distances
             from the middle of the grid. Its sensitivity is half the range, rounded up to a whole step, and usually
             much less than the sensitivity of the sum itself.
             mean = middle + sum / max(n, 1). Both noisy numbers are released.
Answer       Clipped to the bounds, which the mean cannot leave. To average several means, release sums instead.
Privacy      epsilon-differentially private, delta = 0.
Error        Replace-one: the largest error of the noisy sum over n. Add/remove: one error for each noisy number.
Sources      Dwork and Roth 2014, 3.3.
"""

from fractions import Fraction
from typing import Any

import numpy.typing as npt
from sottovoce.aggregator.curator.add_noise import add_laplace
from sottovoce.aggregator.curator.count import in_units
from sottovoce.aggregator.curator.grid import NumberGrid
from sottovoce.aggregator.curator.neighbouring_relation import Neighbours
from sottovoce.aggregator.curator.noise_distribution import laplace_error
from sottovoce.aggregator.curator.privacy_cost import Charge
from sottovoce.aggregator.curator.release import Release
from sottovoce.aggregator.curator.release_terms import ReleaseTerms
from sottovoce.aggregator.curator.sum import CLIPPED
from sottovoce.shared.exact_noise import ExactNoise


def noisy_mean(values: npt.NDArray[Any], grid: NumberGrid, terms: ReleaseTerms, draws: ExactNoise) -> Release:
    """Release the mean of n integers, steps above the lower bound; clipped to 0 .. steps."""
    if terms.neighbours is Neighbours.REPLACE:
        return _with_public_n(values, grid, terms, draws)
    return _with_noisy_n(values, grid, terms, draws)


def _with_public_n(values: npt.NDArray[Any], grid: NumberGrid, terms: ReleaseTerms, draws: ExactNoise) -> Release:
    n = max(len(values), 1)
    rate = terms.epsilon / grid.steps
    # Without records the mean is the middle. Noise is drawn all the same, so that n = 0 costs as much as any other n.
    exact = grid.total(values) if len(values) else grid.steps // 2
    steps = Fraction(add_laplace([exact], rate, draws)[0], n)
    mean = grid.low + min(max(steps, Fraction(0)), Fraction(grid.steps)) * grid.step
    width = (grid.high - grid.low) / n
    return Release(
        question=terms.question("mean", **grid.question()),
        values={"mean": str(mean), "n": len(values)},
        charge=Charge.pure(terms.epsilon),
        sensitivity=f"The mean of a public number of records changes by at most {width} {terms.neighbours.in_words}.",
        error=in_units(laplace_error(rate, 1), grid.step / n),
        notes=(CLIPPED,),
    )


def _with_noisy_n(values: npt.NDArray[Any], grid: NumberGrid, terms: ReleaseTerms, draws: ExactNoise) -> Release:
    half = terms.epsilon / 2
    below = grid.steps // 2
    rate = half / (grid.steps - below)  # the upper half of an odd number of steps is one step longer
    exact = grid.total(values) - len(values) * below
    n = add_laplace([len(values)], half, draws)[0]
    distances = add_laplace([exact], rate, draws)[0]
    mean = grid.middle + Fraction(distances, max(n, 1)) * grid.step
    width = (grid.steps - below) * grid.step
    return Release(
        question=terms.question("mean", **grid.question()),
        values={
            "mean": str(min(max(mean, grid.low), grid.high)),
            "noisy_n": n,
            "noisy_sum_from_middle": str(distances * grid.step),
            "middle": str(grid.middle),
        },
        charge=Charge.pure(terms.epsilon),
        sensitivity=f"The number of records changes by 1 and the sum of their distances from the middle by at most "
        f"{width} {terms.neighbours.in_words}; each has half of epsilon.",
        error={"n": laplace_error(half, 1), "sum_from_middle": in_units(laplace_error(rate, 1), grid.step)},
        notes=(CLIPPED, "the mean is a ratio of two noisy numbers; it is not unbiased where n is small"),
    )
