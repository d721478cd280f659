"""Compute cells and shares among the people who answered, in tables of variables that may be left unanswered.

Hypothesis  Of a cell, t = P(i, j) / P(both answered): h = z_i z_j - t r r', r = 1 - z_absent (1 if everybody answers)
            and r' likewise. Of a share within a row, t = P(i, j) / P(i, column answered): h = z_i (z_j - t r').
Limits      { t : |num - t den| <= z sqrt(V(t)) + gap/(2n) } as in ``answered_shares``; V(t) = sum over true cells of
            P(x, x') E[h^2 | x, x'] / n, which factors into moments of either variable, with P the estimated table,
            changed so that the hypothesis holds in it.
Difference  Of the shares of two groups, s_1 - s_0 = t: Q = m_1 A_0 - m_0 A_1 - t A_0 A_1, m = P(group, j) and
            A = P(group, answered), with the variance of its linear part in the table with this t and the same common
            share.
Rest        All other answers of a variable have the same moments, so a table of three by three is enough: the
            category itself, the other answers, no answer.
Arguments   ``table`` has the unclipped shares of all cells, also of those without an answer, ``place`` is (row,
            column), ``z`` a normal quantile of the confidence level.

Two questions of one block have scores of their own for a cell, so their second moments are enumerated:

States      Of each question three groups of categories: the one in question, the other answers, no answer; or two
            groups that are compared, and the rest. All categories of a group have the same moments.
Chances     P(reported states | true states) = sum over patterns of matches m of N_m w(m), N_m the number of pairs of
            reported categories in these states that match a given truth in the pattern m.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.analysis.tables.pair_moments import Joint, Pairs
from sottovoce.aggregator.analysis.tables.score_intervals import Limits, edge
from sottovoce.aggregator.estimators.answered_shares import ScoreMoments, ratio_limits, score_moments, support_both
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


def block_groups(pairs: Pairs, groups: tuple[int, int], column: int) -> "BlockGroups | _GroupsApart":
    """Return the moments of two groups (categories of the first question) and an outcome (category of the second)."""
    if block_pair(pairs.first, pairs.second) is None:
        return _GroupsApart(group_moments(pairs.first, groups), score_moments(pairs.second, column))
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
    return (supported - b) / (a - b)


def _chances(pairs: Pairs, first: Sequence[int], second: Sequence[int]) -> Floats:
    """Return P(reported states | true states), (truth, truth', reported, reported')."""
    pair = block_pair(pairs.first, pairs.second)
    if pair is None:
        raise AssertionError("the two questions are of one block")
    (match, differ), (match2, differ2) = _numbers(first), _numbers(second)
    patterns = ((match, match2), (match, differ2), (differ, match2), (differ, differ2))
    return sum(
        (chance * np.einsum("ts,uv->tusv", *each) for chance, each in zip(pair.chances, patterns, strict=True)),
        np.zeros(()),
    )


def _numbers(sizes: Sequence[int]) -> tuple[Floats, Floats]:
    """Return how many reported categories of each state match a truth of each state, and how many do not, (3, 3)."""
    match = np.eye(len(sizes))
    return match, np.array(sizes) - match


def share_among_answered(joint: Joint, table: Floats, place: tuple[int, int], z: float, in_row: bool) -> Limits:
    """Return limits for the share of a cell among the people who answered both questions, or of those ``in_row``."""
    rows, columns = joint.answered_shape
    whole = table[place[0], :columns] if in_row else table[:rows, :columns]
    small = _three_by_three(joint, table, place)
    people = float((small[0, :2] if in_row else small[:2, :2]).sum())

    def changed(t: float) -> Floats:
        found = small.copy()
        if in_row:
            found[0, :2] = t * people, (1 - t) * people
            return found
        # The other cells keep their proportions, so the share of people who answered both stays as estimated.
        others = people - small[0, 0]
        found[:2, :2] *= (1 - t) * people / others if others > 0 else 0.0
        found[0, 0] = t * people
        return found

    sizes = len(joint.first.categories), len(joint.second.categories)
    groups = [_states(*each).T for each in zip(sizes, joint.answered_shape, place, strict=True)]
    channels, strata = joint.channels(*place), []
    for pairs, channel in zip(joint.strata, channels, strict=True):
        moments = _apart(pairs, place) if block_pair(pairs.first, pairs.second) is None else block_moments(pairs, place)
        strata.append((channel.share**2 / channel.n * pairs.heaviness(*groups), moments[in_row]))

    def variance(t: float) -> float:
        return sum(float((factors * changed(t) * moments.at(t)).sum()) for factors, moments in strata)

    return ratio_limits(float(table[place]), float(whole.sum()), variance, max(each.step for each in channels), z)


def difference_among_answered(joint: Joint, table: Floats, groups: tuple[int, int], column: int, z: float) -> Limits:
    """Return limits for a column's share in the second group less that in the first, among the people who answered."""
    _, columns = joint.answered_shape
    clipped = np.maximum(table, 0.0) / max(float(np.maximum(table, 0.0).sum()), 1e-12)
    own = np.eye(len(table))[list(groups)]
    lines = np.vstack([own, 1 - own.sum(axis=0)])
    small = lines @ clipped @ _states(table.shape[1], columns, column).T
    answered = small[:2, :2].sum(axis=1)
    # A group in which no one answered has no share, so every difference is possible.
    if min(answered) <= 0:
        return -1.0, 1.0
    part = table[list(groups), column]
    whole = table[list(groups), :columns].sum(axis=1)
    common = float(small[:2, 0].sum() / answered.sum())
    across = _states(table.shape[1], columns, column)
    strata = [
        (share**2 / pairs.size * pairs.heaviness(lines.T, across.T), block_groups(pairs, groups, column))
        for pairs, share in zip(joint.strata, joint.shares, strict=True)
    ]

    def inside(t: float) -> bool:
        # The hypothesis moves both shares so that the share of both groups together stays as estimated.
        shares = np.clip([common - t * answered[1] / answered.sum(), common + t * answered[0] / answered.sum()], 0, 1)
        truth = small.copy()
        truth[:2, 0], truth[:2, 1] = shares * answered, (1 - shares) * answered
        first, second = shares
        # Gradient of Q in m_0, A_0, m_1, A_1 at the hypothesis.
        slopes = (-answered[1], (second - t) * answered[1], answered[0], -(first + t) * answered[0])
        variance = sum(scores.of_difference(truth * factors, slopes) for factors, scores in strata)
        value = part[1] * whole[0] - part[0] * whole[1] - t * whole[0] * whole[1]
        return bool(abs(value) <= z * math.sqrt(max(variance, 0.0)))

    point = min(max(float(small[1, 0] / answered[1] - small[0, 0] / answered[0]), -1.0), 1.0)
    return edge(inside, point, -1.0), edge(inside, point, 1.0)


