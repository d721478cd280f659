"""
Every pair of a survey's variables tested for independence, with q values over all of them.

Columns with few different values are turned into indicators, whose products over a block of rows are the counts of all
pairs at once; masks and other columns with many are counted pair by pair.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.estimators.variable import Floats
from sottovoce.aggregator.joint.chosen import Chosen, check_together, choose, count_strata
from sottovoce.aggregator.joint.columns import Columns
from sottovoce.aggregator.joint.false_discoveries import q_values
from sottovoce.aggregator.joint.independence import Independence, independence
from sottovoce.aggregator.joint.pairs import Pairs
from sottovoce.shared.errors import EstimateError

ROWS = 1 << 14
"""Rows that are in memory at once."""
FEW = 32
"""Different values up to which a column is turned into indicators."""


class TestedPair(NamedTuple):
    """
    Two variables.

    Attributes:
        q: of all pairs with a q value so small, such a share at most has nothing to do with each other.
    """

    first: str
    second: str
    independence: Independence
    q: float


def every_pair(columns: Columns) -> list[TestedPair]:
    """The tests of all pairs that reports tell of, in the order of the questions."""
    chosen = list(_able(columns))
    places = [place for place in combinations(range(len(chosen)), 2) if _possible(columns, chosen, place)]
    counts = _Counts(columns)
    tested: list[tuple[int, int, Independence]] = []
    for i, j in places:
        try:
            tested.append((i, j, independence([each for each in counts.of(chosen[i], chosen[j]) if each.n])))
        except EstimateError:
            continue
    found = q_values([each.p for _, _, each in tested], len(places))
    names = [each.newest.full_name for each in chosen]
    return [TestedPair(names[i], names[j], each, q) for (i, j, each), q in zip(tested, found, strict=True)]


def _able(columns: Columns) -> Iterator[Chosen]:
    """All variables that can be looked at."""
    for question in columns.survey.questions:
        for variable in variables_of(question):
            try:
                yield choose(columns, variable.full_name)
            except EstimateError:
                continue


def _possible(columns: Columns, chosen: list[Chosen], place: tuple[int, int]) -> bool:
    try:
        check_together(columns, chosen[place[0]], chosen[place[1]])
    except EstimateError:
        return False
    return True


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

    def of(self, first: Chosen, second: Chosen) -> list[Pairs]:
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
