"""Test every pair of a survey's variables for independence among those who answered, with q values over all pairs.

Columns with few different values become indicators, and one matrix product over a block of rows counts all pairs at
once. Bit masks and other columns with many values are counted pair by pair.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.analysis.progress import counted
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.selection import SelectedVariable, asked_only, check_together, choose, count_strata
from sottovoce.aggregator.analysis.tables.pair_moments import Independence, Pairs, joint
from sottovoce.aggregator.analysis.tables.table import Rule, independence_of, shown_reports
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.estimators.variable import Floats
from sottovoce.shared.errors import EstimateError, Sentence

ROWS = 1 << 14
"""Number of rows in a block of indicators."""
NOT_TESTED = (
    "{pairs} pairs are not tested: no report tells of both, one of them does not vary, or a table of public answers "
    "would have cells of fewer than 5 respondents"
)
FEW = 32
"""Limit for indicators: columns with larger reported values are counted pair by pair."""


def q_values(p_values: Sequence[float], tests: int | None = None) -> list[float]:
    """Return the q value of each test, in the order given, by the procedure of Benjamini and Hochberg 1995.

    q_(i) = min over j >= i of p_(j) m / j, p_(1) <= ... <= p_(m): of the tests with q <= .05 at most 5 % are false
    discoveries on average. m counts all pairs of a survey, not only those the analyst looked at.

    Args:
        p_values: p values of the tests performed.
        tests: number of all possible tests; by default, the number performed.
    """
    # Counting untested pairs too is conservative.
    m = len(p_values) if tests is None else max(tests, len(p_values))
    order = np.argsort(p_values, kind="stable")
    scaled = np.asarray(p_values)[order] * m / np.arange(1, len(order) + 1)
    found = np.empty(len(order))
    # Of each p value the least of its own and of all larger ones.
    found[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    return list(np.minimum(found, 1.0).tolist())


class TestedPair(NamedTuple):
    """A test of independence of two variables.

    ``n`` is the number of reports that carry both, ``q`` the expected share of false discoveries among all pairs with a
    q value of at most this.
    """

    first: str
    second: str
    n: int
    independence: Independence
    q: float


@dataclass(frozen=True)
class AllPairs:
    """Tests of all pairs of variables that could be tested, in the order of the questions.

    ``possible`` is the number of pairs that a report can carry; q values count all of them.
    """

    reports: int
    possible: int
    tests: tuple[TestedPair, ...]
    warnings: tuple[str, ...]


def every_pair(columns: Columns) -> AllPairs:
    """Test all pairs of variables that reports can carry together, among people who were asked both, where known."""
    columns, _ = asked_only(columns)
    variables = list(_able(columns))
    pairs = {place: _cautions(columns, variables, place) for place in combinations(range(len(variables)), 2)}
    possible = {place: notes for place, notes in pairs.items() if notes is not None}
    counts = _Counts(columns)
    made = (
        (place, _tested(columns, counts.of(*(variables[each] for each in place))))
        for place in counted(possible, len(possible))
    )
    tests = [(place, *test) for place, test in made if test is not None]
    found = q_values([test.p for _, _, test in tests], len(possible))
    names = [each.newest.full_name for each in variables]
    notes = dict.fromkeys(sentence for cautions in possible.values() for sentence in cautions)
    return AllPairs(
        len(columns),
        len(possible),
        tuple(TestedPair(names[i], names[j], n, test, q) for ((i, j), n, test), q in zip(tests, found, strict=True)),
        (*notes, *([Sentence(NOT_TESTED, pairs=len(possible) - len(tests))] if len(tests) < len(possible) else [])),
    )


def _tested(columns: Columns, pairs: list[Pairs]) -> tuple[int, Independence] | None:
    """Return the number of reports with both variables and the test; None if suppressed, or not possible."""
    try:
        shown = shown_reports(joint(pairs, len(columns), columns.repeats), Rule(least=columns.least))
    except EstimateError:
        return None
    test = None if shown is None else independence_of(shown)
    return None if shown is None or test is None else (shown.n, test)


def _able(columns: Columns) -> Iterator[SelectedVariable]:
    # A withheld pair is not tested and does not count for q values, so that no result depends on its table.
    for question in (each for each in columns.survey.questions if each.name not in columns.withheld):
        for variable in variables_of(question):
            try:
                yield choose(columns, variable.full_name)
            except EstimateError:
                continue


def _cautions(columns: Columns, variables: list[SelectedVariable], place: tuple[int, int]) -> tuple[str, ...] | None:
    """Return notes for the reader of a pair; None if no report can carry both variables."""
    try:
        return check_together(columns, variables[place[0]], variables[place[1]])
    except EstimateError:
        return None


class _Counts:
    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        # With several revisions, channels differ between rows, so pairs need strata; a file may lack public answers.
        there = [each for each in columns.survey.questions if each.name in columns.values]
        few = [each for each in there if each.largest < FEW and len(columns.revisions) == 1]
        self._places: dict[str, slice] = {}
        end = 0
        for question in few:
            start, end = end, end + question.largest + 1
            self._places[question.name] = slice(start, end)
        self._counts = self._indicators(end)

    def of(self, first: SelectedVariable, second: SelectedVariable) -> list[Pairs]:
        """Return the counts of two variables by stratum."""
        places = [self._places.get(each.question.name) for each in (first, second)]
        if first.question.name == second.question.name or None in places:
            return count_strata(self._columns, (first, second))
        counts = self._counts[places[0], places[1]]
        reported = np.nonzero(counts)
        seen = first.newest.observed(reported[0]) & second.newest.observed(reported[1])
        numbers = counts[reported][seen]
        return [Pairs(first.newest, second.newest, (reported[0][seen], reported[1][seen]), numbers, numbers, numbers)]

    def _indicators(self, width: int) -> Floats:
        """Return the number of reports with each two reported values, (width, width)."""
        total = np.zeros((width, width))
        for start in range(0, len(self._columns) if width else 0, ROWS):
            rows = slice(start, start + ROWS)
            block = np.empty((width, len(self._columns.wave[rows])), dtype=np.float32)
            for name, place in self._places.items():
                column = self._columns.values[name][rows]
                for value in range(place.stop - place.start):
                    block[place.start + value] = column == value
            # float32 is fast and exact here: counts of a block do not exceed ROWS, far below 2^24.
            total += block @ block.T
        return total
