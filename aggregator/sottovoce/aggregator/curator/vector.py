"""
The sum of declared vectors.

Answer       sum of v_i + x, v_i whole vectors of d coordinates, shrunk into the declared ball; x exact noise.
Sensitivity  With R the radius, m = 1 if a record comes or goes and 2 if it becomes another one: m R in the ball's norm.
             L1 ball: m R in L1 and in L2. L2 ball: m R in L2, sqrt(d) m R in L1.
Laplace      Rate epsilon / (L1 sensitivity): epsilon-differentially private, delta = 0.
Gaussian     The smallest variance whose delta holds (``gaussian_delta``): (epsilon, delta), rho = D^2 / (2 s).
Choice       Both largest errors follow from the discrete distributions; the noise with the smaller one is taken,
             Laplace if they are equal. Neither looks at the data, so that the choice costs nothing. Without a delta
             it is Laplace.
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
    The noise of a vector: what it is, what it costs, how large it is.

    Attributes:
        name: ``discrete Laplace`` or ``discrete Gaussian``.
        parameter: rate or variance.
        charge: epsilon; with Gaussian noise delta and rho.
        error: of the largest coordinate.
    """

    name: str
    parameter: Fraction
    charge: Charge
    error: dict[str, Any]


def vector(
    rows: npt.NDArray[Any], ball: Ball, terms: ReleaseTerms, draws: ExactNoise, delta: Fraction | None = None
) -> Release:
    """
    The sum of n vectors.

    Args:
        rows: n x d integers, in steps.
        ball: the declared set; rows outside are shrunk into it.
        terms: epsilon and relation.
        draws: where the noise comes from.
        delta: None for pure privacy.

    Raises:
        ValueError: delta does not lie in (0, 1), or the rows have another number of coordinates than the ball.
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
    The noise with the smaller error, and the one that was not taken.

    Args:
        ball: the declared set.
        terms: epsilon and relation.
        delta: None for pure privacy: then there is no choice.

    Raises:
        ValueError: delta does not lie in (0, 1).
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
    told = f"the noise is {taken.name}, of {'variance' if taken.charge.delta else 'rate'} {taken.parameter}"
    return told if other is None else f"{told}; {other.name} would have had an error of {other.error['t']}"


def _sentence(ball: Ball, terms: ReleaseTerms) -> str:
    records = terms.neighbours.of(1, 2)
    length, _ = ball.sensitivity(records)
    width = records * ball.radius
    return f"The sum changes by at most {length} steps in L1 and {width} in L2 {terms.neighbours.in_words}."
