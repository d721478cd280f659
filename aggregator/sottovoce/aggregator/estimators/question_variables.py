"""Variables of a survey's questions for joint analyses, checks of how they may be combined, and scales as numbers.

Scale       An ordered choice as a number: the numbers in the names of its options, or 1, 2, 3 in their order.
Scores      sum_k t_k z_k of the categories' unbiased scores z_k, and t_k^2 for the square: unbiased whatever the truth.
Latent      In a logit, a randomized scale stays one of its categories, each with its number.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sottovoce.aggregator.estimators import VARIABLES, public
from sottovoce.aggregator.estimators.blocks.joint_channel import check_identified
from sottovoce.aggregator.estimators.intervals import normal_quantile
from sottovoce.aggregator.estimators.variable import SAME_REPORT, ChoiceVariable, Floats, Reported, Truths, Variable
from sottovoce.shared.errors import EstimateError, Sentence
from sottovoce.shared.mechanisms.kary_rr import KaryRR
from sottovoce.shared.spec import Question

LINEAR_FROM = 7
"""Smallest number of points of a rating that enters a model as a number unless asked otherwise."""

NO_SCALE = "'{variable}' is no scale: a choice among at least three answers in order is one"
NO_NUMBER = (
    "'{variable}': people may have given no answer, which is no number, and randomization hides who; take its answers "
    "as categories"
)
IN_BLOCK = "'{variable}' is reported together with other questions; take its answers as categories"

LEAST_REPORTS = 30
"""Fewer reports have no mean with normal limits."""

_NUM = re.compile(r"num\((.+)\)")
_NUMBERED = re.compile(r"([^0-9]*)([0-9]{1,9})")


def variables_of(question: Question) -> list[Variable]:
    """Return the variables of a question: one, or one for each option or coordinate."""
    mechanism, domain = question.mechanism, question.domain
    variables = public.variables(domain) if mechanism is None else VARIABLES[mechanism.name](mechanism, domain)
    return [replace(variable, question=question.name, absent=domain.absent) for variable in variables]


def check_pair(one: Variable, other: Variable) -> None:
    """Check that two variables are ever observed together.

    Raises EstimateError if they are the same, two options or coordinates of which each report draws only one, or two of
    a block whose reports do not tell their table.
    """
    if one.full_name == other.full_name:
        raise EstimateError(
            "'{variable}' is asked for twice; a joint result needs two different variables", variable=one.full_name
        )
    if one.question == other.question and one.drawn:
        raise EstimateError(
            "'{variable}' and '{other}': {reason}", variable=one.full_name, other=other.full_name, reason=SAME_REPORT
        )
    check_identified((one, other))


def check_explains(variable: Variable) -> None:
    """Check that a number can be a predictor or in a correlation, and not an outcome only.

    Raises EstimateError if its reports identify its mean but not its variance.
    """
    if variable.only_outcome:
        raise EstimateError(
            "'{variable}' {reason}; it can be the outcome, but not a predictor",
            variable=variable.full_name,
            reason=variable.only_outcome,
        )


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
    """Return True for a rating that enters a model as a number unless asked otherwise, and can."""
    if question.type != "rating" or len(question.options) < LINEAR_FROM:
        return False
    variable = variables_of(question)[0]
    return variable.block is None and (variable.public or not variable.absent)


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


def scale_mean(question: Question, tally: Mapping[int, int], confidence: float) -> dict[str, float] | None:
    """Return the mean of a rating among those who answered, by reported values of one channel, with normal limits.

    None where the tally does not show single values, as of bit masks, or where randomization hides who answered.
    """
    try:
        scale = as_number(variables_of(question)[0])
    except EstimateError:
        return None
    reported = np.array([*tally], dtype=np.int64)
    counts = np.array([*tally.values()], dtype=float)
    shown = isinstance(question.mechanism, KaryRR) or question.mechanism is None
    there = scale.observed(reported) if shown and len(reported) else np.zeros(len(reported), bool)
    reported, counts = reported[there], counts[there]
    if counts.sum() < LEAST_REPORTS:
        return None
    scores, n = scale.scores(reported), counts.sum()
    mean = float(counts @ scores / n)
    half = normal_quantile(confidence) * math.sqrt(counts @ (scores - mean) ** 2 / (n - 1) / n)
    least, most = scale.levels[0], scale.levels[-1]
    return {key: min(max(mean + side * half, least), most) for key, side in (("estimate", 0), ("low", -1), ("high", 1))}
