"""The channel of a set of variables: one block's together, all others apart."""

import numpy as np
import pytest
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

from tests.blocks import block, blocks, channel, in_block
from tests.documents import question

SURVEY = blocks(
    block(in_block("a"), in_block("b", 3), in_block("c", 4), odds="20"),
    block(in_block("d"), in_block("e", 3), in_block("f", 4), odds="20", name="other"),
    {**question({"name": "coin_flip"}), "name": "g"},
)
A, B, C, D, E, _, G = (variables_of(each)[0] for each in SURVEY.questions)


def reported(*variables: Variable) -> list[np.ndarray]:
    """All combinations of reported values."""
    return [each.ravel() for each in np.indices([len(each.categories) for each in variables])]


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
