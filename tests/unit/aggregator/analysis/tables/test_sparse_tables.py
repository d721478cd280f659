"""Tables with half-seen reports and cells that are empty or impossible: worked examples, variances and limits."""

import math
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.analysis.tables.crosstab import Crosstab, crosstab
from sottovoce.aggregator.analysis.tables.likeliest_cells import LikeliestTable
from sottovoce.aggregator.analysis.tables.ml_table import ObservedReports, log_likelihood
from sottovoce.aggregator.analysis.tables.pair_moments import Joint
from sottovoce.aggregator.analysis.tables.score_intervals import CellChannel, cell_moments
from sottovoce.aggregator.analysis.tables.sparse_tables import ThinTable, phi_limits, score_variance, thin_table
from sottovoce.aggregator.analysis.tables.test_inversion_intervals import correlation, difference, ratio
from sottovoce.aggregator.estimators.variable import Variable

from tests.documents import one_of, question
from tests.unit.aggregator.analysis.samples import (
    COIN,
    Z,
    asked,
    coin,
    masks_by_coin,
    openly,
    pair,
    public,
    reported,
    variable,
    warner,
)
from tests.unit.shared.test_schema import validator

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


NULL = 255

BOTH = [[96, 69], [62, 73]]

FLIP = np.array([[0.75, 0.25], [0.25, 0.75]])


def half_seen() -> Columns:
    """Reports of two of three coin questions: both of a and b, a alone, b alone."""
    a, b = reported(BOTH)
    alone_a, alone_b = np.repeat([0, 1], [170, 130]), np.repeat([0, 1], [150, 150])
    missing = np.full(300, NULL)
    first = np.concatenate([a, alone_a, missing]).astype(np.uint8)
    second = np.concatenate([b, missing, alone_b]).astype(np.uint8)
    third = np.where((first == NULL) | (second == NULL), 0, NULL).astype(np.uint8)
    zeros = np.zeros(900, np.uint8)
    coins = [question(COIN)] * 3
    return Columns((asked(*coins, ask=2),), {"a": first, "b": second, "c": third}, zeros, zeros)


def gated(counts: Any) -> Columns:
    """Reports of two coin questions of which the second is asked after a yes, and counts as no else."""
    later = {**question(COIN), "visible_if": {"a": "yes"}, "when_absent": "no"}
    return Columns.from_arrays(asked(question(COIN), later), dict(zip("ab", reported(counts), strict=True)))


def shown(found: Crosstab) -> list[float | None]:
    return [cell.estimate for line in found.cells for cell in line]


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
    channel = CellChannel(cell_moments((1.0, 0.0), (1.0, 0.0)), 50.0)

    assert phi_limits(ThinTable(0.0, 0.0, 0.1, (channel,)), Z) == (-1.0, 1.0)


def test_half_seen_reports_meet_the_worked_example() -> None:
    """Shares use the margins of reports with one question; raw ones are of those with both."""
    found = crosstab(half_seen(), "a", "b")

    assert shown(found) == pytest.approx([0.445205, 0.169784, 0.082583, 0.302428], abs=5e-7)
    assert found.cells[0][0].raw == pytest.approx((96 * 9 - 69 * 3 - 62 * 3 + 73) / 4 / 300)
    assert (found.n_pair, found.cells[0][0].method) == (300, "profile")
    assert "600 more reports contain one of the two questions" in found.warnings[0]
    document = parse_request("crosstab", {"rows": "a", "columns": "b"}).document(half_seen())
    validator("crosstab").validate(document)


def test_impossible_cell_meets_the_worked_example() -> None:
    """Nobody who was not asked has answered; the cell is 0 with limits 0, and the share within its row is known."""
    found = crosstab(gated([[375, 175], [244, 206]]), "a", "b")

    assert shown(found) == pytest.approx([0.596976, 0, 0.148104, 0.254919], abs=5e-7)
    assert (found.cells[0][1].low, found.cells[0][1].high) == (0, 0)
    assert [(share.estimate, share.low, share.high) for share in found.conditional[0]] == [(1, 1, 1), (0, 0, 0)]
    assert any("some cells are impossible" in each for each in found.warnings)
    turned = crosstab(gated([[375, 175], [244, 206]]), "b", "a")
    assert shown(turned) == pytest.approx([0.596976, 0.148104, 0, 0.254919], abs=5e-7)


def test_weighted_table_leaves_half_seen_reports_out() -> None:
    found = crosstab(half_seen(), "a", "b", np.ones(900))
    assert found.cells[0][0].method == "score"


def test_limits_are_those_of_a_dense_search() -> None:
    """Of a cell and of a share within a row: the drop of the highest likelihood over all tables of a grid."""
    rows = np.vstack([np.kron(FLIP, FLIP), np.kron(FLIP, [[1, 1]]), np.kron([[1, 1]], FLIP)])
    seen = ObservedReports(rows, np.array([96.0, 69, 62, 73, 170, 130, 150, 150]))
    table = LikeliestTable(seen, (2, 2), frozenset(), Z)
    steps = np.linspace(0, 1, 41)
    grid = [(a, b) for a in steps for b in steps if a + b <= 1]

    def of_cell(share: float) -> float:
        return max(
            log_likelihood([seen], np.array([[share, a * (1 - share)], [b * (1 - share), (1 - a - b) * (1 - share)]]))
            for a, b in grid
        )

    def of_row(share: float) -> float:
        return max(
            log_likelihood([seen], np.array([[a * share, a * (1 - share)], [(1 - a) * b, (1 - a) * (1 - b)]]))
            for a in steps[1:-1]
            for b in steps
        )

    top = log_likelihood([seen], table.table)
    for (point, low, high), profile in ((table.cell(0, 0), of_cell), (table.share(0, 0) or (0, 0, 0), of_row)):
        assert low < point < high
        for limit in (low, high):
            assert 2 * (top - profile(limit)) == pytest.approx(Z**2, abs=0.15)
