"""
Every pair of a survey's variables tested for independence, with q values over all of them.

Columns with few different values are turned into indicators, whose products over a block of rows are the counts of all
pairs at once; masks and other columns with many are counted pair by pair.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.selection import SelectedVariable, check_together, choose, count_strata
from sottovoce.aggregator.analysis.tables.false_discovery_rate import q_values
from sottovoce.aggregator.analysis.tables.independence_test import Independence, independence
from sottovoce.aggregator.analysis.tables.pair_moments import Pairs, joint
from sottovoce.aggregator.analysis.tables.table import shown_reports
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.estimators.variable import Floats
from sottovoce.shared.errors import EstimateError

ROWS = 1 << 14
"""Rows that are in memory at once."""
NOT_TESTED = (
    "{} pairs are not tested: no report tells of both, one of them does not vary, or a table of public answers would "
    "have cells of fewer than 5 respondents"
)
FEW = 32
"""Different values up to which a column is turned into indicators."""


class TestedPair(NamedTuple):
    """
    Two variables.

    Attributes:
        n: reports that tell of both.
        q: of all pairs with a q value so small, such a share at most has nothing to do with each other.
    """

    first: str
    second: str
    n: int
    independence: Independence
    q: float


@dataclass(frozen=True)
class AllPairs:
    """
    Every pair of variables.

    Attributes:
        reports: that were looked at.
        possible: pairs that reports could tell of; q values count all of them.
        tests: of those that could be tested, in the order of the questions.
        warnings: sentences about all of them.
    """

    reports: int
    possible: int
    tests: tuple[TestedPair, ...]
    warnings: tuple[str, ...]


def every_pair(columns: Columns) -> AllPairs:
    """The tests of all pairs that reports tell of."""
    chosen = list(_able(columns))
    places = (place for place in combinations(range(len(chosen)), 2) if not _apart(columns, chosen, place))
    pairs = {place: _cautions(columns, chosen, place) for place in places}
    possible = {place: told for place, told in pairs.items() if told is not None}
    counts = _Counts(columns)
    made = ((place, _tested(columns, counts.of(*(chosen[each] for each in place)))) for place in possible)
    tests = [(place, *test) for place, test in made if test is not None]
    found = q_values([test.p for _, _, test in tests], len(possible))
    names = [each.newest.full_name for each in chosen]
    told = dict.fromkeys(sentence for cautions in possible.values() for sentence in cautions)
    left = [NOT_TESTED.format(len(possible) - len(tests))] if len(tests) < len(possible) else []
    return AllPairs(
        len(columns),
        len(possible),
        tuple(TestedPair(names[i], names[j], n, test, q) for ((i, j), n, test), q in zip(tests, found, strict=True)),
        (*told, *left),
    )


def _tested(columns: Columns, pairs: list[Pairs]) -> tuple[int, Independence] | None:
    """How many reports tell of both, and the test; None where it tells too much of public answers, or nothing."""
    try:
        shown = shown_reports(joint(pairs, len(columns)))
        return None if shown is None else (shown.n, independence(shown.strata))
    except EstimateError:
        return None


def _able(columns: Columns) -> Iterator[SelectedVariable]:
    """All variables that can be looked at."""
    for question in columns.survey.questions:
        for variable in variables_of(question):
            try:
                yield choose(columns, variable.full_name)
            except EstimateError:
                continue


def _apart(columns: Columns, chosen: list[SelectedVariable], place: tuple[int, int]) -> bool:
    """Whether their table is not to be told: then nothing is made of it, neither a test nor the q values of others."""
    return {chosen[each].question.name for each in place} <= columns.apart


def _cautions(columns: Columns, chosen: list[SelectedVariable], place: tuple[int, int]) -> tuple[str, ...] | None:
    """What is to be known of a pair; None if no report can tell of both."""
    try:
        return check_together(columns, chosen[place[0]], chosen[place[1]])
    except EstimateError:
        return None


class _Counts:
    """
    The reports that tell of any two variables.

    Args:
        columns: the reports.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        few = [each for each in columns.survey.questions if each.largest < FEW and len(columns.revisions) == 1]
        self._places: dict[str, slice] = {}
        end = 0
        for question in few:
            start, end = end, end + question.largest + 1
            self._places[question.name] = slice(start, end)
        self._counts = self._indicators(end)

    def of(self, first: SelectedVariable, second: SelectedVariable) -> list[Pairs]:
        """By stratum."""
        places = [self._places.get(each.question.name) for each in (first, second)]
        if first.question.name == second.question.name or None in places:
            return count_strata(self._columns, (first, second))
        counts = self._counts[places[0], places[1]]
        reported = np.nonzero(counts)
        seen = first.newest.observed(reported[0]) & second.newest.observed(reported[1])
        numbers = counts[reported][seen]
        values = reported[0][seen], reported[1][seen]
        return [Pairs(first.newest, second.newest, values, numbers, numbers, numbers)]

    def _indicators(self, width: int) -> Floats:
        """How often any two values come together, (width, width)."""
        total = np.zeros((width, width))
        for start in range(0, len(self._columns) if width else 0, ROWS):
            rows = slice(start, start + ROWS)
            block = np.empty((width, len(self._columns.wave[rows])), dtype=np.float32)
            for name, place in self._places.items():
                column = self._columns.values[name][rows]
                for value in range(place.stop - place.start):
                    block[place.start + value] = column == value
            # Whole numbers up to 2^16 are exact in this type.
            total += block @ block.T
        return total
