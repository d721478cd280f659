"""People needed to tell the share of a design from a known one, verified with the estimator that is used then."""

import numpy as np
import pytest
from click.testing import CliRunner
from sottovoce.aggregator import mixture
from sottovoce.aggregator.planning.given_sample import design_power
from sottovoce.cli.main import main
from sottovoce.shared.errors import EstimateError

from tests.unit.aggregator.analysis.mixtures.test_fielded import CHEATERS, EXAMPLES, UNKNOWN

USUAL = (0.95, 0.8)
ODDS = [(1 / 12, 5 / 12), (5 / 12, 1 / 12)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("survey", "shares", "design", "p", "chances"),
    [
        (CHEATERS, (0.2, 0.3), "cheater_detection_symmetric", ODDS, [.2 * (1 - no) + .5 * yes for yes, no in ODDS]),
        (UNKNOWN, (0.2, 0.4), "unrelated_unknown", [1 / 3, 2 / 3], [p * .2 + (1 - p) * .4 for p in (1 / 3, 2 / 3)]),
    ],
)  # fmt: skip
def test_planned_people_tell_the_shares_apart(survey, shares, design, p, chances) -> None:  # type: ignore[no-untyped-def]
    """In 400 studies of so many people, limits leave the known share out in about 80 of 100."""
    planned = design_power(survey, survey.questions[:2], shares, 0.1, USUAL, None).reports
    dice, half, found, runs = np.random.default_rng(7), planned // 2, 0, 400
    for _ in range(runs):
        yes = [int(dice.binomial(half, chance)) for chance in chances]
        low = mixture(design, p, yes, [half, half]).document["shares"]["pi"]["low"]
        found += low > 0.1
    assert found / runs == pytest.approx(USUAL[1], abs=0.06)
    power = design_power(survey, survey.questions[:2], shares, 0.1, USUAL, planned).power
    assert power == pytest.approx(0.8, abs=0.005)


def test_plan_prints_people_and_power() -> None:
    """With the shares given, and of a number of people."""
    words = ["plan", str(EXAMPLES / "cheater_detection.yaml"), "--question", "copied_rare", "--with", "copied_often"]
    words += ["--known", "0.1", "-p", "0.2", "--with-prevalence", "0.15", "--n", "1000"]
    shown = CliRunner().invoke(main, words).stdout
    assert "1,488 reports find 0.2 against 0.1 in cheater_detection, in both arms together, with power 80%" in shown
    assert "1,000 reports find it with power 63%" in shown


def test_impossible_plans_are_refused() -> None:
    """Shares that cannot be together, the known share itself, and questions of no design."""
    first, second, arm = CHEATERS.questions
    for pair, shares in (((first, second), (0.5, 0.6)), ((first, second), (0.1, 0.2)), ((first, arm), (0.2, 0.2)),
                         ((arm, first), (0.2, 0.2))):  # fmt: skip
        with pytest.raises(EstimateError):
            design_power(CHEATERS, pair, shares, 0.1, USUAL, None)
