"""Tables that use half-seen reports and impossible cells: the worked examples, and limits against a dense search."""

from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.analysis.tables.crosstab import Crosstab, crosstab
from sottovoce.aggregator.analysis.tables.likeliest_cells import LikeliestTable
from sottovoce.aggregator.analysis.tables.ml_table import ObservedReports, log_likelihood

from tests.documents import question
from tests.unit.aggregator.analysis.samples import COIN, Z, asked, reported
from tests.unit.shared.test_schema import validator

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
    """Shown shares of all cells."""
    return [cell.estimate for line in found.cells for cell in line]


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
    """Likelihoods of weighted reports are none."""
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
