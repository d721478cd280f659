"""Compare the possible combinations of public answers with the expected respondents: sample uniqueness.

Before data collection only the declared options can be counted; ``curator.reidentify`` counts real tables. With fewer
than ``LEAST_IN_CELL`` people per combination on average, many respondents will be unique.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sottovoce.shared.spec import Question

LEAST_IN_CELL = 5
"""Smallest average number of people per combination; equal to the minimum of a cohort that is shown alone."""

USUAL_PEOPLE = 500
"""Assumed number of respondents if none is given."""


@dataclass(frozen=True)
class ThinCells:
    """Public questions with too many combinations of answers.

    Attributes:
        cells: number of combinations.
        people: expected number of respondents.
        widest: index of the question with the most options, where coarser options help most.
    """

    cells: int
    people: int
    widest: int


def thin_cells(questions: Sequence[Question | None], people: int | None) -> ThinCells | None:
    """Return the combinations of public answers if there are too many for the expected ``people``; None otherwise.

    Questions are None if incomplete, ``people`` if unknown.
    """
    sizes = [1 if each is None or each.mechanism is not None else each.domain.size for each in questions]
    cells, expected = math.prod(sizes), USUAL_PEOPLE if people is None else people
    if cells == max(sizes, default=1) and people is None:
        return None  # a single public question, and no known number of respondents: no basis for a warning
    return ThinCells(cells, expected, sizes.index(max(sizes))) if cells * LEAST_IN_CELL > expected and cells > 1 else None
