"""The search: that it finds maxima, and says when there is none."""

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression import newton
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import evaluate, maximize, score_products

from tests.unit.aggregator.analysis.reports import COIN, GROUP, ONES, SAID, WEIGHTS, X, columns


@pytest.mark.parametrize("n", [40, 100])
def test_missing_maximum_is_found_for_every_count(n: int) -> None:
    """One group of coin reports: there is a maximum if and only if the reported share lies inside (1/4, 3/4)."""
    for yes in range(n + 1):
        reports = (np.arange(n) < yes).astype(int)
        fit = maximize(Multinomial(np.ones((1, n)), reports, COIN))

        assert fit.converged == (n < 4 * yes < 3 * n), yes
        assert (fit.runs_off is None) == fit.converged


def test_missing_maximum_is_found_in_samples_of_three_groups() -> None:
    """There is one if and only if every group's reported share lies inside (1/4, 3/4)."""
    generator, group = np.random.Generator(np.random.PCG64(5)), np.repeat([0, 1, 2], 30)
    design = columns(np.ones(90), group == 1, group == 2)
    found = []
    for _ in range(100):
        said = generator.random(90) < np.array([0.3, 0.4, 0.5])[group]
        shares = np.bincount(group, weights=said) / 30
        found.append(bool(np.all((shares > 0.25) & (shares < 0.75))))
        assert maximize(Multinomial(design, said.astype(int), COIN)).converged == found[-1]
    assert 20 < sum(found) < 80


def test_missing_maximum_of_one_group_of_three_is_found() -> None:
    """The direction in which it lies is that group's."""
    group = np.repeat([0, 1, 2], 80)
    said = np.concatenate([np.arange(80) < yes for yes in (40, 35, 15)]).astype(int)
    fit = maximize(Multinomial(columns(np.ones(240), group == 1, group == 2), said, COIN))

    assert not fit.converged
    assert fit.runs_off is not None
    assert np.abs(fit.runs_off).argmax() == 2


def test_outlier_of_a_predictor_is_no_missing_maximum() -> None:
    """Somebody a hundred times as rich has a linear predictor beyond 12, and a coefficient exists all the same."""
    x = np.append(X, 100.0)
    fit = maximize(Multinomial(columns(np.ones(601), x), np.append(SAID, 1), COIN))

    assert fit.converged
    assert fit.theta[1] * 100 > newton.BEYOND
    assert evaluate(Multinomial(columns(np.ones(601), x), np.append(SAID, 1), COIN), fit.theta).gradient == (
        pytest.approx(0, abs=1e-4)
    )


def test_blocks_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Multinomial(columns(ONES, X, GROUP), SAID, COIN, WEIGHTS)
    whole, products = maximize(model), score_products(model, np.array([0.1, -0.2, 0.3]), power=2)
    monkeypatch.setattr(newton, "BLOCK", 7)
    in_blocks = maximize(model)

    assert in_blocks.theta == pytest.approx(whole.theta, abs=1e-10)
    assert in_blocks.information == pytest.approx(whole.information, rel=1e-10)
    assert score_products(model, np.array([0.1, -0.2, 0.3]), power=2) == pytest.approx(products, rel=1e-12)


def test_no_step_moves_a_linear_predictor_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """From a start where nearly everybody would say yes, where the likelihood is all but flat."""
    tried = []

    def noting(model: Multinomial, theta: np.ndarray) -> newton.Sums:
        tried.append(float(theta[0]))
        return evaluate(model, theta)

    monkeypatch.setattr(newton, "evaluate", noting)
    fit = maximize(Multinomial(np.ones((1, 100)), np.arange(100) % 2, COIN), np.array([9.0]))

    assert tried[:2] == pytest.approx([9, 5])
    assert fit.theta == pytest.approx([0], abs=1e-6)


def test_parameter_that_must_not_move_stays() -> None:
    """The others are at their best for it."""
    model = Multinomial(columns(ONES, X, GROUP), SAID, COIN)
    free = np.array([True, False, True])
    fit = maximize(model, np.array([0.0, 0.5, 0.0]), free)

    assert fit.theta[1] == 0.5
    assert evaluate(model, fit.theta).gradient[free] == pytest.approx([0, 0], abs=1e-6)
    assert abs(evaluate(model, fit.theta).gradient[1]) > 1
