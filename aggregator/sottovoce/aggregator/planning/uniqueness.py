"""
Whether public answers will single people out: their combinations against the people who will answer.

Before anybody has answered, only the declared answers can be counted: what ``curator.reidentify`` counts in a table
that is there. Where fewer than ``LEAST`` people come to a combination on average, many are alone in theirs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sottovoce.shared.spec import Question

LEAST = 5
"""People to a combination, on average: as many as a cohort must have to be shown alone."""

USUAL = 500
"""People, where nobody said how many will answer."""


@dataclass(frozen=True)
class ThinCells:
    """
    Public answers of which many people will be alone in theirs.

    Attributes:
        cells: combinations.
        people: who will answer.
        widest: which of the questions has the most answers, so that coarser ones help most.
    """

    cells: int
    people: int
    widest: int


def thin_cells(questions: Sequence[Question | None], people: int | None) -> ThinCells | None:
    """
    The combinations of public answers, if there are too many for so many people; None otherwise.

    Args:
        questions: of a survey; None for what is no question yet.
        people: who are expected to answer; None if that was not said.
    """
    sizes = [1 if each is None or each.mechanism is not None else each.domain.size for each in questions]
    cells, expected = math.prod(sizes), USUAL if people is None else people
    if cells == max(sizes, default=1) and people is None:
        return None  # one public question alone, of nobody knows how many people
    return ThinCells(cells, expected, sizes.index(max(sizes))) if cells * LEAST > expected and cells > 1 else None
