"""
What a column of reports says of one variable: a small table for the different reports, and which row each report has.

A revision may ask the same question through another channel; its reports have table rows of their own. Whether a row is
a yes through one channel or another, or a direct answer, makes no difference to what is computed from it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.estimators.variable import Number, Variable
from sottovoce.aggregator.joint.likelihood_engine import Array
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.spec import Question, Survey

Numbers = NDArray[Any]
Rows = NDArray[np.bool_]

_SMALL = 1 << 16


class ReportColumns(Protocol):
    """
    Reports, column by column.

    Attributes:
        revisions: the surveys that the reports answer; the questions are the newest one's, the last.
        values: by question name the reported values, (n,), with something else where it was not asked.
        wave: of each report, (n,).
        revision: of each report, an index into ``revisions``, (n,).
    """

    @property
    def revisions(self) -> tuple[Survey, ...]: ...  # noqa: D102 - told above

    @property
    def values(self) -> Mapping[str, Numbers]: ...  # noqa: D102

    @property
    def wave(self) -> Numbers: ...  # noqa: D102

    @property
    def revision(self) -> Numbers: ...  # noqa: D102

    def __len__(self) -> int: ...

    def question(self, name: str, revision: int = -1) -> Question | None:
        """The question as a revision asks it; None if it asks something else or nothing by this name."""
        ...

    def asked(self, name: str) -> Rows:
        """Which reports have a value for a question, (n,)."""
        ...


@dataclass(frozen=True)
class Answers:
    """
    The reports on one variable.

    Attributes:
        variable: as the newest revision asks it.
        tables: the different reported values of each channel, in the order of ``codes``.
        observed: (n,), whether a report tells of this variable.
        codes: (n,), the table row of each report; 0 where it is not observed.
    """

    variable: Variable
    tables: tuple[tuple[Variable, Numbers], ...]
    observed: Rows
    codes: NDArray[np.intp]

    @property
    def name(self) -> str:
        """The question's name, and after a dot that of its part."""
        return self.variable.full_name

    @cached_property
    def likelihood(self) -> Array:
        """(u, k): c P(reported | truth), a row for each different report."""
        return np.concatenate([variable.likelihood(values) for variable, values in self.tables])

    @cached_property
    def scores(self) -> Array:
        """(u, k) for categories, (u,) for a number."""
        return np.concatenate([variable.scores(values) for variable, values in self.tables])

    @cached_property
    def squares(self) -> Array | None:
        """(u,): scores of a number's square; None where there are none."""
        found = [each.square_scores(values) for each, values in self.tables if isinstance(each, Number)]
        known = [squares for squares in found if squares is not None]
        return np.concatenate(known) if known and len(known) == len(self.tables) else None

    @cached_property
    def sharpness(self) -> float:
        """A - b, or how much narrower the truth is than its scores: 1 without noise; the least of all channels."""
        return min(_sharpness(variable, values) for variable, values in self.tables)


def answers_of(columns: ReportColumns, name: str) -> Answers:
    """
    The reports on a variable.

    Args:
        columns: all reports.
        name: the question's name, or "question.option".

    Raises:
        EstimateError: there is no such variable, nobody reported on it, or several waves share one memoized draw.
    """
    question = name.partition(".")[0]
    newest = columns.question(question) if question in columns.values else None
    if newest is None:
        raise EstimateError(f"the survey asks no question '{question}'")
    _refuse_one_draw_in_several_waves(columns, newest)
    codes, observed = np.zeros(len(columns), np.intp), np.zeros(len(columns), bool)
    tables: list[tuple[Variable, Numbers]] = []
    asked, filled = columns.asked(question), 0
    for number in range(len(columns.revisions)):
        rows, there = asked & (columns.revision == number), columns.question(question, number)
        if there is None or not rows.any():
            continue
        variable = _named(variables_of(there), name)
        different, places = _different(columns.values[question][rows])
        seen = variable.observed(different)
        observed[rows] = seen[places]
        codes[rows] = (filled + np.cumsum(seen) - 1)[places] * seen[places]
        tables.append((variable, different[seen]))
        filled += int(seen.sum())
    if not filled:
        raise EstimateError(f"no report tells anything of '{name}'")
    return Answers(_named(variables_of(newest), name), tuple(tables), observed, codes)


def _named(variables: Sequence[Variable], name: str) -> Variable:
    found = next((variable for variable in variables if variable.full_name == name), None)
    if found is None:
        known = ", ".join(f"'{variable.full_name}'" for variable in variables)
        raise EstimateError(f"there is no variable '{name}'; this question has {known}")
    return found


def _refuse_one_draw_in_several_waves(columns: ReportColumns, question: Question) -> None:
    if question.mechanism is not None and question.mechanism.waves > 1 and len(np.unique(columns.wave)) > 1:
        raise EstimateError(
            f"'{question.name}' is memoized: what one person reports in several waves hangs together through one draw; "
            "choose one wave"
        )


def _different(values: Numbers) -> tuple[Numbers, NDArray[np.intp]]:
    """The different values, ascending, and the place of each among them; counted instead of sorted where it is few."""
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
