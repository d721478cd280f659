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
from sottovoce.aggregator.analysis.regression.newton import Array, Model, Sums, logistic
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
class DecliningModel:
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

    @property
    def parameters(self) -> int:
        """Number d of parameters: those of the answer plus one for each predictor of declining."""
        return self.answered.parameters + len(self.columns)

    def start(self) -> Array:
        """Return starting values, (d,): those of the answer, and the same share of declined answers everywhere."""
        # The logit of 0 or 1 is infinite, and a search that starts far out hardly moves.
        share = min(max(self.share, 0.01), 0.9)
        declining = np.zeros(len(self.columns))
        declining[0] = np.log(share / (1 - share))
        return np.concatenate([self.answered.start(), declining])

    def sums(self, theta: Array, part: slice) -> Sums:
        """Return the contribution of the reports in ``part``, weights and prior included."""
        beta = theta[: self.answered.parameters]
        declined, inner, answered = self._shares(theta, part)
        total = declined * self.absent[self.codes[part]] + (1 - declined) * inner
        weight = np.ones(len(total)) if self.weights is None else self.weights[part]
        # A report counts for the answer's model by the probability that it comes from an answer (EM's weights).
        of_answer = _part_of(self.answered, part, answered * weight).sums(beta, slice(None))
        if of_answer.log_likelihood == -np.inf:
            empty = np.zeros((self.parameters, self.parameters))
            return Sums(-np.inf, empty[0], empty)
        scores, columns = self.answered.scores(beta, part), self.columns[:, part]
        mixed = weight * answered * (1 - answered)
        # A step to parameters that rule a report out gives log 0 = -inf; the search then halves the step.
        with np.errstate(divide="ignore"):
            logs = weight @ np.log(total) + self._prior_logs(theta, part)
        between = (scores * mixed) @ columns.T
        curve = (weight + self._prior) * declined * (1 - declined) - mixed
        return Sums(
            float(logs),
            np.concatenate([of_answer.gradient, columns @ self._residuals(declined, answered, weight)]),
            np.block(
                [
                    [of_answer.information - (scores * mixed) @ scores.T, between],
                    [between.T, (columns * curve) @ columns.T],
                ]
            ),
        )

    def scores(self, theta: Array, part: slice) -> Array:
        """Return the gradient of each report's log likelihood, (d, m), without its weight."""
        declined, _, answered = self._shares(theta, part)
        of_answer = self.answered.scores(theta[: self.answered.parameters], part) * answered
        return np.vstack([of_answer, self.columns[:, part] * self._residuals(declined, answered, 1.0)])

    def predictors(self, theta: Array, part: slice) -> Iterator[Array]:
        """Yield the linear predictors of the answer, then the declining one times ``_SCALE``, (m,) each."""
        yield from self.answered.predictors(theta[: self.answered.parameters], part)
        yield _SCALE * (theta[self.answered.parameters :] @ self.columns[:, part])

    def directions(self, row: int) -> Array:
        """Return the derivatives of one report's linear predictors, (number of linear predictors, d)."""
        above = self.answered.directions(row)
        last = np.concatenate([np.zeros(above.shape[1]), _SCALE * self.columns[:, row]])
        return np.vstack([np.hstack([above, np.zeros((len(above), len(self.columns)))]), last])

    @property
    def cuts(self) -> range:
        """Indices of the cuts of an ordered answer among the parameters."""
        return self.answered.cuts

    @property
    def _prior(self) -> float:
        return PRIOR * len(self.columns) / self.rows if self.added is None else self.added

    def _prior_logs(self, theta: Array, part: slice) -> float:
        """Return the log likelihood of the added reports, those of a model within included."""
        inner = theta[: self.answered.parameters]
        within = self.answered._prior_logs(inner, part) if isinstance(self.answered, DecliningModel) else 0.0
        declined = self._shares(theta, part)[0]
        return within + self._prior / 2 * float((np.log(declined) + np.log1p(-declined)).sum())

    def marginal(self, theta: Array, part: slice) -> Array:
        """Return the likelihood of each report, (m,)."""
        declined, inner, _ = self._shares(theta, part)
        likelihood: Array = declined * self.absent[self.codes[part]] + (1 - declined) * inner
        return likelihood

    def _residuals(self, declined: Array, answered: Array, weight: Array | float) -> Array:
        """Return the derivatives of the log likelihoods by the predictor of declining, (m,), prior included."""
        return weight * (1 - answered - declined) + self._prior * (0.5 - declined)

    def _shares(self, theta: Array, part: slice) -> tuple[Array, Array, Array]:
        """Return the fitted share D, q of those who answered, and the probability w of an answer, (m,) each."""
        declined = logistic(theta[self.answered.parameters :] @ self.columns[:, part])
        inner = self.answered.marginal(theta[: self.answered.parameters], part)
        ahead = (1 - declined) * inner
        return declined, inner, ahead / (ahead + declined * self.absent[self.codes[part]])


LatentModel = Multinomial | Ordered | DecliningModel


def _part_of(model: LatentModel, part: slice, weights: Array) -> LatentModel:
    columns = model.columns[:, part]
    if isinstance(model, DecliningModel):
        return replace(model, columns=columns, answered=_part_of(model.answered, part, weights), added=model._prior)
    return replace(model, columns=columns, codes=model.codes[part], weights=weights)


def seen_states(model: Model) -> Iterator[Any]:
    """Yield the model of each true answer, no answer included, as if each report showed it."""
    if isinstance(model, RandomizedPredictor):
        for cell, outcome in product(np.eye(len(model.factors)), seen_states(model.outcome)):
            yield replace(model, outcome=outcome, predictor=_told(model.predictor, cell), linked=None)
    elif isinstance(model, DecliningModel):
        yield replace(model, answered=_untold(model.answered), absent=np.ones(1), added=0.0)
        for inner in seen_states(model.answered):
            yield replace(model, answered=inner, absent=np.zeros(1), added=0.0)
    elif isinstance(model, Multinomial | Ordered):
        yield from (_told(model, row) for row in np.eye(model.likelihood.shape[1]))


def _untold(model: LatentModel) -> LatentModel:
    """Return a model of reports that answers bring as good as never."""
    if isinstance(model, DecliningModel):
        return replace(model, answered=_untold(model.answered), absent=np.full(1, _RARE), added=0.0)
    seen: LatentModel = _told(model, np.full(model.likelihood.shape[1], _RARE))
    return seen


def _told(model: Multinomial | Ordered, likelihood: Array) -> Any:  # noqa: ANN401 - of the same type
    return replace(model, codes=np.zeros(model.rows, np.intp), likelihood=likelihood[None])
