"""
Logit of an answer Y on predictors, one of which (A) is itself observed only through its randomized report.

Model       P(A = a | x) multinomial logit with coefficients g, P(Y = y | x, A = a) with coefficients b for x and for
            each a after the first. A report has the likelihood q = sum_a P(a | x) L_a q_a, with L_a the likelihood of
            A's report and q_a the likelihood of Y's report, both given a.
Gradient    sum_a t_a S_a, t_a = P(a | x) L_a q_a / q, S_a the score if A were a.
Information sum_a t_a (information if A were a) - (sum_a t_a S_a S_a' - S S'), S = sum_a t_a S_a (Louis).
Assumption  The result depends on the model of A given x, so results show that model as well.
Source      Louis 1982; Blair, Imai and Zhou 2015 (randomized answers as predictors).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial, information, times_columns
from sottovoce.aggregator.analysis.regression.newton import Array, Sums


@dataclass(frozen=True)
class RandomizedPredictor:
    """
    Joint likelihood of the reports on Y and A; its parameters are b, category by category of Y, then g.

    Attributes:
        outcome: model of Y on x without A; its weights apply to the whole likelihood.
        predictor: model of A on x.
    """

    outcome: Multinomial
    predictor: Multinomial

    @property
    def rows(self) -> int:
        """Number n of reports in the fit."""
        return self.outcome.rows

    @property
    def weights(self) -> Array | None:
        """Weights of the reports, (n,), or None for equal weights."""
        return self.outcome.weights

    @property
    def parameters(self) -> int:
        """Number d of parameters: those of Y plus those of A."""
        return self._outcome_parameters + self.predictor.parameters

    @property
    def _outcome_parameters(self) -> int:
        return self.outcome.shape[0] * (self.outcome.shape[1] + self.predictor.shape[0])

    @cached_property
    def _indicators(self) -> Array:
        """Indicator columns of A for each of its k categories, (k, k - 1)."""
        return np.eye(self.predictor.shape[0] + 1)[:, 1:]

    def start(self) -> Array:
        """Return zeros, (d,): all categories equally likely whatever the predictors."""
        return np.zeros(self.parameters)

    def sums(self, theta: Array, part: slice) -> Sums:
        """Return the contribution of the reports in ``part``, weights included."""
        given, log_likelihoods, cases = self._cases(theta, part)
        # Weights apply once, here: the two models inside would otherwise count them twice.
        weights = np.ones(given.shape[1]) if self.weights is None else self.weights[part]
        score, total = 0.0, np.zeros((self.parameters, self.parameters))
        size = self._outcome_parameters
        for share, case in zip(given, cases, strict=True):
            score = score + share * case.score
            total[:size, :size] += information(case.truth, case.given, case.columns, share * weights)
            total -= (case.score * (share * weights)) @ case.score.T
        # The last two terms together are the variance of the score over the unknown category (Louis 1982).
        total += (score * weights) @ np.transpose(score)
        # The information of A's own model is the same in every case, since it depends on x only.
        truth = self.predictor.truth(theta[size:], part)
        total[size:, size:] += information(truth, np.zeros_like(truth), self.predictor.columns[:, part], weights)
        return Sums(float(weights @ log_likelihoods), score @ weights, total)

    def scores(self, theta: Array, part: slice) -> Array:
        """Return the gradient of each report's log likelihood, (d, m), without its weight."""
        given, _, cases = self._cases(theta, part)
        return np.asarray(sum(share * case.score for share, case in zip(given, cases, strict=True)))

    def predictors(self, theta: Array, part: slice) -> Iterator[Array]:
        """Yield the log odds of Y given each category of A, then the log odds of A, (m,) each."""
        for shift in self._indicators:
            yield from self._if(shift, part).predictors(theta[: self._outcome_parameters], slice(None))
        yield from self.predictor.predictors(theta[self._outcome_parameters :], part)

    def directions(self, row: int) -> Array:
        """Return the derivatives of one report's log odds, (number of log odds, d)."""
        part, after = slice(row, row + 1), self.predictor.parameters
        outcome = [self._if(shift, part).directions(0) for shift in self._indicators]
        above = np.vstack(outcome)
        below = self.predictor.directions(row)
        return np.block([[above, np.zeros((len(above), after))], [np.zeros((len(below), above.shape[1])), below]])

    def at_edge(self, theta: Array) -> bool:  # noqa: ARG002 - part of the Model protocol
        """Return False: the parameter space has no boundary."""
        return False

    def _if(self, shift: Array, part: slice) -> Multinomial:
        """Return the model of Y for the reports in ``part`` given one category of A, with A's columns added."""
        columns = self.outcome.columns[:, part]
        known = np.repeat(shift[:, None], columns.shape[1], axis=1)
        return replace(self.outcome, columns=np.vstack([columns, known]), codes=self.outcome.codes[part], weights=None)

    def _cases(self, theta: Array, part: slice) -> tuple[Array, Array, list["_Case"]]:
        """Return the shares of A's categories given both reports, (k, m), the log likelihoods, (m,), and the cases."""
        beta, gamma = theta[: self._outcome_parameters], theta[self._outcome_parameters :]
        truth = self.predictor.truth(gamma, part)
        # The first category of A is the rest, as in every multinomial logit here.
        prior = np.vstack([1 - truth.sum(axis=0), truth])
        cases = []
        for indicator in self._indicators:
            model = self._if(indicator, part)
            shares = model.shares(beta, slice(None))
            of_outcome = times_columns(shares[1] - shares[0], model.columns)
            of_predictor = times_columns(indicator[:, None] - truth, self.predictor.columns[:, part])
            cases.append(_Case(*shares, model.columns, np.vstack([of_outcome, of_predictor])))
        joint = prior * self.predictor.likelihood.T[:, self.predictor.codes[part]] * [case.marginal for case in cases]
        likelihood = joint.sum(axis=0)
        return joint / likelihood, np.log(likelihood), cases


@dataclass(frozen=True)
class _Case:
    """Model of Y given one category of A: shares before and given Y's report, report likelihood, columns, score."""

    truth: Array
    given: Array
    marginal: Array
    columns: Array
    score: Array
