"""Limits where a cell may be empty: variances known from the channels, and intervals that hold what is shown."""

import math

import numpy as np
import pytest
from sottovoce.aggregator.analysis.tables.pair_moments import Joint
from sottovoce.aggregator.analysis.tables.score_intervals import CellChannel, cell_moments
from sottovoce.aggregator.analysis.tables.sparse_tables import ThinTable, phi_limits, score_variance, thin_table
from sottovoce.aggregator.analysis.tables.test_inversion_intervals import correlation, difference, ratio
from sottovoce.aggregator.estimators.variable import Variable

from tests.documents import one_of, question
from tests.unit.aggregator.analysis.samples import Z, coin, masks_by_coin, openly, pair, public, variable, warner

three = variable(public(one_of(3, {"name": "kary_rr", "odds": "3"})))
strong = variable(question({"epsilon": "3"}))
THIN = [[150, 30], [19, 1]]


def enumerated(first: Variable, second: Variable, truth: list[list[float]], weights: tuple[float, ...]) -> float:
    """The exact variance of weighted z_A z_B, z_A and z_B, over all reports."""
    (a, b), (a2, b2) = first.channels[1], second.channels[1]
    chances = np.array([[1 - b, b], [1 - a, a]]).T @ np.array(truth) @ np.array([[1 - b2, b2], [1 - a2, a2]])
    one, other = (np.array([-q, 1 - q]) / (p - q) for p, q in ((a, b), (a2, b2)))
    scores = np.stack([np.outer(one, other).ravel(), np.repeat(one, 2), np.tile(other, 2)])
    return float(np.cov(np.array(weights) @ scores, aweights=chances.ravel(), ddof=0))


@pytest.mark.parametrize(("first", "second"), [(coin, coin), (openly, strong), (warner, coin)])
@pytest.mark.parametrize("weights", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, -0.7, 0.4)])
def test_variance_of_a_hypothesis_is_exact(
    first: Variable, second: Variable, weights: tuple[float, float, float]
) -> None:
    """That of all possible reports, with their chances."""
    channel = CellChannel(cell_moments(first.channels[1], second.channels[1]), 100.0)
    exact = enumerated(first, second, [[0.41, 0.34], [0.19, 0.06]], weights)

    assert score_variance(channel, weights, (0.06, 0.25, 0.4)) == pytest.approx(exact, abs=1e-12)


def test_only_tables_with_a_thin_cell_are_told() -> None:
    """Below 25 reports that support a cell; not of masks, which are no two groups."""
    assert thin_table(pair(coin, coin, [[25, 100], [100, 100]]), (0, 1), 1) is None
    assert thin_table(pair(coin, coin, [[24, 100], [100, 100]]), (0, 1), 1) is not None
    assert thin_table(pair(openly, openly, [[150, 30], [20, 0]]), (0, 1), 1) is not None
    assert thin_table(masks_by_coin(), (0, 1), 1) is None


def test_open_answers_have_limits_in_closed_form() -> None:
    """A difference of two shares of which one was 0 of 20: the solution of the quadratic with the variance at t."""
    found = difference(pair(openly, openly, [[150, 30], [20, 0]]), (0, 1), 1, (-1.0, 1.0), Z)
    a, b, n = 0.1, 0.15, 200

    def beyond(t: float) -> float:
        both = min(max(a * b + t * a * (1 - a), 0.0), a)
        shares = both / a, (b - both) / (1 - a)
        # Of open answers grad Q' C grad Q is A^2 A0^2 times the variance of the difference of two shares.
        variance = shares[0] * (1 - shares[0]) / (n * a) + shares[1] * (1 - shares[1]) / (n * (1 - a))
        return (-1 / 6 - t) ** 2 - Z**2 * variance

    assert found.raw == pytest.approx(-1 / 6)
    assert beyond(found.high) == pytest.approx(0, abs=1e-9)
    assert found.low <= -1 / 6 < found.high


def test_limits_hold_what_is_shown() -> None:
    """Also where the raw table is impossible, its margins too."""
    samples = [[[30, 2], [9, 1]], [[150, 30], [20, 0]], [[60, 2], [30, 40]], [[49, 1], [0, 0]], [[5, 40], [6, 1]]]
    pairs: list[Joint] = [pair(one, other, counts) for counts in samples
                          for one, other in ((coin, coin), (openly, strong), (strong, openly))]  # fmt: skip
    for reports in pairs:
        for found, low, high in (
            (difference(reports, (0, 1), 1, (-1.0, 1.0), Z), -1.0, 1.0),
            (ratio(reports, (0, 1), 1, Z), 0.0, math.inf),
            (correlation(reports, Z), -1.0, 1.0),
        ):
            assert low <= found.low <= found.high <= high
            if found.raw is not None:
                assert found.low <= min(max(found.raw, low), high) <= found.high


def test_two_of_three_public_groups_are_compared_as_if_they_were_alone() -> None:
    """The third one has nothing to do with it."""
    all_three = pair(three, strong, [[150, 30], [70, 60], [19, 1]])

    found = difference(all_three, (0, 2), 1, (-1.0, 1.0), Z)

    assert found == pytest.approx(difference(pair(openly, strong, THIN), (0, 1), 1, (-1.0, 1.0), Z), abs=5e-4)


def test_nothing_is_known_of_a_group_of_nobody() -> None:
    """The whole range."""
    channel = CellChannel(cell_moments((1.0, 0.0), (1.0, 0.0)), 50.0)

    assert phi_limits(ThinTable(0.0, 0.0, 0.1, (channel,)), Z) == (-1.0, 1.0)
