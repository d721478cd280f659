"""Noisy sum of a declared number.

Answer       sum of v_i + x, v_i clipped to the declared bounds [low, high] and on their grid, x exact discrete Laplace
             noise in units of the grid; the unit divides the step and the bounds.
Sensitivity  max(|low|, |high|) under add/remove, high - low under replace-one.
Privacy      epsilon-differentially private, delta = 0.
Error        Variance about 2 (D / epsilon)^2; the largest error in ``Release.error``, in the number's own unit.
Clipping     Values beyond the bounds count as the bounds. Narrow bounds mean more bias and less noise.
Sources      Dwork and Roth 2014, 3.3.
"""

from fractions import Fraction
from typing import Any

import numpy.typing as npt
from sottovoce.aggregator.curator.add_noise import add_laplace
from sottovoce.aggregator.curator.count import in_units
from sottovoce.aggregator.curator.grid import NumberGrid
from sottovoce.aggregator.curator.noise_distribution import laplace_error
from sottovoce.aggregator.curator.privacy_cost import Charge
from sottovoce.aggregator.curator.release import Release
from sottovoce.aggregator.curator.release_terms import ReleaseTerms
from sottovoce.shared.exact_noise import ExactNoise

CLIPPED = "values beyond the declared bounds were counted as the bounds"


def noisy_sum(values: npt.NDArray[Any], grid: NumberGrid, terms: ReleaseTerms, draws: ExactNoise) -> Release:
    """Release the sum of n integers, steps above the lower bound; clipped to 0 .. steps."""
    largest = max(abs(grid.low), abs(grid.high))
    sensitivity = terms.neighbours.of(grid.units(largest), grid.units(grid.high - grid.low))
    rate = terms.epsilon / sensitivity
    exact = len(values) * grid.units(grid.low) + grid.total(values) * grid.units(grid.step)
    noisy = add_laplace([exact], rate, draws)
    return Release(
        question=terms.question("sum", **grid.question()),
        values={"sum": str(noisy[0] * grid.noise_unit)},
        charge=Charge.pure(terms.epsilon),
        sensitivity=f"A sum changes by at most {Fraction(sensitivity) * grid.noise_unit} {terms.neighbours.in_words}.",
        error=in_units(laplace_error(rate, 1), grid.noise_unit),
        notes=(CLIPPED,),
    )
