"""Channels of sets of questions: one block's together or alone, all others apart; published figures, exact inverses."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from sottovoce.aggregator.estimators import estimate
from sottovoce.aggregator.estimators.blocks.block_channel import BlockChannel
from sottovoce.aggregator.estimators.blocks.joint_channel import (
    APART,
    blocks_of,
    joint_likelihood,
    joint_scores,
    pair_score,
)
from sottovoce.aggregator.estimators.question_variables import check_pair, variables_of
from sottovoce.aggregator.estimators.variable import Variable
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.mechanisms.joint_rr import JointRR
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Question

from tests.blocks import block, blocks, channel, in_block
from tests.documents import names, question, survey

SURVEY = blocks(
    block(in_block("a"), in_block("b", 3), in_block("c", 4), odds="20"),
    block(in_block("d"), in_block("e", 3), in_block("f", 4), odds="20", name="other"),
    {**question({"name": "coin_flip"}), "name": "g"},
)

A, B, C, D, E, _, G = (variables_of(each)[0] for each in SURVEY.questions)


def reported(*variables: Variable) -> list[np.ndarray]:
    return [each.ravel() for each in np.indices([len(each.categories) for each in variables])]


TABLES = [
    ((2, 2), 9, 0, 0.5625, 1.6875),
    ((2, 2, 2), 27, 0, 0.4275, 1.2825),
    ((2,) * 5, 20, 1, 0.9226, 5.5357),
    ((2,) * 5, 20, 0, 1.8012, 5.4037),
    ((2,) * 10, 148, 2, 0.7648, 4.0075),
    ((2,) * 10, 148, 1, 0.9962, 3.6393),
    ((5, 5, 5), 27, 1, 1.1035, 24.1359),
    ((2,) * 10, 3, 4, 12.6985, 1053.9735),
    ((2, 2), 3, 0, 2.25, 6.75),
]

BLOCK = {
    "block": "intimate",
    "mechanism": {"name": "joint_rr", "odds": "9", "radius": 0},
    "items": [
        {"type": "boolean", "name": "a", "label": {"en": "A"}},
        {"type": "rating", "name": "b", "label": {"en": "B"}, "choices": names(3)},
    ],
}

YES_NO, RATING = parse_survey(survey(BLOCK)).questions


def test_likelihood_of_a_block_is_that_of_its_combinations() -> None:
    """Up to a constant; a question drawn apart multiplies it."""
    found = joint_likelihood([A, B, C], reported(A, B, C))
    _, chances = channel(SURVEY.blocks[0].mechanism)
    assert found.reshape(24, 24) == pytest.approx(chances.T)

    crossed = joint_likelihood([A, G, B], reported(A, G, B))
    alone = joint_likelihood([A, B], reported(A, B)).reshape(2, 3, 2, 3)
    coin = G.likelihood(np.arange(2))
    assert crossed == pytest.approx(np.einsum("abij,gk->agbikj", alone, coin).reshape(crossed.shape))


def test_scores_are_unbiased_for_combinations() -> None:
    """Of two and of three questions of a block, and of one beside."""
    _, chances = channel(SURVEY.blocks[0].mechanism)
    cells = reported(A, B, C)
    for variables, places in (((A, C), (0, 2)), ((A, B, C), (0, 1, 2))):
        wanted = tuple(len(each.categories) - 1 for each in variables)
        scores = joint_scores(variables, wanted, [cells[place] for place in places])
        truth = np.logical_and.reduce([cells[p] == w for p, w in zip(places, wanted, strict=True)])
        assert chances @ scores == pytest.approx(truth.astype(float))


def test_score_of_a_pair_follows_from_its_questions_own() -> None:
    """The coefficients give the same figure as the channel of the pair."""
    pairs = reported(B, C)
    score = pair_score(B, C)
    for i, j in ((0, 0), (2, 3)):
        own = score.of(B.scores(pairs[0])[:, i], C.scores(pairs[1])[:, j])
        assert own == pytest.approx(joint_scores([B, C], (i, j), pairs))


def test_two_blocks_with_equal_mechanisms_are_drawn_apart() -> None:
    """The name tells them apart, not the numbers."""
    assert pair_score(A, E) == APART
    assert blocks_of([A, D, B, G, E]) == [[0, 2], [1, 4], [3]]
    alone = np.einsum("ai,dj->adij", A.likelihood(np.arange(2)), D.likelihood(np.arange(2)))
    assert joint_likelihood([A, D], reported(A, D)) == pytest.approx(alone.reshape(4, 2, 2))


def test_pair_that_a_radius_does_not_tell_is_refused() -> None:
    """Three yes/no questions with radius 1: shares are known, tables are not."""
    one, other, _ = (variables_of(each)[0] for each in
                     blocks(block(in_block("a"), in_block("b"), in_block("c"), radius=1)).questions)  # fmt: skip

    check_pair(A, B)
    with pytest.raises(EstimateError, match="a, b are reported together, and such reports do not tell"):
        check_pair(one, other)


@pytest.mark.parametrize(("sizes", "odds", "radius", "share", "cells"), TABLES)
def test_variances_of_shares_and_pair_tables(
    sizes: tuple[int, ...], odds: int, radius: int, share: float, cells: float
) -> None:
    """Of a share of 1/2, and of all cells of a pair's table of uniform answers together: four decimals."""
    mechanism = JointRR(Fraction(odds), radius, sizes)
    a, b = mechanism.marginal(0)

    assert round(float((a + b) / 2 * (1 - (a + b) / 2) / (a - b) ** 2), 4) == share
    assert round(float(BlockChannel(mechanism, (0, 1)).cell_variances()), 4) == cells


