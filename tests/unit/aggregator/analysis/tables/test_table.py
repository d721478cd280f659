import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.analysis.tables import pair_moments
from sottovoce.aggregator.analysis.tables.crosstab import Crosstab, crosstab
from sottovoce.aggregator.analysis.tables.likeliest_cells import LikeliestTable
from sottovoce.aggregator.analysis.tables.ml_table import ObservedReports
from sottovoce.aggregator.analysis.tables.pair_moments import Joint, count_pairs, joint
from sottovoce.aggregator.analysis.tables.score_intervals import CellChannel, cell_moments
from sottovoce.aggregator.analysis.tables.table import TOO_FEW, Rule, TwoWayTable, independence_of
from sottovoce.aggregator.analysis.tables.test_inversion_intervals import (
    ThinTable,
    difference,
    mean_among,
    phi,
    ratio,
    score_variance,
    thin_table,
)
from sottovoce.aggregator.estimators.variable import Variable

from tests.documents import one_of, question
from tests.unit.aggregator.analysis.samples import (
    COIN,
    Z,
    asked,
    coin,
    kary,
    masks_by_coin,
    openly,
    pair,
    public,
    reported,
    variable,
    warner,
)
from tests.unit.shared.test_schema import validator

COINS = [[319, 231], [206, 244]]
TWO_COINS, BY_GROUP = pair(coin, coin, COINS), pair(openly, coin, [[420, 180], [190, 210]])
THREE = pair(kary, coin, [[190, 120], [130, 110], [100, 120]])
REGION = variable(public(one_of(3, {"name": "kary_rr", "odds": "3"})))


def weighted(one: Variable, other: Variable, columns: Any, weights: Any = None, **rule: Any) -> TwoWayTable:
    return TwoWayTable(joint([count_pairs(one, other, columns, weights)], len(columns[0])), Rule(**rule))


def figures(found: Any) -> tuple[float, ...]:
    return found.raw, found.std_error, found.low, found.high


@pytest.mark.parametrize(
    ("whole", "place", "figures", "share"),
    [
        (TWO_COINS, (1, 1), (0.301, 0.037574, 0.226320, 0.377244), (0.7525, 0.580735, 0.930542)),
        # Without noise in the group.
        (BY_GROUP, (1, 1), (0.22, 0.021727, 0.177605, 0.264588), (0.55, 0.449626, 0.649398)),
        (THREE, (2, 1), (0.217532, 0.046728, 0.125702, 0.317950), None),
    ],
    ids=["coins", "public group", "three categories"],
)
def test_cell_and_share_within_its_row_are_the_published_ones(whole, place, figures, share):
    table = TwoWayTable(whole, Rule())

    cell, found = table.cell(*place), table.share(*place)
    assert (cell.raw, cell.std_error, cell.low, cell.high) == pytest.approx(figures, abs=5e-7)
    assert share is None or (found.raw, found.low, found.high) == pytest.approx(share, abs=5e-7)
    assert (cell.n, cell.n_pair, cell.deff) == (whole.n, whole.n, 1)


def test_whole_tables_are_the_published_ones():
    coins, masks, low = TwoWayTable(TWO_COINS, Rule()), TwoWayTable(masks_by_coin(), Rule()), TwoWayTable(THREE, Rule())

    assert coins.raw == pytest.approx(np.array([[0.451, 0.149], [0.099, 0.301]]), abs=5e-7)
    assert masks.raw[:, 0] == pytest.approx([0.039583, 0.147917, 0.214583, 0.389583], abs=5e-7)
    assert masks.raw[:, 1] == pytest.approx([0.11875, 0.027083, 0.060417, 0.002083], abs=5e-7)
    assert masks.cell(0, 1).std_error == pytest.approx(0.055328, abs=5e-7)
    assert (low.cell(2, 0).raw, low.cell(2, 0).estimate) == (pytest.approx(-0.003247, abs=5e-7), 0)