class _GroupsApart(NamedTuple):
    """Second moments of the scores of two groups given the truth, (2, 2, 3), and those of the outcome."""

    groups: Floats
    column: ScoreMoments

    def of_difference(self, truth: Floats, slopes: tuple[float, ...]) -> float:
        """Return E[h^2] for h = sum over groups of z_group (slope z_j + slope r), in the table ``truth``, (3, 3)."""
        own, crossed, answered = map(np.array, self.column)
        total = 0.0
        for one in (0, 1):
            for other in (0, 1):
                (a, c), (b, d) = slopes[2 * one : 2 * one + 2], slopes[2 * other : 2 * other + 2]
                outcome = a * b * own + (a * d + b * c) * crossed + c * d * answered
                total += float(self.groups[one, other] @ truth @ outcome)
        return total


def group_moments(variable: Variable, groups: tuple[int, int]) -> Floats:
    """Return E[z_g z_h | x] of two groups g, h for x the first, the second and any other category, (2, 2, 3)."""
    found = np.empty((2, 2, 3))
    for place, group in enumerate(groups):
        own, other, _ = score_moments(replace(variable, absent=False), group).own
        found[place, place] = [own, other, other] if place == 0 else [other, own, other]
    if len(variable.categories) == 2:
        # The scores sum to 1: z_0 z_1 = z_1 - z_1^2.
        found[0, 1] = found[1, 0] = np.array([0.0, 1.0, 0.0]) - found[1, 1]
        return found
    # z_0 z_1 depends on the truth only through the probability that a report supports both groups.
    (a, b), (within, without) = variable.channels[groups[0]], support_both(variable)
    inside, outside = (within - a * b) / (a - b) ** 2, (without - b * b) / (a - b) ** 2
    found[0, 1] = found[1, 0] = [inside, inside, outside]
    return found


def _apart(pairs: Pairs, place: tuple[int, int]) -> tuple[HypothesisMoments, HypothesisMoments]:
    """Return the moments of a cell and of a share within a row, for variables that are reported apart."""
    row, column = score_moments(pairs.first, place[0]), score_moments(pairs.second, place[1])
    own = np.outer(row.own, column.own)
    return (
        HypothesisMoments(own, np.outer(row.crossed, column.crossed), np.outer(row.answered, column.answered)),
        HypothesisMoments(own, np.outer(row.own, column.crossed), np.outer(row.own, column.answered)),
    )


def _three_by_three(joint: Joint, table: Floats, place: tuple[int, int]) -> Floats:
    """Return the clipped table of the category, the other answers and no answer, of both variables."""
    # Variances are moments of a possible table, so negative estimates are set to 0 and the rest rescaled.
    clipped = np.maximum(table, 0.0)
    clipped = clipped / max(float(clipped.sum()), 1e-12)
    rows, columns = (_states(*each) for each in zip(table.shape, joint.answered_shape, place, strict=True))
    return rows @ clipped @ columns.T


def _states(size: int, answered: int, at: int) -> Floats:
    """Return which categories are the one in question, another answer, no answer, (3, size)."""
    own, absent = np.eye(size)[at], (np.arange(size) >= answered).astype(float)
    return np.stack([own, 1 - own - absent, absent])
