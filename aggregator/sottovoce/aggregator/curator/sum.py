"""Noisy sums and means of a declared number, and noisy sums of declared vectors.

The sum of a number:

Answer       sum of v_i + x, v_i clipped to the declared bounds [low, high] and on their grid, x exact discrete Laplace
             noise in units of the grid; the unit divides the step and the bounds.
Sensitivity  max(|low|, |high|) under add/remove, high - low under replace-one.
Privacy      epsilon-differentially private, delta = 0.
Error        Variance about 2 (D / epsilon)^2; the largest error in ``Release.error``, in the number's own unit.
Clipping     Values beyond the bounds count as the bounds. Narrow bounds mean more bias and less noise.
Sources      Dwork and Roth 2014, 3.3.

The mean of a number:

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

The sum of vectors:

Answer       sum of v_i + x, v_i integer vectors of d coordinates, clipped to the declared ball or box; x exact noise.
Sensitivity  D1 in L1 and D2 in L2. In a ball of radius R, with m = 1 under add/remove and 2 under replace-one: m R in
             the ball's norm; an L2 ball has sqrt(d) m R in L1. A box (``VectorBox``) has the exact maxima.
Laplace      Rate epsilon / D1: epsilon-differentially private, delta = 0.
Gaussian     The smallest variance whose delta holds (``gaussian_delta``): (epsilon, delta), rho = D2^2 / (2 s).
Units        In a box with different ranges coordinate j has units u_j, its shift, and d coordinates each change by one
             unit: rate epsilon / (d u_j), variance s u_j^2 with D2^2 = d.
Choice       The noise with the smaller largest error is used, Laplace if they are equal. Both errors follow from the
             discrete distributions and not from the data, so that the choice costs nothing. Without a delta it is
             always Laplace.
Crossover    In a box or an L2 ball Laplace's error grows with d ln d, Gauss's with sqrt(d ln d).
Sources      Dwork and Roth 2014, 3.3 and appendix A; Canonne, Kamath and Steinke 2020.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy.typing as npt
from sottovoce.aggregator.curator.clipping import Ball, VectorBox
from sottovoce.aggregator.curator.count import in_units
from sottovoce.aggregator.curator.gaussian_delta import gaussian_variance
from sottovoce.aggregator.curator.grid import NumberGrid
from sottovoce.aggregator.curator.noise_distribution import add_gaussian, add_laplace, gaussian_error, laplace_error
from sottovoce.aggregator.curator.release import Charge, Neighbours, Release, ReleaseTerms
from sottovoce.shared.exact_noise import ExactNoise

CLIPPED = "values beyond the declared bounds were counted as the bounds"


@dataclass(frozen=True)
class VectorNoise:
    """Noise of a vector, with its parameters, charge and errors.

    Attributes:
        name: ``discrete Laplace`` or ``discrete Gaussian``.
        parameters: of each coordinate the rate of Laplace noise, or the variance of Gaussian noise.
        charge: epsilon; with Gaussian noise also delta and rho.
        errors: bounds on the largest error of coordinates with each parameter, those with most noise first.
    """

    name: str
    parameters: tuple[Fraction, ...]
    charge: Charge
    errors: tuple[dict[str, Any], ...]

    @property
    def error(self) -> dict[str, Any]:
        """Error bound, or one for each scale of the noise."""
        if len(self.errors) == 1:
            return self.errors[0]
        scales = dict.fromkeys(sorted(self.parameters, reverse=bool(self.charge.delta)))
        word = "variance" if self.charge.delta else "rate"
        return {f"numbers with noise of {word} {scale}": each for scale, each in zip(scales, self.errors, strict=True)}


def vector(
    rows: npt.NDArray[Any],
    domain: Ball | VectorBox,
    terms: ReleaseTerms,
    draws: ExactNoise,
    delta: Fraction | None = None,
) -> Release:
    """Release the sum of the rows, n x d integers, in steps; those outside the domain are clipped to it.

    ``delta``, in (0, 1), is None for pure differential privacy. Raises ValueError if it is out of range, or the rows
    and the domain differ in their number of coordinates.
    """
    totals = [int(total) for total in domain.clip(rows).sum(axis=0)]
    taken, other = choose(domain, terms, delta)
    add = add_gaussian if taken.charge.delta else add_laplace
    noise = [add([0], parameter, draws)[0] for parameter in taken.parameters]
    length, square = domain.sensitivity(terms.neighbours.of(1, 2))
    root = f"{square**0.5:.6g}"
    return Release(
        values={"vector": [total + drawn for total, drawn in zip(totals, noise, strict=True)]},
        charge=taken.charge,
        sensitivity=f"The sum changes by at most {length} steps in L1 and {root} in L2 {terms.neighbours.in_words}.",
        error=taken.error,
        notes=(_choice(taken, other), *_shrinking(domain)),
    )


def choose(
    domain: Ball | VectorBox, terms: ReleaseTerms, delta: Fraction | None
) -> tuple[VectorNoise, VectorNoise | None]:
    """Return the noise with the smaller error, then the other one, which is None without a delta.

    Raises ValueError if delta is not in (0, 1).
    """
    d, records = domain.coordinates, terms.neighbours.of(1, 2)
    units = domain.units(records) if isinstance(domain, VectorBox) else (1,) * d
    # Counted in its own unit, each of d coordinates changes by 1.
    length, square = domain.sensitivity(records) if set(units) == {1} else (d, d)
    rates = tuple(terms.epsilon / (length * unit) for unit in units)
    errors = tuple(laplace_error(rate, d) for rate in sorted(set(rates)))
    laplace = VectorNoise("discrete Laplace", rates, Charge.pure(terms.epsilon), errors)
    if delta is None:
        return laplace, None
    variance, _ = gaussian_variance(terms.epsilon, delta, square, d)
    variances = tuple(variance * unit * unit for unit in units)
    errors = tuple(gaussian_error(each, d) for each in sorted(set(variances), reverse=True))
    charge = Charge(terms.epsilon, delta, square / (2 * variance))
    gaussian = VectorNoise("discrete Gaussian", variances, charge, errors)
    return (laplace, gaussian) if laplace.errors[0]["t"] <= gaussian.errors[0]["t"] else (gaussian, laplace)


def _choice(taken: VectorNoise, other: VectorNoise | None) -> str:
    scales = ", ".join(str(each) for each in dict.fromkeys(taken.parameters))
    sentence = f"the noise is {taken.name}, of {'variance' if taken.charge.delta else 'rate'} {scales}"
    return sentence if other is None else f"{sentence}; {other.name} would have had an error of {other.errors[0]['t']}"


def _shrinking(domain: Ball | VectorBox) -> tuple[str, ...]:
    if isinstance(domain, Ball):
        return ("vectors outside the declared ball were shrunk into it",)
    if domain.ball is None:
        return ()
    return (
        f"records outside the radius were shrunk into it; of records spread evenly over what is declared these are "
        f"{domain.shrunk():.0%}",
    )


def noisy_sum(values: npt.NDArray[Any], grid: NumberGrid, terms: ReleaseTerms, draws: ExactNoise) -> Release:
    """Release the sum of n integers, steps above the lower bound; clipped to 0 .. steps."""
    largest = max(abs(grid.low), abs(grid.high))
    sensitivity = terms.neighbours.of(grid.units(largest), grid.units(grid.high - grid.low))
    rate = terms.epsilon / sensitivity
    exact = len(values) * grid.units(grid.low) + grid.total(values) * grid.units(grid.step)
    noisy = add_laplace([exact], rate, draws)
    return terms.pure(
        values={"sum": str(noisy[0] * grid.noise_unit)},
        sensitivity=f"A sum changes by at most {Fraction(sensitivity) * grid.noise_unit} {terms.neighbours.in_words}.",
        error=in_units(laplace_error(rate, 1), grid.noise_unit),
        notes=(CLIPPED,),
    )


def noisy_mean(values: npt.NDArray[Any], grid: NumberGrid, terms: ReleaseTerms, draws: ExactNoise) -> Release:
    """Release the mean of n integers, steps above the lower bound; clipped to 0 .. steps."""
    if terms.neighbours is Neighbours.ADD_REMOVE:
        return _with_noisy_n(values, grid, terms, draws)
    n = max(len(values), 1)
    rate = terms.epsilon / grid.steps
    # Without records the mean is the middle. Noise is drawn all the same, so that n = 0 costs as much as any other n.
    exact = grid.total(values) if len(values) else grid.steps // 2
    steps = Fraction(add_laplace([exact], rate, draws)[0], n)
    mean = grid.low + min(max(steps, Fraction(0)), Fraction(grid.steps)) * grid.step
    width = (grid.high - grid.low) / n
    return terms.pure(
        values={"mean": str(mean), "n": len(values)},
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
    return terms.pure(
        values={
            "mean": str(min(max(mean, grid.low), grid.high)),
            "noisy_n": n,
            "noisy_sum_from_middle": str(distances * grid.step),
            "middle": str(grid.middle),
        },
        sensitivity=f"The number of records changes by 1 and the sum of their distances from the middle by at most "
        f"{width} {terms.neighbours.in_words}; each has half of epsilon.",
        error={"n": laplace_error(half, 1), "sum_from_middle": in_units(laplace_error(rate, 1), grid.step)},
        notes=(CLIPPED, "the mean is a ratio of two noisy numbers; it is not unbiased where n is small"),
    )
