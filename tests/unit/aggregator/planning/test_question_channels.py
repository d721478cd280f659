"""Every question can be planned, by the mechanism that it has."""

import math
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from sottovoce.aggregator.estimators import estimate, public
from sottovoce.aggregator.planning.question_channels import (
    DIRECT,
    ChosenChannel,
    NumberChannel,
    ShareChannel,
    best_share,
    binomial_window,
    drawn_from,
    expected_of,
    measure_of,
    mechanism_measure,
    over_epsilon,
    public_number,
    read_value,
)
from sottovoce.aggregator.planning.sample_size import Goal, plan
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.shared.errors import EstimateError, SpecError
from sottovoce.shared.mechanisms import MECHANISMS
from sottovoce.shared.spec import Question

from tests.documents import Document, day, number, one_of, parsed, question, some_of, vector

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

        assert isinstance(measure, NumberChannel if asked.domain.grid is not None else ShareChannel)
        assert made.reports > plan(measure, Goal(expected, 2 * wide)).reports
        assert (made.reports > made.direct) == (asked.mechanism is not None)
        assert not asked.by_fact or ChosenChannel(asked, 1.0, 2).others == []


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

    assert asked.mechanism.name == name
    assert epsilon == 2.0
    assert measure == measure_of(parsed({**kind, "mechanism": {"name": name, "epsilon": "2"}}))


def test_curve_is_of_its_own_number_of_options_or_there_is_none() -> None:
    """None where a mechanism is not made from an epsilon."""
    asked = parsed(one_of(20, {"epsilon": "2", "name": "kary_rr"}))
    ((_, measure),) = over_epsilon(asked, [1.0])

    assert plan(measure, Goal(0.05, 0.05)).reports == 11661
    assert plan(best_share(1.0, 2), Goal(0.05, 0.05)).reports < 1700

    levels = parsed(number(0, 10, 1, {"name": "level_table", "epsilon": "2"}))

    assert over_epsilon(parsed(MEMOIZED), [0.5, 1.0]) == []
    assert [epsilon for epsilon, _ in over_epsilon(levels, [0.1, 2.0])] == [2.0]
    assert over_epsilon(parsed(_public("boolean")), [1.0]) == []


def _public(kind: str, **more: object) -> dict[str, object]:
    return {"type": kind, "name": "q", "label": {"en": "Q"}, "public": True, **more}


def test_public_question_and_channel_without_noise_are_the_direct_question() -> None:
    """With the same figures."""
    made = measure_of(parsed(_public("integer", min=0, max=10)))

    assert measure_of(parsed(_public("boolean"))) is DIRECT
    assert made == made.openly
    assert made.variance(5) == 25

    assert DIRECT.openly is DIRECT is ShareChannel(0.75, 0.25).openly
    assert (DIRECT.variance(0.0), DIRECT.variance(1.0), DIRECT.variance(0.5)) == (0, 0, 0.25)


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


@pytest.mark.parametrize("n", [1, 2, 40, 999])
@pytest.mark.parametrize("share", [0.0, 1e-6, 0.25, 0.5, 0.97, 1.0])
def test_window_has_the_binomial_probabilities(n: int, share: float) -> None:
    """Against whole-number binomial coefficients; what the window leaves out is next to nothing."""
    counts, weights = binomial_window(n, share)
    exact = [math.comb(n, count) * share**count * (1 - share) ** (n - count) for count in counts.tolist()]

    assert weights == pytest.approx(exact, abs=1e-12)
    assert sum(exact) == pytest.approx(1, abs=1e-12)


def test_window_is_small_beside_many_reports() -> None:
    """10^8 reports: some 80,000 counts around the mean, of the right mean and variance."""
    counts, weights = binomial_window(10**8, 0.3)
    mean = float(weights @ counts)

    assert len(counts) < 10**5
    assert mean == pytest.approx(0.3 * 10**8, rel=1e-9)
    assert float(weights @ np.square(counts - mean)) == pytest.approx(0.21 * 10**8, rel=1e-6)


AT_TWO = {"epsilon": "2"}

