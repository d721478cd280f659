from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from sottovoce.aggregator.estimators.blocks.block_channel import block_channel
from sottovoce.aggregator.planning.simulated_survey import randomized, simulate_block, simulate_survey
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws, ask_batch, seeded
from sottovoce.shared.mechanisms.joint_rr import JointRR
from sottovoce.shared.parse_survey import parse_survey

from tests.blocks import block as in_one_block, blocks, in_block
from tests.documents import names, survey
from tests.vectors.blocks import COIN, asks, block

RUNS = 60_000
CRITICAL = 5.0


@pytest.mark.parametrize(
    ("odds", "radius", "sizes"),
    [("9", 0, (2, 2)), ("5", 1, (2, 3, 4)), ("20", 2, (2,) * 5), ("100003/33333", 0, (2, 3))],
)
def test_reports_have_the_joint_law(odds: str, radius: int, sizes: tuple[int, ...]) -> None:
    """Chi-square of all combinations, in its own standard deviations; small totals and those that need a search."""
    mechanism = JointRR(Fraction(odds), radius, sizes)
    true = tuple(size - 1 for size in sizes)
    columns = simulate_block(mechanism, [np.full(RUNS, value) for value in true], BatchDraws(seeded(odds)))
    counts = Counter(zip(*(column.tolist() for column in columns), strict=True))
    cells = [*product(*map(range, sizes))]
    assert set(counts) <= set(cells)
    expected = [float(mechanism.probability(true, cell)) * RUNS for cell in cells]
    statistic = sum((counts[cell] - wanted) ** 2 / wanted for cell, wanted in zip(cells, expected, strict=True))
    assert abs(statistic - len(cells) + 1) / (2 * (len(cells) - 1)) ** 0.5 < CRITICAL


def test_simulated_survey_draws_a_block_together() -> None:
    """Of two equal answers with odds 9, three in four reports have both; apart it would be 25 in 36."""
    asked = parse_survey(survey(asks("x", mechanism=COIN), block("two", "9", 0, asks("a"), asks("b")), ask=1))
    truths = [np.zeros(RUNS, dtype=np.int64)] * 3
    coin, first, second = randomized(asked, truths, BatchDraws(seeded("survey")))
    assert len(first) == len(second) == RUNS - len(coin)
    assert abs(len(coin) / RUNS - 1 / 2) < 0.02
    assert abs(float(((first == 0) & (second == 0)).mean()) - 3 / 4) < 0.02


def test_table_of_two_questions_of_a_drawn_block_is_unbiased() -> None:
    """A third of the people are asked both of these: all cells lie within five standard errors of the truth."""
    asked = blocks(in_one_block(*(in_block(name, 5) for name in "abc"), odds="27") | {"ask": 2})
    draws = BatchDraws(seeded("drawn"))
    first = np.arange(RUNS) % 5
    truths = [first, np.where(np.arange(RUNS) % 3 == 0, first, 0), first]
    chosen = ask_batch(asked, RUNS, draws)
    reported = np.full((3, RUNS), -1)
    for row, who, values in zip(reported, chosen, simulate_survey(asked, truths, chosen, draws), strict=True):
        row[who] = values
    assert set((reported >= 0).sum(axis=0)) == {2}
    one, other = reported[:2, (reported[:2] >= 0).all(axis=0)]
    scores = np.array(block_channel(asked.blocks[0].mechanism, (0, 1)).scores, dtype=float)
    assert len(one) / RUNS == pytest.approx(1 / 3, abs=0.01)
    for cell in product(range(5), repeat=2):
        score = scores[(one == cell[0]).astype(int), (other == cell[1]).astype(int)]
        true = np.mean((truths[0] == cell[0]) & (truths[1] == cell[1]))
        assert abs(score.mean() - true) < 5 * score.std() / len(score) ** 0.5


def test_no_respondents_give_no_reports() -> None:
    mechanism = JointRR(Fraction(9), 0, (2, 2))
    assert [len(column) for column in simulate_block(mechanism, [np.zeros(0, dtype=np.int64)] * 2, BatchDraws())] == [
        0,
        0,
    ]


def test_options_of_other_sizes_stay_in_their_range() -> None:
    asked = parse_survey(survey(block("two", "5/2", 1, asks("a"), asks("b", "rating", choices=names(7)))))
    truths = [np.arange(700) % 2, np.arange(700) % 7]
    columns = randomized(asked, truths, BatchDraws(seeded("range")))
    assert [int(column.max()) for column in columns] == [1, 6]
