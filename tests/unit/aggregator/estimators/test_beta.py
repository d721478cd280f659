"""Beta quantiles."""

import math
from fractions import Fraction

import numpy as np
import pytest
from sottovoce.aggregator.estimators.distributions import beta
from sottovoce.aggregator.estimators.distributions.beta import _halley, _log_mass, _log_peak, _step, beta_quantile


def lower_mass(t: float, p: int, q: int) -> Fraction:
    """P(Beta(p, q) <= t) for whole p and q, exactly: p or more of p + q - 1 throws."""
    at, n = Fraction(t), p + q - 1
    return sum((math.comb(n, x) * at**x * (1 - at) ** (n - x) for x in range(p, n + 1)), Fraction(0))


@pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 20), (20, 1), (3, 8), (30, 71), (150, 51), (1, 200)])
@pytest.mark.parametrize("tail", [0.025, 0.0005, 0.5])
def test_beta_quantile_is_the_exact_one_to_twelve_digits(p: int, q: int, tail: float) -> None:
    """The exact mass passes the tail within 1e-12 of the result."""
    t = float(beta_quantile(tail, p, q))

    assert lower_mass(max(t - 1e-12, 0.0), p, q) <= Fraction(tail) <= lower_mass(min(t + 1e-12, 1.0), p, q)


def test_beta_quantile_has_closed_forms_at_the_edges() -> None:
    """Beta(p, 1) has quantile tail^(1/p), Beta(1, q) has 1 - (1 - tail)^(1/q), for real parameters."""
    for real in (0.3, 1.0, 2.5, 400.25):
        assert float(beta_quantile(0.025, real, 1.0)) == pytest.approx(0.025 ** (1 / real), abs=1e-13)
    for real in (1.0, 2.5, 400.25):
        assert float(beta_quantile(0.025, 1.0, real)) == pytest.approx(1 - 0.975 ** (1 / real), abs=1e-13)


def test_beta_quantile_agrees_with_a_library_at_large_and_real_parameters() -> None:
    """Values computed once with another library's incomplete beta function."""
    cases = {
        (300_000.0, 700_001.0): 0.2991019119335821,
        (0.01, 1.0067): 0.0,
        (12.75, 88.25): 0.06918448845292755,
        (1_234_567.5, 8_765_433.5): 0.12325292078180716,
    }
    for (p, q), expected in cases.items():
        assert float(beta_quantile(0.025, p, q)) == pytest.approx(expected, abs=1e-12)


def test_beta_quantile_takes_arrays() -> None:
    """Shapes broadcast, and every element is what it is alone."""
    p = np.array([[0.5], [3.0], [80.0]])
    q = np.array([1.0, 20.0])
    both = beta_quantile(0.025, p, q)

    assert both.shape == (3, 2)
    for i in range(3):
        for j in range(2):
            assert float(beta_quantile(0.025, p[i, 0], q[j])) == pytest.approx(both[i, j], abs=1e-14)


@pytest.mark.parametrize(("tail", "p", "q"), [(0.0, 1, 1), (0.6, 1, 1), (math.nan, 1, 1), (0.1, 0, 1), (0.1, 1, 0.5)])
def test_beta_quantile_refuses_what_its_root_finding_does_not_cover(tail: float, p: float, q: float) -> None:
    """Outside the stated ranges there is an error and no number."""
    with pytest.raises(ValueError, match="beta quantile"):
        beta_quantile(tail, p, q)


def test_quantiles_of_large_parameters_agree_with_the_fraction() -> None:
    """Peizer and Pratt's deviate and the continued fraction give the same limit to 1e-9."""
    for p, q in ((5000.0, 5000.0), (5000.0, 20_000.0), (1e6, 5e3), (3e5, 7e5)):
        for tail in (0.4, 0.025, 1e-5):
            fraction = float(_halley(tail, np.array([p]), np.array([q]))[0])
            assert abs(float(beta_quantile(tail, p, q)) - fraction) < 1e-9


@pytest.mark.parametrize("tail", [0.5, 0.025, 2.5e-5])
def test_many_quantiles_at_once_need_no_more_steps_than_one(tail: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """256 steps of the fraction are plenty, and the start is near enough for two of Halley's."""
    p, q = np.meshgrid(np.linspace(12, 4000, 60), np.linspace(12, 10**6, 40))
    expected = beta_quantile(tail, p, q)
    rounds = []

    def counting(*parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rounds.append(len(parameters[0]))
        return _log_mass(*parameters)

    monkeypatch.setattr(beta, "_DEEPEST", 256)
    monkeypatch.setattr(beta, "_log_mass", counting)

    assert beta_quantile(tail, p, q) == pytest.approx(expected, abs=1e-15)
    assert len(rounds) <= 2
    assert rounds[0] == p.size


@pytest.mark.parametrize("tail", [0.5, 0.025, 2.5e-5, 1e-9])
def test_steps_approach_the_quantile_and_never_pass_it(tail: float) -> None:
    """From either side, near and far: the Schwarzian derivative of ln I is nowhere positive."""
    p, q = (grid.ravel() for grid in np.meshgrid([0.2, 1.0, 2.5, 12, 300, 4000], [1.0, 1.5, 9, 80, 2500, 10**6]))
    log_peak, root = _log_peak(p, q), np.log(beta_quantile(tail, p, q))
    for away in (1.5, 1.1, 1.01, 0.99, 0.9, 0.5):
        start = root * away
        step, schwarzian = _step(tail, start, p, q, log_peak)
        left = (root - start - step) / (root - start)

        assert np.all((left > -1e-9) & (left < 1))
        assert np.all(schwarzian <= 1e-9 * (p + q) ** 2)
