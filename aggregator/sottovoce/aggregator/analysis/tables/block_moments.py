"""Compute second moments of scores among the people who answered, for two questions of one block.

States      Of each question three groups of categories: the one in question, the other answers, no answer; or two
            groups that are compared, and the rest. All categories of a group have the same moments.
Chances     P(reported states | true states) = sum over patterns of matches m of N_m w(m), N_m the number of pairs of
            reported categories in these states that match a given truth in the pattern m.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.analysis.tables.pair_moments import Pairs
from sottovoce.aggregator.estimators.blocks.joint_channel import block_pair
from sottovoce.aggregator.estimators.variable import Floats, Variable


class HypothesisMoments(NamedTuple):
    """Second moments E[u^2], E[u v], E[v^2] given the truth, (3, 3) each, of the scores u of a part, v of its whole."""

    part: Floats
    crossed: Floats
    whole: Floats

    def at(self, t: float) -> Floats:
        """Return E[(u - t v)^2 | x, x'], (3, 3)."""
        return self.part - 2 * t * self.crossed + t * t * self.whole


class _Question(NamedTuple):
    """A question by its three states, with the sizes and scores of each: of the category, and of having answered."""

    sizes: tuple[int, ...]
    own: Floats
    answered: Floats
    answers: int


def block_moments(pairs: Pairs, place: tuple[int, int]) -> tuple[HypothesisMoments, HypothesisMoments]:
    """Return the moments of a cell (row, column) among those who answered both, and of a share within its row."""
    first, second = (_question(*each) for each in zip((pairs.first, pairs.second), place, strict=True))
    chances, score = _chances(pairs, first.sizes, second.sizes), pairs.score
    part = score.of(first.own[:, None], second.own)
    whole = score.of(first.answered[:, None], second.answered, (first.answers, second.answers))
    row = score.of(first.own[:, None], second.answered, (1, second.answers))
    return _moments(chances, part, whole), _moments(chances, part, row)


class BlockGroups(NamedTuple):
    """Two groups and an outcome, of one block.

    Attributes:
        chances: P(reported states | true states), (3, 3, 3, 3).
        shares: scores of the outcome in the first and the second group, for each reported state, (2, 3, 3).
        answered: scores of having answered in each group, likewise.
    """

    chances: Floats
    shares: Floats
    answered: Floats

    def of_difference(self, truth: Floats, slopes: tuple[float, ...]) -> float:
        """Return E[h^2] for h = sum over groups of slope times share plus slope times answered, in a table (3, 3)."""
        h = np.tensordot(slopes[::2], self.shares, 1) + np.tensordot(slopes[1::2], self.answered, 1)
        return float((truth * np.einsum("tusv,sv->tu", self.chances, h**2)).sum())


def block_groups(pairs: Pairs, groups: tuple[int, int], column: int) -> BlockGroups:
    """Return the moments of two groups (categories of the first question) and an outcome (category of the second)."""
    second = _question(pairs.second, column)
    sizes = (1, 1, len(pairs.first.categories) - 2)
    scores = [_scores(pairs.first, group, np.eye(3)[place]) for place, group in enumerate(groups)]
    shares = [pairs.score.of(each[:, None], second.own) for each in scores]
    answered = [pairs.score.of(each[:, None], second.answered, (1, second.answers)) for each in scores]
    return BlockGroups(_chances(pairs, sizes, second.sizes), np.stack(shares), np.stack(answered))


def _moments(chances: Floats, part: Floats, whole: Floats) -> HypothesisMoments:
    means = (np.einsum("tusv,sv->tu", chances, scores) for scores in (part**2, part * whole, whole**2))
    return HypothesisMoments(*means)


def _question(variable: Variable, category: int) -> _Question:
    answers = len(variable.answered)
    own, ones = _scores(variable, category, np.eye(3)[0]), np.ones(3)
    answered = 1 - _scores(variable, -1, np.eye(3)[2]) if variable.absent else ones
    return _Question((1, answers - 1, int(variable.absent)), own, answered, answers)


def _scores(variable: Variable, category: int, supported: Floats) -> Floats:
    a, b = variable.channels[category]
    found: Floats = (supported - b) / (a - b)
    return found


def _chances(pairs: Pairs, first: Sequence[int], second: Sequence[int]) -> Floats:
    """Return P(reported states | true states), (truth, truth', reported, reported')."""
    pair = block_pair(pairs.first, pairs.second)
    if pair is None:
        raise AssertionError("the two questions are of one block")
    (match, differ), (match2, differ2) = _numbers(first), _numbers(second)
    patterns = ((match, match2), (match, differ2), (differ, match2), (differ, differ2))
    found: Floats = sum(
        (chance * np.einsum("ts,uv->tusv", *each) for chance, each in zip(pair.chances, patterns, strict=True)),
        np.zeros(()),
    )
    return found


def _numbers(sizes: Sequence[int]) -> tuple[Floats, Floats]:
    """Return how many reported categories of each state match a truth of each state, and how many do not, (3, 3)."""
    match = np.eye(len(sizes))
    return match, np.array(sizes) - match