MEANS: dict[str, Document] = {
    **{
        name: number(-3, 57, "0.5", {**AT_TWO, "name": name})
        for name, made in MECHANISMS.items()
        if made.serves == "number"
    },
    "sampled_coordinate": vector(3, 0, 10, 1, AT_TWO),
}


def channel(question: Question) -> NumberChannel:
    assert question.mechanism is not None
    planned = mechanism_measure(question.mechanism, question.domain)
    assert isinstance(planned, NumberChannel)
    return planned


@pytest.mark.parametrize("name", MEANS)
def test_limits_of_a_plan_are_those_that_results_show(name: str) -> None:
    """Random tallies: the same limits for the raw mean to the last digits, of a square wave limits within them."""
    question = parsed(MEANS[name])
    assert question.mechanism is not None
    planned = channel(question)
    values = 2 if name == "sampled_coordinate" else question.mechanism.largest + 1
    generator = np.random.Generator(np.random.PCG64(4))
    for n in (1, 30, 400):
        tally = dict(enumerate(generator.multinomial(n, [1 / values] * values).tolist()))
        found = estimate(question.mechanism, tally, question.domain)[0]
        assert found.kind == "mean"
        assert found.raw is not None

        low, high = planned.shown(found.raw, n, 0.95)
        if name == "square_wave":
            assert low <= found.low < found.high <= high
        else:
            assert (low, high) == pytest.approx((found.low, found.high), abs=1e-9)


def test_limits_of_a_public_number_are_those_that_results_show() -> None:
    """Which are also those of the question asked openly, for comparison."""
    question = parsed(number(-3, 57, "0.5", AT_TWO))
    (found,) = public.estimate({0: 3, 40: 9, 120: 2}, question.domain)
    planned = public_number(question.domain)
    assert found.raw is not None

    assert planned == planned.openly == channel(question).openly
    assert planned.shown(found.raw, 14, 0.95) == pytest.approx((found.low, found.high), abs=1e-9)


def test_range_of_millions_of_values_has_an_open_question_too() -> None:
    """Its list of values ends at ten thousand, which the interval cannot tell."""
    wide = channel(parsed(number(0, 10**8, 1, AT_TWO))).openly

    assert len(wide.scored.scores) == 10_001
    assert wide.step == 1
    assert wide.variance(10**7) == pytest.approx(10**7 * 9 * 10**7)


@pytest.mark.parametrize("name", ["rounding_rr", "geometric", "square_wave"])
@pytest.mark.parametrize("mean", [-3, 2.0, 27, 57])
def test_chance_of_a_half_width_is_that_of_the_normal_law(name: str, mean: float) -> None:
    """Against 2,000 equally likely means of scores, each with its limits; widths around those that come out."""
    planned = channel(parsed(MEANS[name]))
    inside = min(max(mean, planned.scored.levels[0]), planned.scored.levels[-1])
    distribution = NormalDist(inside, (planned.variance(mean) / 900) ** 0.5)
    widths = []
    for place in range(500):
        low, high = planned.shown(distribution.inv_cdf((place + 0.5) / 500), 900, 0.95)
        widths.append((high - low) / 2)
    for wanted in (min(widths) - 1e-6, sorted(widths)[100], sorted(widths)[400], max(widths) + 1e-6):
        share = sum(width <= wanted for width in widths) / 500
        assert planned.chance(mean, wanted, 900, 0.95) == pytest.approx(share, abs=0.005)


def test_steps_within_a_bin_widen_the_limits_of_a_square_wave() -> None:
    """121 values in 32 bins of at most 4: a value lies up to 1.5 steps from its bin's middle."""
    planned = channel(parsed(MEANS["square_wave"]))

    assert planned.blur == 0.75
    assert (planned.low, planned.high) == (-3, 57)
    assert channel(parsed(MEANS["geometric"])).blur == 0


def test_dates_are_planned_in_days() -> None:
    """A leap year and the day after it."""
    planned = channel(parsed(day("2020-01-01", "2021-01-01", AT_TWO)))

    assert (planned.high - planned.low, planned.step) == (366, 1)
