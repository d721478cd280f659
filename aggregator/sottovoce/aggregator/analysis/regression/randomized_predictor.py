"""Model by logit an answer Y on predictors of which some (A) are observed only through their randomized reports.

Cells       A is the joint category of all randomized predictors, c one of its cells. The columns of Y's model in cell
            c are their public factors times constants, so interactions with A, and within A, are columns like others.
Model       P(A = c | x) with coefficients g (see below), P(Y = y | x, A = c) multinomial logit with coefficients b. A
            report has the likelihood q = sum_c P(c | x) L_c q_c, with L_c the likelihood of A's reports and q_c the
            likelihood of Y's report, both given c.
Block       Where Y and A are reported in one block, L_c q_c is the sum over Y's categories of their share times the
            likelihood of all these reports together.
Of A        Multinomial logit of the cells, whose coefficients are linear in g: with several predictors, each has logits
            on x, and each pair of categories one constant of association (log-linear model).
Gradient    sum_c t_c S_c, t_c = P(c | x) L_c q_c / q, S_c the score if A were c.
Information sum_c t_c (information if A were c) - (sum_c t_c S_c S_c' - S S'), S = sum_c t_c S_c (Louis).
Assumption  The result depends on the model of A given x, so results show that model as well.
Source      Louis 1982; Blair, Imai and Zhou 2015 (randomized answers as predictors); Bishop, Fienberg and Holland 1975.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial, information, times_columns
from sottovoce.aggregator.analysis.regression.newton import Array, Derivatives, Model, Sums, summed

Case = tuple[Derivatives, list[Array], Array]
"""Model of Y given one cell of A: derivatives by the log odds of Y, the columns of these, and the score."""


@dataclass(frozen=True)
class RandomizedPredictor(Model):
    """A joint likelihood of the reports on Y and A; its parameters are b, category by category of Y, then g.

    Attributes:
        outcome: model of Y on the public factors of its columns; its weights apply to the whole likelihood.
        predictor: multinomial logit of A's cells on x; the first cell is the reference.
        factors: constants of Y's columns in each cell, (cells, columns of Y).
        restriction: coefficients of the cells by those in g, (parameters of ``predictor``, length of g).
        linked: likelihood of the reports on Y and A together in each cell, (cells, u, categories of Y), where they are
            reported in one block; both models then have the codes of these reports, and ``predictor`` the likelihood 1.
    """

    outcome: Multinomial
    predictor: Multinomial
    factors: Array
    restriction: Array
    linked: Array | None = None

    @property
    def rows(self) -> int:
        """Number n of reports in the fit."""
        return self.outcome.rows

    @property
    def weights(self) -> Array | None:
        """Weights of the reports, (n,), or None for equal weights."""
        return self.outcome.weights

    @property
    def squares(self) -> Array | None:
        """Sums of the squared weights of equal reports, (n,), or None."""
        return self.outcome.squares

    @property
    def parameters(self) -> int:
        """Number d of parameters: those of Y plus those of A."""
        return self.outcome.parameters + int(self.restriction.shape[1])

    def sums(self, theta: Array, part: slice) -> Sums:
        """Return the contribution of the reports in ``part``, weights included."""
        given, marginal, cases = self._cases(theta, part)
        # Weights apply once, here: the two models inside would otherwise count them twice.
        weights = np.ones(given.shape[1]) if self.weights is None else self.weights[part]
        score, total = 0.0, np.zeros((self.parameters, self.parameters))
        size = self.outcome.parameters
        for share, (at, blocks, of_case) in zip(given, cases, strict=True):
            score = score + share * of_case
            total[:size, :size] += summed(at.curve, blocks, share * weights)
            total -= (of_case * (share * weights)) @ of_case.T
        # The last two terms together are the variance of the score over the unknown cell (Louis 1982).
        total += (score * weights) @ np.transpose(score)
        # The information of A's own model is the same in every case, since it depends on x only.
        truth = self.distribution(theta[size:], part)[1:]
        own = information(truth, np.zeros_like(truth), self.predictor.columns[:, part], weights)
        total[size:, size:] += self.restriction.T @ own @ self.restriction
        return Sums(float(weights @ np.log(marginal)), score @ weights, total)

    def scores(self, theta: Array, part: slice) -> Array:
        """Return the gradient of each report's log likelihood, (d, m), without its weight."""
        given, _, cases = self._cases(theta, part)
        return np.asarray(sum(share * score for share, (*_, score) in zip(given, cases, strict=True)))

    def marginal(self, theta: Array, part: slice) -> Array:
        """Return the likelihood of each report, (m,)."""
        return self._cases(theta, part)[1]

    def predictors(self, theta: Array, part: slice) -> Iterator[Array]:
        """Yield the log odds of Y given each cell of A, then the log odds of A's cells, (m,) each."""
        size = self.outcome.parameters
        for cell in range(len(self.factors)):
            yield from self._if(cell, part).predictors(theta[:size], slice(None))
        yield from self.predictor.predictors(self.restriction @ theta[size:], part)

    def distribution(self, of_predictor: Array, part: slice) -> Array:
        """Return the shares of A's cells given x, (cells, m), for its coefficients g."""
        return self.predictor.fitted(self.restriction @ of_predictor, part)

    def by_distribution(self, residuals: Array, part: slice) -> Array:
        """Return the derivatives by g of sums over reports, (k, g), from those by the log odds, (cells - 1, k, m)."""
        sums = np.tensordot(residuals, self.predictor.columns[:, part], axes=(2, 1))
        return np.asarray(np.moveaxis(sums, 0, 1).reshape(sums.shape[1], -1) @ self.restriction)

    def _if(self, cell: int, part: slice) -> Multinomial:
        """Return the model of Y for the reports in ``part`` given one cell of A."""
        columns = self.outcome.columns[:, part] * self.factors[cell][:, None]
        likelihood = self.outcome.likelihood if self.linked is None else self.linked[cell]
        return Multinomial(columns, self.outcome.codes[part], likelihood)

    def _cases(self, theta: Array, part: slice) -> tuple[Array, Array, list[Case]]:
        """Return the shares of A's cells given the reports, (cells, m), the likelihoods, (m,), and the cases."""
        size = self.outcome.parameters
        prior = self.distribution(theta[size:], part)
        truth = prior[1:]
        of_predictor = self.predictor.columns[:, part]
        cases = []
        for cell, indicator in enumerate(np.eye(len(self.factors))[:, 1:]):
            model = self._if(cell, part)
            at = model.derivatives(theta[:size], slice(None))
            above = times_columns(at.slopes, model.columns)
            below = self.restriction.T @ times_columns(indicator[:, None] - truth, of_predictor)
            cases.append((at, model.blocks(slice(None)), np.vstack([above, below])))
        joint = prior * self.predictor.likelihood.T[:, self.predictor.codes[part]] * [at.marginal for at, *_ in cases]
        likelihood = joint.sum(axis=0)
        return joint / likelihood, likelihood, cases