@pytest.mark.parametrize("whole", [TWO_COINS, BY_GROUP, masks_by_coin()])
def test_error_of_a_share_is_that_of_the_quotient(whole):
    """The delta method, as for a mean among a group."""
    table = TwoWayTable(whole, Rule())

    for row in range(table.shape[0]):
        assert table.share(row, 1).std_error == pytest.approx(mean_among(whole, row, 1, (0, 1), 2).std_error, rel=1e-9)


def test_shares_of_hadamard_columns_sum_to_one_on_average_only():
    hadamard = variable(one_of(3, {"name": "hadamard_response", "odds": "3"}))
    whole = pair(hadamard, openly, [[160], [90], [80], [70]])

    assert TwoWayTable(whole, Rule()).raw.sum(axis=1) == pytest.approx([0.4, 0.5, 0.3], abs=1e-12)


def test_large_masks_give_the_same_table_row_by_row(monkeypatch):
    """Too many different pairs to be counted: every report is a row, in blocks."""
    columns = reported(np.arange(1, 9).reshape(4, 2))
    five = variable(one_of(5, {"name": "optimal_unary", "odds": "3"}))
    weights = np.linspace(0.5, 2, len(columns[0]))
    before = weighted(five, coin, columns, weights)
    monkeypatch.setattr(pair_moments, "MOST_COUNTED", 0)
    monkeypatch.setattr(pair_moments, "ROWS", 7)

    after = weighted(five, coin, columns, weights)

    assert after.raw == pytest.approx(before.raw, rel=1e-12)
    assert after.cell(3, 1).std_error == pytest.approx(before.cell(3, 1).std_error, rel=1e-9)
    assert after.share(3, 1).low == pytest.approx(before.share(3, 1).low, rel=1e-9)


def test_weights_that_are_all_alike_change_nothing():
    plain, alike = TwoWayTable(TWO_COINS, Rule()), weighted(coin, coin, reported(COINS), np.full(1000, 3.5))

    for one, other in ((plain.cell(1, 1), alike.cell(1, 1)), (plain.share(1, 0), alike.share(1, 0))):
        assert figures(one) == pytest.approx(figures(other), rel=1e-9)


def test_weights_widen_the_limits_by_what_they_cost():
    """Half of the reports counted thrice: Kish's factor 1.25, in the table as in its limits."""
    columns = reported(np.array(COINS) * 2)
    cell, wider = (
        weighted(coin, coin, columns, each).cell(1, 1) for each in (None, np.where(np.arange(2000) % 2, 3.0, 1.0))
    )

    assert wider.deff == pytest.approx(1.25)
    assert (wider.high - wider.low) / (cell.high - cell.low) == pytest.approx(1.25**0.5, rel=0.02)


REGIONAL = [[30, 12, 14], [200, 150, 100], [61, 25, 30]]
"""Reports by region and reported value; the last one is of people who gave no answer, if they may."""
OF_REGION = np.array([6.0, 1.0, 2.5])


def regional(outcome: Variable, is_weighted: bool, width: int) -> TwoWayTable:
    columns = reported(np.array(REGIONAL)[:, :width])
    return weighted(REGION, outcome, columns, OF_REGION[columns[0]] if is_weighted else None, least=0)


@pytest.mark.parametrize(
    ("outcome", "width"), [(openly, 2), (coin, 2), (replace(kary, absent=True), 3)], ids=["open", "coin", "declined"]
)
def test_weight_of_a_region_changes_nothing_within_it(outcome, width):
    """Shares of those who answered, too: what weighs all people of a row alike tells nothing of them."""
    plain, heavy = regional(outcome, False, width), regional(outcome, True, width)

    for row in range(3):
        assert figures(heavy.share(row, 1)) == pytest.approx(figures(plain.share(row, 1)), abs=1e-9)


