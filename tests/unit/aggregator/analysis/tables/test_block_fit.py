"""Likeliest shares of a block, and how well its channel explains the reports."""

import numpy as np
import pytest
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.tables.block_fit import fit_block
from sottovoce.shared.errors import EstimateError

from tests.blocks import block, blocks, channel, in_block, reports
from tests.documents import question

SURVEY = blocks(
    block(in_block("a"), in_block("b", 3), in_block("c"), odds="20"), {**question({"name": "coin_flip"}), "name": "d"}
)
MECHANISM = SURVEY.blocks[0].mechanism
TRUTH = np.array([0.4, 0.1, 0.05, 0.05, 0.1, 0.02, 0.08, 0.02, 0.03, 0.05, 0.05, 0.05])


def columns(rows: np.ndarray) -> Columns:
    """These reports, (n, 3)."""
    named = dict(zip("abc", rows.T, strict=True))
    return Columns.from_arrays(SURVEY, {**named, "d": np.zeros(len(rows), int)})


def test_expected_reports_fit_exactly() -> None:
    """The likeliest table is the truth, the distance is 0 and needs no bootstrap."""
    cells, chances = channel(MECHANISM)
    counts = np.round(1e6 * TRUTH @ chances).astype(int)
    found = fit_block(columns(np.repeat(cells, counts, axis=0)), ["a", "b", "c"])

    assert found.table.ravel() == pytest.approx(TRUTH, abs=1e-3)
    assert found.distance < 1e-3
    assert found.p > 0.9
    for share in found.shares:
        assert share.alone == pytest.approx(share.likeliest, abs=1e-3)
    assert [share.category for share in found.shares] == ["no", "yes", "c0", "c1", "c2", "no", "yes"]


def test_block_that_asks_some_of_its_questions_is_fitted_from_reports_with_these() -> None:
    """Every set equally often; the third question is in reports that have one of the two alone."""
    drawn = blocks(block(*map(in_block, "abc")) | {"ask": 2})
    cells, counts = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [500, 200, 150, 150]
    values = np.full((3000, 3), np.nan)
    for number, places in enumerate([[0, 1], [0, 2], [1, 2]]):
        values[1000 * number : 1000 * (number + 1), places] = np.repeat(cells, counts, axis=0)
    found = fit_block(Columns.from_arrays(drawn, dict(zip("abc", values.T, strict=True))), ["a", "b"], draws=0)

    # Of four combinations with weights 9, 1, 1, 1.
    assert found.n == 1000
    assert found.table.ravel() == pytest.approx([(count / 1000 - 1 / 12) * 12 / 8 for count in counts], abs=1e-6)


def test_reports_drawn_apart_do_not_fit_a_block() -> None:
    """A client that draws each question by itself has other combinations than the block explains."""
    rng = np.random.default_rng(4)
    cells, _ = channel(MECHANISM)
    truth = cells[np.zeros(4000, int)]
    honest = fit_block(columns(reports(MECHANISM, truth, rng)), ["a", "b", "c"])
    apart = truth.copy()
    for place in range(3):
        a, _ = MECHANISM.marginal(place)
        other = (truth[:, place] + 1 + rng.integers(0, MECHANISM.sizes[place] - 1, 4000)) % MECHANISM.sizes[place]
        apart[:, place] = np.where(rng.random(4000) < float(a), truth[:, place], other)

    assert honest.p > 0.02
    assert fit_block(columns(apart), ["a", "b", "c"]).p == pytest.approx(0.005)


def test_likeliest_share_of_a_rare_answer_varies_less_than_the_share_alone() -> None:
    """Over samples of 300 reports of a population in which few say yes to anything."""
    rng, (cells, chances) = np.random.default_rng(5), channel(MECHANISM)
    shares = np.array([0.94, 0, 0.02, 0, 0, 0, 0.01, 0, 0, 0, 0.02, 0.01]) @ chances
    found = []
    for _ in range(40):
        rows = np.repeat(cells, rng.multinomial(300, shares), axis=0)
        fitted = fit_block(columns(rows), ["a", "c"], draws=0).shares[1]
        found.append((min(max(fitted.alone, 0), 1), fitted.likeliest))
    alone, likeliest = np.std(found, axis=0)
    assert likeliest < alone


@pytest.mark.parametrize(
    ("names", "message"), [(["a"], "not questions of one block"), (["a", "d"], "not questions of one block")]
)
def test_questions_of_other_blocks_are_refused(names: list[str], message: str) -> None:
    """One question, or one that is drawn apart."""
    with pytest.raises(EstimateError, match=message):
        fit_block(columns(np.zeros((3, 3), int)), names)
