"""The likelihood of several yes/no items of each person that one latent trait connects, through any channels.

Model       P(yes to item j | z) = 1 / (1 + exp(-(a_j z - d_j))), z normal with mean 0 and variance 1. Rasch: each a_j
            is the standard deviation s of the trait. 2PL: each item has its own discrimination a_j. The likelihood of
            a person is the integral over z of the product over items of sum_c P(c | z) P(report | c).
Integral    Gauss-Hermite; the caller doubles the points until the log likelihood no longer moves.
Gradient    Means over z given the reports of the scores of each item, (r - P) (-1, z), r = P(yes | report, z).
Information Minus the mean curvature, (P (1 - P) - r (1 - r)) (-1, z) (-1, z)', less the covariance of the scores given
            the reports (Louis 1982).
Sign        a and -a are equally likely, so s = 0 is a point as any other and not an edge.
Source      Rasch 1960; Bock and Aitkin 1981; Boeckenholt and van der Heijden 2007 (randomized items).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sottovoce.aggregator.analysis.regression.newton import Array, Sums

RASCH, TWO_PARAMETERS = "rasch", "2pl"
_LARGEST = 30.0  # log odds: a share and its complement still differ from 0


@dataclass(frozen=True)
class ItemModel:
    """A likelihood of different combinations of reports.

    Attributes:
        likelihood: (items, n, 2), P(report | no) and P(report | yes); ones where there is none.
        weights: (n,), people with each combination.
        kind: ``RASCH`` or ``TWO_PARAMETERS``.
        points: number of points of the integral.
    """

    likelihood: Array
    weights: Array
    kind: str
    points: int
    squares: Array | None = None

    @property
    def rows(self) -> int:
        """Number n of different combinations of reports."""
        return len(self.weights)

    @property
    def items(self) -> int:
        """Number of items, at least two."""
        return len(self.likelihood)

    @property
    def parameters(self) -> int:
        """Number of difficulties, and of the standard deviation or the discriminations."""
        return self.items + (1 if self.kind == RASCH else self.items)

    def start(self) -> Array:
        """Return difficulties 0 and discriminations 1, (d,)."""
        return np.append(np.zeros(self.items), np.ones(self.parameters - self.items))

    def sums(self, theta: Array, part: slice) -> Sums:
        """Return the contribution of the combinations in ``part``, weights included."""
        logs, given, residuals, curves, z = self._given(theta, part)
        weights = self.weights[part]
        scores = self._of_parameters(residuals, z)
        means = np.einsum("kmq,mq->km", scores, given)
        weighted = given * weights[:, None]
        information = -np.einsum("kmq,lmq,mq->kl", scores, scores, weighted, optimize=True)
        information += (means * weights) @ means.T
        flat, sloped, square = (np.einsum("jmq,mq->j", curves, weighted * z**power) for power in (0, 1, 2))
        j = np.arange(self.items)
        own = j + self.items if self.kind != RASCH else np.full(self.items, self.items)
        np.add.at(information, (j, j), -flat)
        np.add.at(information, (own, own), -square)
        for one, other in ((j, own), (own, j)):
            np.add.at(information, (one, other), sloped)
        return Sums(float(weights @ logs), means @ weights, information)

    def scores(self, theta: Array, part: slice) -> Array:
        """Return the gradient of the log likelihood of each combination, (d, m), without its weight."""
        _, given, residuals, _, z = self._given(theta, part)
        means: Array = np.einsum("kmq,mq->km", self._of_parameters(residuals, z), given)
        return means

    def predictors(self, theta: Array, part: slice) -> Iterator[Array]:
        """Yield the parameters themselves, (m,) each, by which steps are kept short."""
        yield from np.repeat(theta[:, None], len(self.weights[part]), axis=1)

    def directions(self, row: int) -> Array:  # noqa: ARG002 - alike for all
        """Return the unit matrix, (d, d)."""
        return np.eye(self.parameters)

    def at_edge(self, theta: Array) -> bool:  # noqa: ARG002 - part of the Model protocol
        """Return False: the parameter space has no boundary."""
        return False

    def _given(self, theta: Array, part: slice) -> tuple[Array, Array, Array, Array, Array]:
        """Return log likelihoods (m,), P(z | reports) (m, q), scores and curvatures of all items (J, m, q), and z."""
        z, masses = np.polynomial.hermite_e.hermegauss(self.points)
        slopes = np.broadcast_to(theta[self.items :], self.items)
        odds = np.clip(slopes[:, None] * z - theta[: self.items, None], -_LARGEST, _LARGEST)
        yes = (1 / (1 + np.exp(-odds)))[:, None, :]
        known = self.likelihood[:, part, :, None]
        reported = known[:, :, 0] * (1 - yes) + known[:, :, 1] * yes
        answered = known[:, :, 1] * yes / reported
        logs = np.log(reported).sum(axis=0) + np.log(masses / masses.sum())
        largest = logs.max(axis=1, keepdims=True)
        given = np.exp(logs - largest)
        total = given.sum(axis=1, keepdims=True)
        curves = answered * (1 - answered) - yes * (1 - yes)
        return (largest + np.log(total))[:, 0], given / total, answered - yes, curves, z

    def _of_parameters(self, residuals: Array, z: Array) -> Array:
        """Return the scores of all parameters, (d, m, q), from those of the items' log odds."""
        sloped = residuals * z
        return np.concatenate([-residuals, sloped.sum(axis=0, keepdims=True) if self.kind == RASCH else sloped])
