"""A number as the planner sees it is the number that results show."""

from statistics import NormalDist

import numpy as np
import pytest
from sottovoce.aggregator.estimators import estimate, public
from sottovoce.aggregator.planning.question_channels import NumberChannel, mechanism_measure, public_number
from sottovoce.shared.mechanisms import MECHANISMS
from sottovoce.shared.spec import Question

from tests.documents import Document, day, number, parsed, vector

AT = {"epsilon": "2"}
MEANS: dict[str, Document] = {
    **{
        name: number(-3, 57, "0.5", {**AT, "name": name})
        for name, made in MECHANISMS.items()
        if made.serves == "number"
    },
    "sampled_coordinate": vector(3, 0, 10, 1, AT),
}


def channel(question: Question) -> NumberChannel:
    """Of a question that is no public one."""
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
    question = parsed(number(-3, 57, "0.5", AT))
    (found,) = public.estimate({0: 3, 40: 9, 120: 2}, question.domain)
    planned = public_number(question.domain)
    assert found.raw is not None

    assert planned == planned.openly == channel(question).openly
    assert planned.shown(found.raw, 14, 0.95) == pytest.approx((found.low, found.high), abs=1e-9)


def test_range_of_millions_of_values_has_an_open_question_too() -> None:
    """Its list of values ends at ten thousand, which the interval cannot tell."""
    wide = channel(parsed(number(0, 10**8, 1, AT))).openly

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
    planned = channel(parsed(day("2020-01-01", "2021-01-01", AT)))

    assert (planned.high - planned.low, planned.step) == (366, 1)
