"""Take an ordered choice as a number: the numbers in the names of its options, or 1, 2, 3 in their order.

Scores      sum_k t_k z_k of the categories' unbiased scores z_k, and t_k^2 for the square: unbiased whatever the truth.
Latent      In a logit, a randomized scale stays one of its categories, each with its number.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sottovoce.aggregator.estimators.variable import ChoiceVariable, Floats, Reported, Truths, Variable
from sottovoce.shared.errors import EstimateError, Sentence
from sottovoce.shared.spec import Question

LINEAR_FROM = 7
"""Smallest number of points of a rating that enters a model as a number unless asked otherwise."""

NO_SCALE = "'{variable}' is no scale: a choice among at least three answers in order is one"
NO_NUMBER = (
    "'{variable}': people may have given no answer, which is no number, and randomization hides who; take its answers "
    "as categories"
)
IN_BLOCK = "'{variable}' is reported together with other questions; take its answers as categories"

_NUM = re.compile(r"num\((.+)\)")
_NUMBERED = re.compile(r"([^0-9]*)([0-9]{1,9})")


def num(name: str) -> str:
    """Return the name of a scale as a number."""
    return f"num({name})"


def bare(name: str) -> str:
    """Return the name of the variable itself, where a name says that it is taken as a number."""
    found = _NUM.fullmatch(name)
    return found[1] if found else name


@dataclass(frozen=True, kw_only=True)
class ScaleVariable(Variable):
    """A number that is the place on a scale; ``choice`` is the same with categories, without one for no answer."""

    choice: ChoiceVariable

    def likelihood(self, reported: Reported) -> Floats:
        """Return the rows of the choice, shape (u, k)."""
        return self.choice.likelihood(reported)

    def scores(self, reported: Reported) -> Floats:
        """Return scores of the number, shape (u,)."""
        return self._weighed(reported, self.levels)

    def square_scores(self, reported: Reported) -> Floats:
        """Return scores of its square, shape (u,)."""
        return self._weighed(reported, [level**2 for level in self.levels])

    def _weighed(self, reported: Reported, levels: Sequence[float]) -> Floats:
        found: Floats = self.choice.scores(reported)[:, : len(levels)] @ np.asarray(levels)
        return found


def points_of(names: Sequence[str]) -> tuple[float, ...]:
    """Return the numbers of a scale's points from the names of its options."""
    found = [_NUMBERED.fullmatch(name) for name in names]
    numbered = [each for each in found if each is not None]
    alike = len(numbered) == len(names) and len({each[1] for each in numbered}) == 1
    return tuple(float(each[2]) for each in numbered) if alike else tuple(map(float, range(1, len(names) + 1)))


def is_long(question: Question) -> bool:
    """Return True for a rating that enters a model as a number unless asked otherwise."""
    return question.type == "rating" and len(question.options) >= LINEAR_FROM


def as_number(variable: Variable) -> ScaleVariable:
    """Return a choice as a number.

    Raises EstimateError for what is no scale, and where randomization hides who gave no answer, which has no number.
    """
    if not isinstance(variable, ChoiceVariable) or len(variable.answered) < 3:
        raise EstimateError(Sentence(NO_SCALE, variable=variable.full_name))
    if variable.absent and not variable.public:
        raise EstimateError(Sentence(NO_NUMBER, variable=variable.full_name))
    if variable.block is not None:
        raise EstimateError(Sentence(IN_BLOCK, variable=variable.full_name))
    size, whole = len(variable.answered), variable.observed

    def observed(reported: Reported) -> Truths:
        there: Truths = whole(reported)
        return there & variable.supports(reported)[:, :size].any(axis=1) if variable.absent else there

    return ScaleVariable(
        name=variable.name,
        question=variable.question,
        levels=points_of(variable.answered),
        public=variable.public,
        observed=observed,
        choice=replace(variable, observed=observed),
    )
