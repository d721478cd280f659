"""Columns as tables of different reports: every report finds its own row, whatever its channel and width."""

from dataclasses import replace

import numpy as np
import pytest
from sottovoce.aggregator.analysis.variable_columns import answers_of
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import survey
from tests.unit.aggregator.analysis.reports import MASK_LIKELIHOOD, OTHER, ROW, SAID, masks
from tests.unit.aggregator.analysis.survey_of_reports import NULL, QUESTIONS, asked, reports

EVERYTHING = reports()


def test_every_report_finds_its_own_row() -> None:
    """Of likelihoods and of scores: a coin's, and a mask's."""
    said, choice = answers_of(EVERYTHING, "said"), answers_of(EVERYTHING, "choice")

    assert said.likelihood[said.codes, 1] == pytest.approx(np.where(SAID, 0.75, 0.25))
    assert said.scores[said.codes, 1] == pytest.approx((SAID - 0.25) / 0.5)
    assert np.array_equal(choice.likelihood[choice.codes], MASK_LIKELIHOOD[masks()])
    assert said.observed.all()
    assert (said.sharpness, choice.sharpness) == (0.5, pytest.approx(1 / 3))


@pytest.mark.parametrize("width", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_width_of_a_column_changes_nothing(width: type[np.unsignedinteger]) -> None:
    """From one byte a value to eight."""
    columns = replace(EVERYTHING, values={**EVERYTHING.values, "choice": EVERYTHING.values["choice"].astype(width)})
    assert np.array_equal(answers_of(columns, "choice").codes, answers_of(EVERYTHING, "choice").codes)


def test_option_is_observed_where_it_was_drawn() -> None:
    """Of one option of several each report tells; the others have no part."""
    drawn = answers_of(EVERYTHING, "drawn.c1")
    both = answers_of(EVERYTHING, "drawn.c0").observed.astype(int) + drawn.observed

    assert drawn.name == "drawn.c1"
    assert np.all(both == 1)
    assert set(drawn.scores[drawn.codes[drawn.observed], 1]) == {-0.5, 1.5}


def test_revisions_have_rows_of_their_own() -> None:
    """A coin flip first, Warner's design later; and a revision that does not ask it is not observed."""
    later = parse_survey(
        survey(asked("said", "boolean", {"name": "warner", "truth": "2/3"}), *QUESTIONS[1:], revision=2)
    )
    without = parse_survey(survey(*QUESTIONS[1:], revision=3))
    columns = replace(
        EVERYTHING, revisions=(without, *EVERYTHING.revisions, later), revision=(ROW % 3).astype(np.uint8)
    )
    said = answers_of(columns, "said")

    assert np.array_equal(said.observed, ROW % 3 > 0)
    likely = np.where(ROW % 3 == 1, np.where(SAID, 0.75, 0.25), np.where(SAID, 2 / 3, 1 / 3))
    assert said.likelihood[said.codes, 1][said.observed] == pytest.approx(likely[said.observed])
    assert said.sharpness == pytest.approx(1 / 3)


def test_question_that_nobody_was_asked_is_refused() -> None:
    """There is nothing to tell."""
    with pytest.raises(EstimateError, match="no report contains 'other'"):
        answers_of(reports(other=np.full(600, NULL)), "other")


def test_squares_are_those_of_numbers_that_have_them() -> None:
    """Of a geometric number and a public one; not of a rounded one, and not of categories."""
    noisy, x = answers_of(EVERYTHING, "noisy"), answers_of(EVERYTHING, "x")

    assert noisy.squares is not None
    assert noisy.squares[noisy.codes].mean() == pytest.approx(33.628333, abs=5e-7)
    assert x.squares is not None
    assert x.squares == pytest.approx(x.scores**2)
    assert answers_of(EVERYTHING, "rounded").squares is None
    assert answers_of(EVERYTHING, "other").squares is None
    assert np.array_equal(answers_of(EVERYTHING, "other").codes, OTHER)
