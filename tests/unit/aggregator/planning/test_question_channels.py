"""Every question can be planned, by the mechanism that it has."""

import math
from pathlib import Path

import pytest
from sottovoce.aggregator.planning.question_channels import (
    DIRECT,
    NumberChannel,
    ShareChannel,
    best_share,
    drawn_from,
    expected_of,
    is_number,
    measure_of,
    over_epsilon,
    read_value,
)
from sottovoce.aggregator.planning.sample_size import Goal, plan
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.shared.errors import EstimateError, SpecError

from tests.documents import day, number, one_of, parsed, question, some_of, vector

EXAMPLES = Path(__file__).parents[4] / "shared/sottovoce/examples"
FILES = sorted(path for path in EXAMPLES.glob("*/*.yaml") if path.parent.name != "curator")
AT = {"epsilon": "1"}
LAYERS = {"permanent": {"name": "coin_flip"}, "instantaneous": {"name": "coin_flip"}}
MEMOIZED = question({"name": "memoized_rr", **LAYERS, "waves": 3})


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_question_of_the_examples_can_be_planned(path: Path) -> None:
    """Of every mechanism, preset and type: more reports than openly asked, fewer for half of the precision."""
    for asked in read_survey_file(path).questions:
        measure = measure_of(asked)
        expected, wide = measure.low + (measure.high - measure.low) * 0.3, (measure.high - measure.low) * 0.1
        made = plan(measure, Goal(expected, wide))

        assert isinstance(measure, NumberChannel if is_number(asked) else ShareChannel)
        assert made.reports > plan(measure, Goal(expected, 2 * wide)).reports
        assert (made.reports > made.direct) == (asked.mechanism is not None)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (question({"name": "warner", "truth": "2/3"}), "binary_rr"),
        (one_of(20, {**AT, "name": "kary_rr"}), "kary_rr"),
        (one_of(20, AT), "subset_selection"),
        (some_of(5, AT), "sampled_option"),
        (number(0, 100, 1, {**AT, "name": "geometric"}), "geometric"),
        (vector(3, 0, 10, 1, AT), "sampled_coordinate"),
    ],
)
def test_curve_keeps_the_questions_own_mechanism(kind: dict[str, object], name: str) -> None:
    """Each point is what publishing makes of the mechanism's name and that epsilon, for the same true values."""
    asked = parsed(kind)
    ((epsilon, measure),) = over_epsilon(asked, [2.0])

    assert asked.mechanism is not None
    assert asked.mechanism.name == name
    assert epsilon == 2.0
    assert measure == measure_of(parsed({**kind, "mechanism": {"name": name, "epsilon": "2"}}))


def test_curve_of_twenty_options_is_not_that_of_two() -> None:
    """Randomized response over twenty options at epsilon 1 needs 11,661 reports and not the 1,600 of yes and no."""
    asked = parsed(one_of(20, {"epsilon": "2", "name": "kary_rr"}))
    ((_, measure),) = over_epsilon(asked, [1.0])

    assert plan(measure, Goal(0.05, 0.05)).reports == 11661
    assert plan(best_share(1.0, 2), Goal(0.05, 0.05)).reports < 1700


def test_no_curve_where_a_mechanism_is_not_made_from_an_epsilon() -> None:
    """Memoized answers have two layers; level tables begin at their least epsilon; public questions have none."""
    levels = parsed(number(0, 10, 1, {"name": "level_table", "epsilon": "2"}))

    assert over_epsilon(parsed(MEMOIZED), [0.5, 1.0]) == []
    assert [epsilon for epsilon, _ in over_epsilon(levels, [0.1, 2.0])] == [2.0]
    assert over_epsilon(parsed(_public("boolean")), [1.0]) == []


def _public(kind: str, **more: object) -> dict[str, object]:
    return {"type": kind, "name": "q", "label": {"en": "Q"}, "public": True, **more}


def test_public_question_is_planned_as_the_direct_one() -> None:
    """A share and a mean without noise."""
    made = measure_of(parsed(_public("integer", min=0, max=10)))

    assert measure_of(parsed(_public("boolean"))) is DIRECT
    assert made == made.openly
    assert made.variance(5) == 25


def test_reports_that_speak_of_one_option_or_coordinate_are_told() -> None:
    """So many times more people are to be invited."""
    assert [drawn_from(parsed(asked)) for asked in (some_of(5, AT), vector(3, 0, 10, 1, AT), MEMOIZED)] == [5, 3, 1]


def test_expected_value_is_of_the_kind_that_the_question_estimates() -> None:
    """A share, a number, or a date as its days; --against is read alike."""
    date = parsed(day("2020-01-01", "2020-12-31", AT))
    age = parsed(number(0, "99.5", "0.5", AT))

    assert expected_of(None, 0.1, None) == 0.1
    assert expected_of(age, None, "41.23") == 41.23
    assert read_value(date, "2020-03-01", "--against") - expected_of(date, None, "2020-02-01") == 29
    assert read_value(None, "0.3", "--against") == 0.3


@pytest.mark.parametrize(
    ("prevalence", "mean", "message"),
    [
        (0.1, None, "plan its mean with --mean"),
        (0.1, "3", "plan its mean with --mean"),
        (None, None, "plan its mean with --mean"),
        (None, "many", "--mean must be a number"),
        (None, "nan", "--mean must be a number"),
        (None, "11", "--mean must lie between 0 and 10"),
    ],
)
def test_wrong_expectation_of_a_number_is_told(prevalence: float | None, mean: str | None, message: str) -> None:
    """No share of a number, and nothing out of its range."""
    with pytest.raises(SpecError, match=message):
        expected_of(parsed(number(0, 10, 1, AT)), prevalence, mean)


def test_other_wrong_expectations_are_told() -> None:
    """A mean of a share, a date that is none, one out of range, and nothing at all."""
    date = parsed(day("2020-01-01", "2020-12-31", AT))
    for asked, prevalence, mean, message in [
        (parsed(MEMOIZED), None, "3", "'q' estimates shares"),
        (None, 0.1, "3", "without a survey estimates shares"),
        (None, None, None, "--prevalence is needed"),
        (date, None, "30", r"--mean must be a date \(YYYY-MM-DD\)"),
        (date, None, "2021-01-01", "between 2020-01-01 and 2020-12-31"),
    ]:
        with pytest.raises(SpecError, match=message):
            expected_of(asked, prevalence, mean)
    with pytest.raises(SpecError, match="--against must be a share"):
        read_value(None, "many", "--against")
    with pytest.raises(EstimateError, match="epsilon must lie between"):
        best_share(math.inf, 2)
