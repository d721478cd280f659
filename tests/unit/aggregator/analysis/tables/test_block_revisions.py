"""Corrections of a survey with a block: another option, or another block, is another channel of all its questions."""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.estimates import question_result
from sottovoce.aggregator.analysis.report_columns import Columns, read_columns, strata_of
from sottovoce.aggregator.analysis.tables.crosstab import crosstab
from sottovoce.aggregator.estimators import DEFAULT_RULE
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.spec import Survey

from tests.blocks import block, blocks, in_block, reports
from tests.documents import Document
from tests.exported import send

N = 20_000
FIVE_ERRORS = 5


def asked(*questions: Document, revision: int) -> Survey:
    """A revision of one survey."""
    return blocks(*questions, name="block", revision=revision)


def columns_of(storage: SQLiteStorage, *answered: tuple[Survey, NDArray[np.int64]]) -> Columns:
    """Reports of people with these true answers, (n, questions), to each revision."""
    rng = np.random.default_rng(5)
    for survey, truth in answered:
        storage.publish(survey)
        send(storage, survey, reports(survey.blocks[0].mechanism, truth, rng).tolist())
    return read_columns(storage, storage.revisions("block"))


def truths(sizes: tuple[int, ...], seed: int) -> NDArray[np.int64]:
    """True answers that depend on the first one."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 2, N) * (rng.random(N) < 0.6)
    rest = [np.where(rng.random(N) < 0.5, first, rng.integers(0, size, N)) for size in sizes[1:]]
    return np.column_stack([first, *rest])


def test_correction_that_adds_an_option_changes_the_channel_of_all_and_biases_none(storage: SQLiteStorage) -> None:
    """Shares and tables of the unchanged questions take both revisions, and cells with the new option its own."""
    before = asked(block(in_block("a"), in_block("b"), in_block("c", 3), odds="20"), revision=1)
    after = asked(block(in_block("a"), in_block("b"), in_block("c", 4), odds="20"), revision=2)
    first, second = truths((2, 2, 3), 1), truths((2, 2, 4), 2)
    columns = columns_of(storage, (before, first), (after, second))
    both = np.concatenate([first, second])
    strata = strata_of(columns, after.questions[0])
    assert strata[0][0] != strata[1][0]
    [share] = question_result(after.questions[0], strata, DEFAULT_RULE).estimates
    assert abs(share.raw - both[:, 0].mean()) < FIVE_ERRORS * share.std_error
    table = crosstab(columns, "a", "b")
    for row, column in product((0, 1), repeat=2):
        cell = table.cells[row][column]
        true = np.mean((both[:, 0] == row) & (both[:, 1] == column))
        assert abs(cell.raw - true) < FIVE_ERRORS * cell.std_error
    changed = crosstab(columns, "a", "c")
    assert table.n == 2 * N
    assert changed.cells[1][3].raw == pytest.approx(np.mean((second[:, 0] == 1) & (second[:, 2] == 3)), abs=0.03)


def test_correction_that_moves_a_question_within_its_block_is_read_by_name(storage: SQLiteStorage) -> None:
    """The order of a block's questions is part of its channel, and not of what they mean."""
    before = asked(block(in_block("a"), in_block("b", 3)), revision=1)
    after = asked(block(in_block("b", 3), in_block("a")), revision=2)
    first, second = truths((2, 3), 1), truths((2, 3), 2)
    columns = columns_of(storage, (before, first), (after, second[:, ::-1]))
    both = np.concatenate([first, second])
    table = crosstab(columns, "a", "b")
    assert table.n == 2 * N
    for row, column in product((0, 1), range(3)):
        cell = table.cells[row][column]
        assert abs(cell.raw - np.mean((both[:, 0] == row) & (both[:, 1] == column))) < FIVE_ERRORS * cell.std_error
