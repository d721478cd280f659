"""Noisy sum of declared vectors.

Answer       sum of v_i + x, v_i integer vectors of d coordinates, clipped to the declared ball or box; x exact noise.
Sensitivity  D1 in L1 and D2 in L2. In a ball of radius R, with m = 1 under add/remove and 2 under replace-one: m R in
             the ball's norm; an L2 ball has sqrt(d) m R in L1. A box (``vector_box``) has the exact maxima.
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
from sottovoce.aggregator.curator.add_noise import add_gaussian, add_laplace
from sottovoce.aggregator.curator.clipping import Ball
from sottovoce.aggregator.curator.gaussian_delta import gaussian_variance
from sottovoce.aggregator.curator.noise_distribution import gaussian_error, laplace_error
from sottovoce.aggregator.curator.privacy_cost import Charge
from sottovoce.aggregator.curator.release import Release
from sottovoce.aggregator.curator.release_terms import ReleaseTerms
from sottovoce.aggregator.curator.vector_box import VectorBox
from sottovoce.shared.exact_noise import ExactNoise


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
        question=terms.question("vector", **_domain_form(domain), delta=str(delta or 0)),
        values={"vector": [total + drawn for total, drawn in zip(totals, noise, strict=True)]},
        charge=taken.charge,
        sensitivity=f"The sum changes by at most {length} steps in L1 and {root} in L2 {terms.neighbours.in_words}.",
        error=taken.error,
        notes=(_choice(taken, other), *_shrinking(domain)),
    )


def _domain_form(domain: Ball | VectorBox) -> dict[str, Any]:
    ball = domain.ball if isinstance(domain, VectorBox) else domain
    form: dict[str, Any] = {"coordinates": domain.coordinates}
    if isinstance(domain, VectorBox):
        form["box"] = [list(domain.lows), list(domain.highs)]
    return {**form, "norm": ball.norm, "radius": ball.radius} if ball else form


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
