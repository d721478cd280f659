"""
Noisy sum of declared vectors.

Answer       sum of v_i + x, v_i integer vectors of d coordinates, clipped to the declared ball; x exact noise.
Sensitivity  With R the radius, and m = 1 under add/remove and 2 under replace-one: m R in the ball's norm.
             L1 ball: m R in L1 and in L2. L2 ball: m R in L2, sqrt(d) m R in L1.
Laplace      Rate epsilon / (L1 sensitivity): epsilon-differentially private, delta = 0.
Gaussian     The smallest variance whose delta holds (``gaussian_delta``): (epsilon, delta), rho = D^2 / (2 s).
Choice       The noise with the smaller largest error is used, Laplace if they are equal. Both errors follow from the
             discrete distributions and not from the data, so that the choice costs nothing. Without a delta it is
             always Laplace.
Crossover    In an L2 ball Laplace's error grows with d ln d, Gauss's with sqrt(d ln d).
Sources      Dwork and Roth 2014, 3.3 and appendix A; Canonne, Kamath and Steinke 2020.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy.typing as npt
from sottovoce.aggregator.curator.add_noise import add_gaussian, add_laplace
from sottovoce.aggregator.curator.clipping import Ball
from sottovoce.aggregator.curator.gaussian_delta import gaussian_variance
from sottovoce.aggregator.curator.noise_distribution import gaussian_error, laplace_error
from sottovoce.aggregator.curator.privacy_cost import Charge
from sottovoce.aggregator.curator.release import Release
from sottovoce.aggregator.curator.release_terms import ReleaseTerms
from sottovoce.shared.exact_noise import ExactNoise


@dataclass(frozen=True)
class VectorNoise:
    """
    Noise of a vector, with its parameter, charge and error.

    Attributes:
        name: ``discrete Laplace`` or ``discrete Gaussian``.
        parameter: rate of Laplace noise, variance of Gaussian noise.
        charge: epsilon; with Gaussian noise also delta and rho.
        error: bound on the largest error of a coordinate.
    """

    name: str
    parameter: Fraction
    charge: Charge
    error: dict[str, Any]


def vector(
    rows: npt.NDArray[Any], ball: Ball, terms: ReleaseTerms, draws: ExactNoise, delta: Fraction | None = None
) -> Release:
    """
    Release the sum of n vectors.

    Args:
        rows: n x d integers, in steps.
        ball: the declared set; rows outside are clipped to it.
        terms: epsilon and neighbouring relation.
        draws: source of the noise.
        delta: None for pure differential privacy.

    Raises:
        ValueError: delta is not in (0, 1), or the rows and the ball differ in their number of coordinates.
    """
    totals = [int(total) for total in ball.clip(rows).sum(axis=0)]
    taken, other = choose(ball, terms, delta)
    noisy = (add_gaussian if taken.charge.delta else add_laplace)(totals, taken.parameter, draws)
    return Release(
        question=terms.question(
            "vector", norm=ball.norm, radius=ball.radius, coordinates=ball.coordinates, delta=str(delta or 0)
        ),
        values={"vector": noisy},
        charge=taken.charge,
        sensitivity=_sentence(ball, terms),
        error=taken.error,
        notes=(_choice(taken, other), "vectors outside the declared ball were shrunk into it"),
    )


def choose(ball: Ball, terms: ReleaseTerms, delta: Fraction | None) -> tuple[VectorNoise, VectorNoise | None]:
    """
    Return the noise with the smaller error, then the other one.

    Args:
        ball: the declared set.
        terms: epsilon and neighbouring relation.
        delta: None for pure differential privacy; then the second value is None.

    Raises:
        ValueError: delta is not in (0, 1).
    """
    length, square = ball.sensitivity(terms.neighbours.of(1, 2))
    rate = terms.epsilon / length
    laplace = VectorNoise("discrete Laplace", rate, Charge.pure(terms.epsilon), laplace_error(rate, ball.coordinates))
    if delta is None:
        return laplace, None
    variance, _ = gaussian_variance(terms.epsilon, delta, square, ball.coordinates)
    gaussian = VectorNoise(
        "discrete Gaussian",
        variance,
        Charge(terms.epsilon, delta, square / (2 * variance)),
        gaussian_error(variance, ball.coordinates),
    )
    return (laplace, gaussian) if laplace.error["t"] <= gaussian.error["t"] else (gaussian, laplace)


def _choice(taken: VectorNoise, other: VectorNoise | None) -> str:
    sentence = f"the noise is {taken.name}, of {'variance' if taken.charge.delta else 'rate'} {taken.parameter}"
    return sentence if other is None else f"{sentence}; {other.name} would have had an error of {other.error['t']}"


def _sentence(ball: Ball, terms: ReleaseTerms) -> str:
    records = terms.neighbours.of(1, 2)
    length, _ = ball.sensitivity(records)
    width = records * ball.radius
    return f"The sum changes by at most {length} steps in L1 and {width} in L2 {terms.neighbours.in_words}."
