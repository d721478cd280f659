"""Select variables by name, check that they can be analysed together, and group their reports by channel."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sottovoce.aggregator.analysis.described_people import CAREFUL, DescribedPeople, both_described, described_people
from sottovoce.aggregator.analysis.report_columns import Columns, absence, check_one_wave, find_variable
from sottovoce.aggregator.analysis.tables.pair_moments import Numbers, Pairs, count_halves, count_pairs
from sottovoce.aggregator.analysis.tables.table_diagnostics import uniformity
from sottovoce.aggregator.estimators.question_variables import check_pair, variables_of
from sottovoce.aggregator.estimators.variable import Floats, Variable
from sottovoce.shared.arms.arms import share_asked
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.spec import Question, Survey

SAME_PEOPLE = (
    "several waves are added up: limits take in that the same people may have answered each of them; of a change "
    "between waves they are too wide"
)

WAVES_DEPEND = "several waves are added up, and people may have answered each of them: choose one wave"


@dataclass(frozen=True)
class SelectedVariable:
    """A variable of a survey in each revision, None where it is not asked; ``question`` is of the newest one."""

    question: Question
    variables: tuple[Variable | None, ...]

    @property
    def newest(self) -> Variable:
        """Variable of the newest revision."""
        found = self.variables[-1]
        if found is None:
            raise AssertionError("a question of the newest revision is asked by it")
        return found

    @property
    def cautions(self) -> tuple[str, ...]:
        """Notes for the reader on how missing answers are counted."""
        return () if self.newest.absent else absence(self.question)


def choose(columns: Columns, name: str) -> SelectedVariable:
    """Select a variable by name: "question", "question.option" or "question.coordinate".

    Raises EstimateError if there is no such variable, the question has several, or its draws are memoized and the
    reports come from several waves.
    """
    question, place = find_variable(columns, name)
    # A memo makes one person's reports in several waves dependent, which no table here models.
    check_one_wave(columns, question)
    asked = [columns.question(question.name, revision) for revision in range(len(columns.revisions))]
    return SelectedVariable(question, tuple(None if each is None else variables_of(each)[place] for each in asked))


def choose_described(
    columns: Columns, names: tuple[str, str], among: str | None, counted: bool = False
) -> tuple[tuple[SelectedVariable, SelectedVariable], DescribedPeople]:
    """Select two variables, and the people whom their results describe; ``among`` is as for ``described_people``.

    Reports of two public questions are divided by who was asked only if their answers are shown at every count
    (``counted``). The variables lack a category of no answer to be left out unless the people are those who answered.
    Raises EstimateError as ``choose``, or if the people asked for are not known.
    """
    first, second = (choose(columns, name) for name in names)
    divide = counted or not (first.newest.public and second.newest.public)
    among = None if among == CAREFUL else among
    people = [described_people(columns, each.question, among, divide) for each in (first, second)]
    first, second = (
        each if described.answered else replace(each, variables=tuple(map(_with_everybody, each.variables)))
        for each, described in zip((first, second), people, strict=True)
    )
    return (first, second), both_described(people[0], people[1])


def _with_everybody(variable: Variable | None) -> Variable | None:
    """Return a variable whose category of no answer is one like the others."""
    return None if variable is None else replace(variable, absent=False)


def check_together(columns: Columns, first: SelectedVariable, second: SelectedVariable) -> tuple[str, ...]:
    """Return notes for the reader of two variables; raise EstimateError if no report can carry both."""
    check_pair(first.newest, second.newest)
    # Public questions are asked of everybody, so only two private ones can exclude each other.
    private = all(each.question.mechanism is not None for each in (first, second))
    places = [columns.survey.questions.index(each.question) for each in (first, second)]
    if private and columns.survey.ask == 1 and not share_asked(columns.survey, *places):
        raise EstimateError(
            "each respondent gets one private question, so no report contains both '{variable}' and '{other}'",
            variable=first.newest.full_name,
            other=second.newest.full_name,
        )
    return (*first.cautions, *second.cautions, *([SAME_PEOPLE] if columns.repeats > 1 else ()))


def count_strata(
    columns: Columns,
    pair: tuple[SelectedVariable, SelectedVariable],
    weights: Floats | None = None,
    inside: Any = None,  # noqa: ANN401 - arrays
    *,
    halves: bool = False,
) -> list[Pairs]:
    """Count the reports of two variables, for each stratum of equal channels.

    Args:
        weights: weights of the reports, (n,); all 1 by default.
        inside: mask of the reports to count, (n,); all by default.
        halves: count the reports that carry only one of the variables, too.
    """
    found = []
    for stratum in strata(columns, pair, inside):
        given = None if weights is None else np.asarray(weights, dtype=float)[stratum.rows]
        pairs = count_pairs(*stratum.variables, stratum.columns, given)
        found.append(replace(pairs, halves=count_halves(*stratum.variables, stratum.columns)) if halves else pairs)
    return found


def impossible_cells(columns: Columns, pair: tuple[SelectedVariable, SelectedVariable]) -> frozenset[tuple[int, int]]:
    """Return the cells (row, column) of the table of two questions that skip logic excludes in every revision.

    A person to whom the second question is not shown has its answer for a missing one, so no other can go with an
    answer to the first that hides it; and the other way round.
    """
    found = [_hidden_cells(columns.revisions[each], *pair) for each in range(len(columns.revisions))]
    return frozenset.intersection(*found)


def _hidden_cells(survey: Survey, rows: SelectedVariable, across: SelectedVariable) -> frozenset[tuple[int, int]]:
    if rows.newest.name or across.newest.name:
        return frozenset()
    hidden = {(i, j) for i, j in _hidden(survey, rows, across)}
    return frozenset(hidden | {(i, j) for j, i in _hidden(survey, across, rows)})


def _hidden(survey: Survey, gate: SelectedVariable, later: SelectedVariable) -> Iterator[tuple[int, int]]:
    """Yield each category of the gate that hides the later question, with each answer that is then impossible."""
    absent, sizes = later.question.absent, [len(each.newest.categories) for each in (gate, later)]
    item = next((each for each in survey.items if later.question.name in {q.name for q in each.questions}), None)
    if item is None or absent is None:
        return
    conditions = [each for each in item.visible_if if each.question == gate.question.name and not each.mask]
    for category, answer in product(range(sizes[0]), range(sizes[1])):
        if answer != absent and not all(each.holds(category) for each in conditions):
            yield category, answer


class Stratum(NamedTuple):
    """Reports of two questions through the same channels, including those without a value for one or both.

    ``rows`` is their index into columns of all reports.
    """

    variables: tuple[Variable, Variable]
    columns: tuple[Numbers, Numbers]
    rows: Any


def strata(columns: Columns, pair: tuple[SelectedVariable, SelectedVariable], inside: Any = None) -> list[Stratum]:  # noqa: ANN401 - an array
    """Split the reports ``inside`` a mask (n,), all by default, into strata of equal channels of two variables."""
    found = []
    for revisions in alike(columns, pair):
        rows: Any = slice(None) if inside is None else inside
        # A mask copies the columns; if all revisions are alike, a slice avoids that.
        if len(revisions) < len(columns.revisions):
            of_these = np.isin(columns.revision, revisions)
            rows = of_these if inside is None else of_these & inside
        one, other = (columns.values[each.question.name][rows] for each in pair)
        first, second = (each.variables[revisions[-1]] or each.newest for each in pair)
        found.append(Stratum((first, second), (one, other), rows))
    return found


def alike(columns: Columns, variables: Sequence[SelectedVariable]) -> list[list[int]]:
    """Group the revisions that ask all of these variables by channels, ordered by the last revision of each group."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for revision in range(len(columns.revisions)):
        asked = [columns.question(each.question.name, revision) for each in variables]
        if all(asked):
            # Equal mechanisms mean equal channels, so their reports can be pooled exactly.
            groups.setdefault(tuple(each.mechanism for each in asked if each), []).append(revision)
    return sorted(groups.values(), key=lambda revisions: revisions[-1])


def drawn_evenly(columns: Columns, pair: tuple[SelectedVariable, SelectedVariable]) -> float | None:
    """Return the p value of a uniformity test of the drawn options (or pairs); None if no options are drawn."""
    drawn = [each for each in pair if each.newest.drawn]
    asked = np.logical_and.reduce([columns.asked(each.question.name) for each in drawn]) if drawn else None
    if asked is None:
        return None
    places: Any = 0
    for each in drawn:
        # A reported value is 2 * option + bit.
        places = places * len(each.question.options) + columns.values[each.question.name][asked].astype(np.int64) // 2
    counts = np.bincount(places, minlength=math.prod(len(each.question.options) for each in drawn))
    return uniformity(counts.tolist())
