"""Encode the reports on one variable: a table of the different reports, and the row of each report.

A revision may ask the same question through another channel; its reports then have rows of their own. The computations
treat all rows alike, for any channel and for direct answers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.aggregator.analysis.report_columns import Columns, Numbers, check_one_wave, find_variable
from sottovoce.aggregator.estimators.blocks.joint_channel import joint_likelihood, joint_scores
from sottovoce.aggregator.estimators.question_variables import ScaleVariable, as_number, bare, num, variables_of
from sottovoce.aggregator.estimators.variable import NumberVariable, Variable
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.spec import Question

Rows = NDArray[np.bool_]

_SMALL = 1 << 16


@dataclass(frozen=True)
class Answers:
    """Reports on one variable.

    Attributes:
        variable: the variable of the newest revision.
        tables: the different reported values of each channel, in the order of ``codes``.
        observed: (n,), True for reports that carry this variable.
        codes: (n,), table row of each report; 0 where it is not observed.
    """

    variable: Variable
    tables: tuple[tuple[Variable, Numbers], ...]
    observed: Rows
    codes: NDArray[np.intp]

    @property
    def name(self) -> str:
        """Full name of the variable: "question", "question.option", or "num(question)" of a scale as a number."""
        name = self.variable.full_name
        return num(name) if isinstance(self.variable, ScaleVariable) else name

    @property
    def latent(self) -> "Answers":
        """The same with the categories of a scale that is taken as a number."""
        if not isinstance(self.variable, ScaleVariable):
            return self
        tables = tuple((each.choice if isinstance(each, ScaleVariable) else each, rows) for each, rows in self.tables)
        return replace(self, variable=self.variable.choice, tables=tables)

    def shown_as(self, variable: Variable) -> "Answers":
        """Return the same as another variable of the question: of a public one, in all channels."""
        if not variable.public:
            return replace(self, variable=variable)
        # Public answers have no channel, so their merged categories hold in all revisions.
        return replace(self, variable=variable, tables=tuple((variable, values) for _, values in self.tables))

    @cached_property
    def likelihood(self) -> Array:
        """Likelihood c P(reported | truth) of each different report, (u, k), any c > 0."""
        return np.concatenate([variable.likelihood(values) for variable, values in self.tables])

    @cached_property
    def reported(self) -> Numbers:
        """Reported value of each different report, (u,)."""
        return np.concatenate([values.astype(np.int64) for _, values in self.tables])

    @cached_property
    def channel(self) -> NDArray[np.intp]:
        """Index into ``tables`` of each different report, (u,)."""
        return np.repeat(np.arange(len(self.tables)), [len(values) for _, values in self.tables])

    @cached_property
    def scores(self) -> Array:
        """Unbiased scores of each different report: (u, k) for categories, (u,) for a number."""
        return np.concatenate([variable.scores(values) for variable, values in self.tables])

    @cached_property
    def squares(self) -> Array | None:
        """Unbiased scores of a number's square, (u,); None if they are not available for all channels."""
        numbers = NumberVariable, ScaleVariable
        found = [each.square_scores(values) for each, values in self.tables if isinstance(each, numbers)]
        known = [squares for squares in found if squares is not None]
        return np.concatenate(known) if known and len(known) == len(self.tables) else None

    @cached_property
    def sharpness(self) -> float:
        """Smallest signal strength of all channels: a - b, or range of values / range of scores; 1 without noise."""
        return min(_sharpness(variable, values) for variable, values in self.tables)


def answers_of(columns: Columns, name: str) -> Answers:
    """Return the reports on a variable, named "question", "question.option", or "num(question)" of a scale.

    Raises:
        EstimateError: the variable does not exist, no report carries it, or several waves share a memoized draw; or it
            is no scale.
    """
    newest, place = find_variable(columns, bare(name))

    def variable_of(question: Question) -> Variable:
        own = variables_of(question)[place]
        return own if bare(name) == name else as_number(own)

    check_one_wave(columns, newest)
    codes, observed = np.zeros(len(columns), np.intp), np.zeros(len(columns), bool)
    tables: list[tuple[Variable, Numbers]] = []
    asked, filled = columns.asked(newest.name), 0
    for number in range(len(columns.revisions)):
        rows, there = asked & (columns.revision == number), columns.question(newest.name, number)
        if there is None or not rows.any():
            continue
        variable = variable_of(there)
        different, places = _different(columns.values[newest.name][rows])
        seen = variable.observed(different)
        observed[rows] = seen[places]
        # Codes continue after those of earlier channels; unobserved reports get 0.
        codes[rows] = (filled + np.cumsum(seen) - 1)[places] * seen[places]
        tables.append((variable, different[seen]))
        filled += int(seen.sum())
    if not filled:
        raise EstimateError("no report contains '{variable}'", variable=name)
    return Answers(variable_of(newest), tuple(tables), observed, codes)


@dataclass(frozen=True)
class JointAnswers:
    """Reports on several variables with categories, by distinct combination of reported values.

    Attributes:
        different: row of each variable's table in each combination, (variables, u).
        codes: (n,), combination of each report.
    """

    answers: tuple[Answers, ...]
    different: NDArray[np.intp]
    codes: NDArray[np.intp]

    @property
    def likelihood(self) -> Array:
        """Likelihood of each combination over the joint categories, (u, k_1, .., k_r)."""
        sizes = [len(each.variable.categories) for each in self.answers]
        return self._by_channel(joint_likelihood, np.empty((self.different.shape[1], *sizes)))

    def scores(self, categories: Sequence[int]) -> Array:
        """Return unbiased scores of having all of these categories, of each combination, (u,)."""
        return self._by_channel(
            lambda variables, reported: joint_scores(variables, categories, reported), np.empty(self.different.shape[1])
        )

    def _by_channel(self, of: Callable[[list[Variable], list[Numbers]], Array], found: Array) -> Array:
        """Fill in the figures of the combinations, those that came through the same channels together."""
        used = np.stack([each.channel[own] for each, own in zip(self.answers, self.different, strict=True)])
        for channels in np.unique(used, axis=1).T:
            here = (used == channels[:, None]).all(axis=0)
            variables = [each.tables[at][0] for each, at in zip(self.answers, channels.tolist(), strict=True)]
            reported = [each.reported[own[here]] for each, own in zip(self.answers, self.different, strict=True)]
            found[here] = of(variables, reported)
        return found


def joint_answers(answers: Sequence[Answers], rows: NDArray[np.intp]) -> JointAnswers:
    """Return the reports on variables with categories together, of the rows, (n,), in which all are observed."""
    different, codes = np.unique(np.stack([each.codes[rows] for each in answers]), axis=1, return_inverse=True)
    return JointAnswers(tuple(answers), different, codes.ravel().astype(np.intp))


def _different(values: Numbers) -> tuple[Numbers, NDArray[np.intp]]:
    """Return the distinct values, ascending, and the index of each value among them."""
    # Counting is faster than the sort of np.unique when the values are small.
    if values.dtype.kind == "u" and int(values.max()) < _SMALL:
        small = values.astype(np.intp)
        there = np.bincount(small) > 0
        return np.flatnonzero(there), (np.cumsum(there) - 1)[small]
    return np.unique(values, return_inverse=True)


def _sharpness(variable: Variable, values: Numbers) -> float:
    if variable.public:
        return 1.0
    if variable.channels:
        return min(a - b for a, b in variable.channels)
    scores = variable.scores(values)
    width = float(np.ptp(scores)) if len(scores) else 0.0
    return min(1.0, (variable.levels[-1] - variable.levels[0]) / width) if width else 1.0
