"""Model an answer among the people who answered, with a logit of its own for declining.

Model       P(absent | x) = D = F(x'g), P(c | x) = (1 - D) pi_c(x; b), pi the model of those who answered: a logit,
            multinomial or ordered. A report has the likelihood q = D L_absent + (1 - D) q_b, q_b = sum_c pi_c L_c.
Gradient    with w = (1 - D) q_b / q, the probability that the reporter answered: w s_b, and (1 - w - D) x for g.
Information of b: w (information of the answered) - w (1 - w) s_b s_b'; of g: (D (1 - D) - w (1 - w)) x x'; between
            them w (1 - w) s_b x' (Louis 1982).
Edge        Where the reports show fewer declined answers than noise alone brings, the likelihood is largest at D = 0,
            where g has no finite value although b has one. Therefore ``PRIOR`` of a report per coefficient of g, half
            of it declined, is added, spread over all rows: it keeps g finite and moves D by less than a thirtieth of
            its standard error.
Why a model One common D biases b: where .05 and .35 of two groups decline, a true slope of 1 becomes 1.12.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import Array, Derivatives, LogOddsModel, Model, Sums, logistic
from sottovoce.aggregator.analysis.regression.ordered_logit import Ordered
from sottovoce.aggregator.analysis.regression.randomized_predictor import RandomizedPredictor

DECLINING = MODELLED, COMMON = "modelled", "common"
DECLINED_PER_PARAMETER = 10

PRIOR = 0.002
# ``exp`` overflows above 709.
_RARE = 1e-300
_SCALE = 0.5
"""Factor of the declining predictors in ``predictors``: shares down to exp(-24) count as finite."""


@dataclass(frozen=True)
class DecliningModel(LogOddsModel):
    """A likelihood of reports on an answer that people may decline; its parameters are b, then g.

    Attributes:
        answered: model of the people who answered; of careful people it may have declining in turn.
        columns: (q, n), predictors of declining; a single constant row for a common share.
        absent: (u,), c P(reported | declined) for each different report, as in the rows of ``answered``.
        share: share of declined answers, for the start of the search.
        added: weight of the added report in each row; None for an even part of ``PRIOR``.
    """

    answered: "LatentModel"
    columns: Array
    absent: Array
    share: float
    added: float | None = None

    @property
    def rows(self) -> int:
        """Number n of reports in the sample."""
        return self.answered.rows

    @property
    def codes(self) -> NDArray[np.integer]:
        """Row of the likelihood for each report, (n,)."""
        return self.answered.codes

    @property
    def weights(self) -> Array | None:
        """Weights of the reports, (n,), or None for equal weights."""
        return self.answered.weights

    @property
    def squares(self) -> Array | None:
        """Sums of the squared weights of equal reports, (n,), or None."""
        return self.answered.squares

    def start(self) -> Array:
        """Return starting values, (d,): those of the answer, and the same share of declined answers everywhere."""
        # The logit of 0 or 1 is infinite, and a search that starts far out hardly moves.
        share = min(max(self.share, 0.01), 0.9)
        declining = np.zeros(len(self.columns))
        declining[0] = np.log(share / (1 - share))
        return np.concatenate([self.answered.start(), declining])

    def blocks(self, part: slice) -> list[Array]:
        """Return the columns of the answer's log odds, and those of declining."""
        return [*self.answered.blocks(part), self.columns[:, part]]

    def derivatives(self, theta: Array, part: slice) -> Derivatives:
        """Return likelihoods and derivatives of the reports in ``part``, without the prior."""
        inner, slopes, curve_of_answer = self.answered.derivatives(theta[: -len(self.columns)], part)
        declined, last = self._declined(theta, part), len(slopes)
        ahead = (1 - declined) * inner
        marginal = ahead + declined * self.absent[self.codes[part]]
        # The probability that a report comes from an answer (EM's weights), and how unsure that is.
        answered = ahead / marginal
        unsure = answered * (1 - answered)

        def curve(one: int, other: int) -> Array:
            if other < last:
                return np.asarray(answered * curve_of_answer(one, other) - unsure * slopes[one] * slopes[other])
            return unsure * slopes[one] if one < last else np.asarray(declined * (1 - declined) - unsure)

        slopes_of_all = np.vstack([answered * slopes, 1 - answered - declined])
        return Derivatives(np.where(inner > 0, marginal, 0.0), slopes_of_all, curve)

    def sums(self, theta: Array, part: slice) -> Sums:
        """Return the contribution of the reports in ``part``, weights and prior included."""
        log_likelihood, gradient, information = super().sums(theta, part)
        for own, columns, declined, added in self._added(theta, part):
            log_likelihood += added / 2 * float((np.log(declined) + np.log1p(-declined)).sum())
            gradient[own] += columns @ (added * (0.5 - declined))
            information[own, own] += (columns * (added * declined * (1 - declined))) @ columns.T
        return Sums(log_likelihood, gradient, information)

    def scores(self, theta: Array, part: slice) -> Array:
        """Return the gradient of each report's log likelihood, (d, m), without its weight, prior included."""
        scores = super().scores(theta, part)
        for own, columns, declined, added in self._added(theta, part):
            scores[own] += columns * (added * (0.5 - declined))
        return scores

    def predictors(self, theta: Array, part: slice) -> Iterator[Array]:
        """Yield the linear predictors of the answer, then the declining one times ``_SCALE``, (m,) each."""
        yield from self.answered.predictors(theta[: -len(self.columns)], part)
        yield _SCALE * (theta[-len(self.columns) :] @ self.columns[:, part])

    @property
    def cuts(self) -> range:
        """Indices of the cuts of an ordered answer among the parameters."""
        return self.answered.cuts

    def _added(self, theta: Array, part: slice) -> Iterator[tuple[slice, Array, Array, float]]:
        """Yield places of coefficients, columns, fitted share D, and added weight, of this model and one within."""
        before = len(theta) - len(self.columns)
        if isinstance(self.answered, DecliningModel):
            yield from self.answered._added(theta[:before], part)
        added = PRIOR * len(self.columns) / self.rows if self.added is None else self.added
        yield slice(before, len(theta)), self.columns[:, part], self._declined(theta, part), added

    def _declined(self, theta: Array, part: slice) -> Array:
        """Return the fitted share D of each report, (m,)."""
        return logistic(theta[-len(self.columns) :] @ self.columns[:, part])


LatentModel = Multinomial | Ordered | DecliningModel


def seen_states(model: Model) -> Iterator[Any]:
    """Yield the model of each true answer, no answer included, as if each report showed it."""
    if isinstance(model, RandomizedPredictor):
        for cell, outcome in product(np.eye(len(model.factors)), seen_states(model.outcome)):
            yield replace(model, outcome=outcome, predictor=_told(model.predictor, cell), linked=None)
    elif isinstance(model, LatentModel):
        # Reports that answers bring as good as never, since those that they never bring would have no scores.
        yield from (_told(model, row) for row in np.maximum(np.eye(_states(model)), _RARE))


def _states(model: LatentModel) -> int:
    """Return the number of true answers, no answer included."""
    return 1 + _states(model.answered) if isinstance(model, DecliningModel) else model.likelihood.shape[1]


def _told(model: LatentModel, likelihood: Array) -> Any:  # noqa: ANN401 - of the same type
    """Return a model of reports that have this likelihood by true answer, (k,), each."""
    if isinstance(model, DecliningModel):
        return replace(model, answered=_told(model.answered, likelihood[:-1]), absent=likelihood[-1:], added=0.0)
    return replace(model, codes=np.zeros(model.rows, np.intp), likelihood=likelihood[None])
