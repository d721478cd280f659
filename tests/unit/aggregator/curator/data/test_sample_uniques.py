"""How many people stand alone in their public answers."""

import numpy as np
from sottovoce.aggregator.analysis.shown_columns import ReportColumns
from sottovoce.aggregator.curator.data.sample_uniques import count_sample_uniques, in_words

from tests.surveys import document, survey

QUESTIONS = document()["questions"]
PUBLIC = survey(
    questions=[
        *QUESTIONS[:2],
        *[
            {"type": "integer", "name": name, "label": {"en": name}, "public": True, "min": 0, "max": 9}
            for name in ("first", "second", "third")
        ],
    ]
)


def reports(*rows: tuple[int, int, int]) -> ReportColumns:
    """These public answers, under one private one."""
    columns = dict(zip(("first", "second", "third"), np.array(rows, dtype=np.uint8).T, strict=True))
    zero = np.zeros(len(rows), dtype=np.uint8)
    return ReportColumns({"cheated": np.arange(len(rows), dtype=np.uint8), **columns}, zero, zero)


def test_people_who_stand_alone_are_counted_for_one_two_and_three_answers() -> None:
    """By hand: the last by its first answer; two more by their first two; the rest are pairs."""
    found = reports((0, 0, 0), (0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 1, 0), (2, 1, 0))

    assert count_sample_uniques(found, PUBLIC) == [(1, 1), (2, 3), (3, 3)]
    assert in_words(found, PUBLIC)[1].startswith("Who knows 2 public answers of a person: 3 of 7 people")


def test_survey_with_one_public_question_tells_of_one() -> None:
    """There are no pairs of it; private answers do not count, though each is alone."""
    found = reports((0, 0, 0), (0, 0, 0))
    one = survey(questions=[*QUESTIONS[:2], PUBLIC.document["questions"][2]])
    assert count_sample_uniques(found, one) == [(1, 0)]
