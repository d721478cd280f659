"""Public answers are held against the people who will answer, before anybody does."""

import pytest
from sottovoce.aggregator.planning.uniqueness import ThinCells, thin_cells

from tests.surveys import document, survey

HOURS = {"type": "integer", "name": "hours", "label": {"en": "?"}, "min": "0", "max": "99", "step": "1", "public": True}


@pytest.mark.parametrize(
    ("more", "people", "found"),
    [
        ([HOURS], None, ThinCells(200, 500, 3)),
        ([HOURS], 999, ThinCells(200, 999, 3)),
        ([HOURS], 1000, None),
        ([], 9, ThinCells(2, 9, 2)),
        ([], 10, None),
        ([], None, None),
    ],
)
def test_combinations_are_counted_against_the_people(more: list[object], people: int | None, found: object) -> None:
    """Five to a combination; the private questions beside them do not count, and the widest public one is named."""
    asked = survey(questions=[*document()["questions"], *more])
    assert thin_cells([None, *asked.questions][1:], people) == found
