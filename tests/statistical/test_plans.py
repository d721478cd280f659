"""Plans of means are kept: 20,000 surveys of n reports each, through the mechanism's own table and interval."""

import numpy as np
import pytest
from sottovoce.aggregator.planning.question_channels import NumberChannel, measure_of
from sottovoce.aggregator.planning.sample_size import Goal, plan
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.spec import Question

from tests.documents import Document, number, parsed
from tests.statistical.exact import Array

RUNS = 20_000
ASSURANCE = 0.9
CHANNELS: dict[str, Document] = {
    "rounding_rr": {"epsilon": "1"},
    "level_table": {"epsilon": "2", "name": "level_table"},
    "geometric": {"epsilon": "2", "name": "geometric"},
    "square_wave": {"epsilon": "2", "name": "square_wave"},
}
STEPS = 20


def worst_population(question: Question, measure: NumberChannel, mean: float) -> Array:
    """Shares of two values: of all populations with this mean one whose reports' scores vary most."""
    mechanism = question.mechanism
    assert mechanism is not None
    scores, rows = np.array(measure.scored.scores), table(mechanism)
    means, squares = rows @ scores, rows @ scores**2
    best, shares = -1.0, np.zeros(STEPS + 1)
    for low in range(STEPS + 1):
        for high in range(low + 1, STEPS + 1):
            if means[low] <= mean <= means[high] and means[low] < means[high]:
                share = (mean - means[low]) / (means[high] - means[low])
                moment = (1 - share) * squares[low] + share * squares[high]
                if moment > best:
                    best, shares = moment, np.zeros(STEPS + 1)
                    shares[[low, high]] = 1 - share, share
    return shares


def table(mechanism: Mechanism) -> Array:
    """P(report | step)."""
    reported = range(mechanism.largest + 1)
    return np.array([[float(mechanism.probability(y, step)) for y in reported] for step in range(STEPS + 1)])


def kept(question: Question, measure: NumberChannel, goal: Goal, reports: int) -> float:
    """The share of runs whose interval, as the estimator shows it, is no wider than wanted."""
    mechanism = question.mechanism
    assert mechanism is not None
    reported = worst_population(question, measure, goal.expected) @ table(mechanism)
    counts = np.random.Generator(np.random.PCG64(11)).multinomial(reports, reported, size=RUNS)
    raws = counts @ np.array(measure.scored.scores) / reports
    # The half-width is a smooth function of the mean of the scores, looked up between 500 of them.
    looked_up = np.linspace(raws.min(), raws.max(), 500)
    limits = np.array([measure.shown(float(raw), reports, goal.confidence) for raw in looked_up])
    widths = np.interp(raws, looked_up, (limits[:, 1] - limits[:, 0]) / 2)
    assert goal.half_width is not None
    return float(np.mean(widths <= goal.half_width))


@pytest.mark.parametrize("mean", [2.0, 6.0])
@pytest.mark.parametrize("mechanism", CHANNELS)
def test_assured_plan_of_a_mean_is_kept(mechanism: str, mean: float) -> None:
    """In 20,000 runs the n given has the assurance, less three standard errors of .0021; n x .99 has not."""
    question = parsed(number(0, STEPS, 1, CHANNELS[mechanism]))
    measure = measure_of(question)
    assert isinstance(measure, NumberChannel)
    goal = Goal(mean, half_width=0.5, assurance=ASSURANCE)
    reports = plan(measure, goal).reports

    assert kept(question, measure, goal, reports) >= ASSURANCE - 0.0064
    assert kept(question, measure, goal, round(reports * 0.99)) < ASSURANCE - 0.0064


def test_plan_by_the_usual_formula_would_not_be_kept() -> None:
    """Without the correction for the gap between scores not even one survey in two is narrow enough."""
    question = parsed(number(0, STEPS, 1, CHANNELS["rounding_rr"]))
    measure = measure_of(question)
    assert isinstance(measure, NumberChannel)
    goal = Goal(6.0, half_width=0.5)

    assert kept(question, measure, goal, plan(measure, goal).reports) < 0.5