def test_errors_are_linearised_over_the_reports():
    """As written out with one row for each report, whatever their weights: cells and shares within rows."""
    columns = reported(np.array(REGIONAL)[:, :2])
    n = len(columns[0])
    weights = 0.5 + (np.arange(n) * 37 % 11) / 4
    table = weighted(REGION, coin, columns, weights, least=0)
    inside, score = columns[0] == 1, (columns[1] - 0.25) / 0.5
    cell = (weights * inside * score).sum() / weights.sum()
    share = (weights * inside * score).sum() / (weights * inside).sum()
    of_cell = weights * (inside * score - cell) / weights.sum()
    of_share = weights * inside * (score - share) / (weights * inside).sum()

    for found, point, parts in ((table.cell(1, 1), cell, of_cell), (table.share(1, 1), share, of_share)):
        assert found.raw == pytest.approx(point, rel=1e-9)
        assert found.std_error == pytest.approx(np.sqrt((parts**2).sum() * n / (n - 1)), rel=1e-9)


def test_few_effective_people_are_said():
    columns = reported([[20, 10], [100, 100]])
    weights = np.where((columns[0] == 0) & (np.arange(230) % 15 > 0), 1.0, 12.0)
    few = weighted(openly, coin, columns, weights, least=0)

    assert few.few_people() == ("the weights leave fewer than 10 effective people in no of 'q'",)
    assert few.joint.people(0) == pytest.approx(52**2 / (28 + 2 * 144))
    assert TwoWayTable(pair(openly, coin, [[4, 3], [100, 100]]), Rule(least=0)).few_people() == ()


def test_earlier_channels_are_pooled_by_their_precision():
    strata = [count_pairs(coin, coin, reported(COINS)), count_pairs(warner, warner, reported([[350, 250], [220, 180]]))]
    pooled = TwoWayTable(joint(strata, 2000), Rule())
    one, other = (TwoWayTable(joint([each], 1000), Rule()) for each in strata)

    assert pooled.joint.shares[0] > 3 * pooled.joint.shares[1]
    assert sum(pooled.joint.shares) == pytest.approx(1)
    for place in ((0, 0), (1, 1)):
        low, high = sorted((one.raw[place], other.raw[place]))
        assert low < pooled.raw[place] < high
    assert pooled.cell(1, 1).std_error < one.cell(1, 1).std_error < other.cell(1, 1).std_error


def test_wide_limits_say_so():
    few = TwoWayTable(pair(coin, coin, [[6, 5], [4, 5]]), Rule())

    assert TOO_FEW in few.share(1, 1).warnings
    assert TwoWayTable(TWO_COINS, Rule()).cell(1, 1).warnings == ()


def test_small_public_groups_are_left_out_beside_a_randomized_answer():
    four = variable(public(one_of(4, {})))
    whole = pair(four, coin, [[50, 40], [2, 1], [30, 20], [1, 0]])

    table, others = TwoWayTable(whole, Rule()), TwoWayTable(pair(four, coin, [[50, 40], [0, 0], [30, 20]]), Rule())

    assert table.joint.first.categories == ("c0", "c2")
    assert table.left_out == ("'q': answers of fewer than 5 people are left out: c1, c3 (n = 4)",)
    assert table.joint.n == 140
    assert table.raw == pytest.approx(others.raw[[0, 2]])
    assert TwoWayTable(whole, Rule(least=0)).joint.first.categories == ("c0", "c1", "c2", "c3")
    assert TwoWayTable(whole, Rule(least=0)).left_out == ()