@pytest.mark.parametrize(("radius", "positions"), [(1, (0,)), (1, (0, 1)), (1, (2, 0)), (0, (0, 1, 2))])
def test_scores_invert_the_channel(radius: int, positions: tuple[int, ...]) -> None:
    """Exactly: the mean score of each combination is 1 for itself and 0 for all others."""
    found = BlockChannel(JointRR(Fraction(20), radius, (2, 3, 5)), positions)
    cells = list(product(*map(range, found.sizes)))

    def figures(patterns: np.ndarray) -> np.ndarray:
        return np.array(
            [[patterns[tuple(int(i == j) for i, j in zip(x, y, strict=True))] for y in cells] for x in cells]
        )

    assert (figures(found.chances) @ figures(found.scores) == np.eye(len(cells), dtype=int)).all()
    assert figures(found.chances).sum() == len(cells)
    table = figures(found.chances).astype(float)
    assert found.condition == pytest.approx(np.linalg.cond(table))
    assert sum(value == 1 for value in found.eigenvalues.ravel()) == 1


@pytest.mark.parametrize(
    ("sizes", "odds", "radius", "most"), [((2,) * 3, 27, 1, 1), ((2,) * 5, 20, 1, 2), ((2,) * 10, 148, 2, 3)]
)
def test_larger_sets_are_not_identified(sizes: tuple[int, ...], odds: int, radius: int, most: int) -> None:
    """Pairs, threes and fours are the first sets that a radius does not tell."""
    mechanism = JointRR(Fraction(odds), radius, sizes)

    assert all(BlockChannel(mechanism, part).identifies for part in combinations(range(len(sizes)), most))
    assert not any(BlockChannel(mechanism, part).identifies for part in combinations(range(len(sizes)), most + 1))
    assert math.isinf(BlockChannel(mechanism, tuple(range(most + 1))).condition)


def test_shares_by_the_channel_of_the_question_alone() -> None:
    """Of six combinations with weights 9 and 1 the yes/no answer is kept by 11 of 14, the other by 10 and 2 each."""
    (yes,) = estimate(YES_NO.mechanism, {0: 600, 1: 400}, YES_NO.domain)
    a, b = Fraction(11, 14), Fraction(3, 14)
    assert (yes.option, yes.raw) == ("yes", pytest.approx(float((Fraction(2, 5) - b) / (a - b))))
    shares = estimate(RATING.mechanism, {0: 500, 1: 300, 2: 200}, RATING.domain)
    assert [each.raw for each in shares] == pytest.approx(
        [float((x - Fraction(1, 7)) * Fraction(7, 4)) for x in (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5))]
    )


@pytest.mark.parametrize("question", [YES_NO, RATING])
def test_scores_are_unbiased_and_likelihoods_are_the_channel(question: Question) -> None:
    (variable,) = variables_of(question)
    assert question.mechanism is not None
    reported = np.arange(question.largest + 1)
    channel = np.array([[float(question.mechanism.probability(y, x)) for y in reported] for x in reported])
    assert channel @ variable.scores(reported) == pytest.approx(np.eye(len(reported)))
    rows = variable.likelihood(reported)
    assert rows / rows[:, :1] == pytest.approx(channel.T / channel.T[:, :1])