def test_revision_of_whose_reports_none_is_left_is_passed_over():
    """All its people gave answers of fewer than five: the table is that of the other revision."""
    three = variable(public(one_of(3, {})))
    earlier, newest = (
        pair(three, coin, counts).strata for counts in ([[0, 0], [2, 1], [0, 0]], [[50, 40], [0, 0], [30, 20]])
    )

    table, others = (TwoWayTable(joint(strata, 143), Rule()) for strata in ([*earlier, *newest], newest))

    assert table.left_out == ("'q': answers of fewer than 5 people are left out: c1 (n = 3)",)
    assert (table.joint.n, table.joint.deff) == (140, 1)
    assert table.raw == pytest.approx(others.raw[[0, 2]])
    assert independence_of(table.joint) == independence_of(TwoWayTable(joint(newest, 143), Rule()).joint)


def test_small_public_groups_are_one_beside_a_public_answer():
    """The margins would tell the answers of people left out, so fewer than five are counted with the next ones."""
    four = variable(public(one_of(4, {})))
    whole = pair(four, openly, [[50, 40], [2, 1], [30, 20], [1, 2]])

    merged = TwoWayTable(whole, Rule())

    assert (merged.joint.first.categories, merged.left_out) == (("c0", "c2", "few"), ())
    assert merged.raw[2] == pytest.approx(TwoWayTable(whole, Rule(least=0)).raw[[1, 3]].sum(axis=0))


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
    samples = [[[30, 2], [9, 1]], [[150, 30], [20, 0]], [[60, 2], [30, 40]], [[49, 1], [0, 0]], [[5, 40], [6, 1]]]
    pairs: list[Joint] = [pair(one, other, counts) for counts in samples
                          for one, other in ((coin, coin), (openly, strong), (strong, openly))]  # fmt: skip
    for reports in pairs:
        for found, low, high in (
            (difference(reports, (0, 1), 1, (-1.0, 1.0), Z), -1.0, 1.0),
            (ratio(reports, (0, 1), 1, Z), 0.0, math.inf),
            (phi(reports, Z), -1.0, 1.0),
        ):
            assert low <= found.low <= found.high <= high
            if found.raw is not None:
                assert found.low <= min(max(found.raw, low), high) <= found.high


def test_two_of_three_public_groups_are_compared_as_if_they_were_alone() -> None:
    all_three = pair(three, strong, [[150, 30], [70, 60], [19, 1]])

    found = difference(all_three, (0, 2), 1, (-1.0, 1.0), Z)

    assert found == pytest.approx(difference(pair(openly, strong, THIN), (0, 1), 1, (-1.0, 1.0), Z), abs=5e-4)


def test_nothing_is_known_of_a_group_of_nobody() -> None:
    channel = CellChannel(cell_moments((1.0, 0.0), (1.0, 0.0)), 50.0)

    found = ThinTable(0.0, 0.0, 0.1, (channel,)).limits(lambda shares, t: (-t * shares[1], (1.0,)), (-1.0, 1.0), Z)

    assert found == (-1.0, 1.0)


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
            seen.log_likelihood(np.array([[share, a * (1 - share)], [b * (1 - share), (1 - a - b) * (1 - share)]]))
            for a, b in grid
        )

    def of_row(share: float) -> float:
        return max(
            seen.log_likelihood(np.array([[a * share, a * (1 - share)], [(1 - a) * b, (1 - a) * (1 - b)]]))
            for a in steps[1:-1]
            for b in steps
        )

    top = seen.log_likelihood(table.table)
    for (point, low, high), profile in ((table.cell(0, 0), of_cell), (table.share(0, 0) or (0, 0, 0), of_row)):
        assert low < point < high
        for limit in (low, high):
            assert 2 * (top - profile(limit)) == pytest.approx(Z**2, abs=0.15)


def test_limits_of_a_cell_that_no_report_shows() -> None:
    """Exact reports of 100 others: the likelihood (1 - share)^100 has dropped by Z^2 / 2 at the limit."""
    seen = ObservedReports(np.eye(4), np.array([0.0, 30, 20, 50]))
    found = LikeliestTable(seen, (2, 2), frozenset(), Z).cell(0, 0)
    assert found == pytest.approx((0, 0, 1 - math.exp(-(Z**2) / 200)), abs=1e-4)
