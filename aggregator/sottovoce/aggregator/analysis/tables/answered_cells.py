"""Compute cells and shares among the people who answered, in tables of variables that may be left unanswered.

Hypothesis  Of a cell, t = P(i, j) / P(both answered): h = z_i z_j - t r r', r = 1 - z_absent (1 if everybody answers)
            and r' likewise. Of a share within a row, t = P(i, j) / P(i, column answered): h = z_i (z_j - t r').
Limits      { t : |num - t den| <= z sqrt(V(t)) + gap/(2n) } as in ``answered_shares``; V(t) = sum over true cells of
            P(x, x') E[h^2 | x, x'] / n, which factors into moments of either variable, with P the estimated table,
            changed so that the hypothesis holds in it.
Difference  Of the shares of two groups, s_1 - s_0 = t: Q = m_1 A_0 - m_0 A_1 - t A_0 A_1, m = P(group, j) and
            A = P(group, answered), with the variance of its linear part in the table with this t and the same common
            share.
Block       Two questions of one block have scores of their own for a cell, and the moments are enumerated, see
            ``block_moments``.
Rest        All other answers of a variable have the same moments, so a table of three by three is enough: the
            category itself, the other answers, no answer.
Arguments   ``table`` has the unclipped shares of all cells, also of those without an answer, ``place`` is (row,
            column), ``z`` a normal quantile of the confidence level.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
from sottovoce.aggregator.analysis.tables.block_moments import HypothesisMoments, block_groups, block_moments
from sottovoce.aggregator.analysis.tables.pair_moments import Joint, Pairs
from sottovoce.aggregator.analysis.tables.score_intervals import Limits, edge
from sottovoce.aggregator.estimators.answered_shares import ScoreMoments, ratio_limits, score_moments, support_both
from sottovoce.aggregator.estimators.blocks.joint_channel import block_pair
from sottovoce.aggregator.estimators.variable import Floats, Variable


def may_decline(joint: Joint) -> bool:
    """Return True if people may have left one of the two variables unanswered."""
    return joint.first.absent or joint.second.absent


def answered_shape(joint: Joint) -> tuple[int, int]:
    """Return the numbers of rows and columns without those of people who gave no answer."""
    return len(joint.first.answered), max(len(joint.second.answered), 1)


def cell_among_answered(joint: Joint, table: Floats, place: tuple[int, int], z: float) -> Limits:
    """Return limits for the share of a cell among the people who answered both questions."""
    rows, columns = answered_shape(joint)
    whole, part = float(table[:rows, :columns].sum()), float(table[place])
    small = _three_by_three(joint, table, place)
    block = float(small[:2, :2].sum())

    def changed(t: float) -> Floats:
        found = small.copy()
        # The other cells keep their proportions, so the share of people who answered both stays as estimated.
        others = block - small[0, 0]
        found[:2, :2] *= (1 - t) * block / others if others > 0 else 0.0
        found[0, 0] = t * block
        return found

    return _limits(joint, place, (part, whole), changed, 0, z)


def share_among_answered(joint: Joint, table: Floats, place: tuple[int, int], z: float) -> Limits:
    """Return limits for the share of a column within a row, among the people who answered."""
    _, columns = answered_shape(joint)
    whole, part = float(table[place[0], :columns].sum()), float(table[place])
    small = _three_by_three(joint, table, place)
    row = float(small[0, :2].sum())

    def changed(t: float) -> Floats:
        found = small.copy()
        found[0, :2] = t * row, (1 - t) * row
        return found

    return _limits(joint, place, (part, whole), changed, 1, z)


def difference_among_answered(joint: Joint, table: Floats, groups: tuple[int, int], column: int, z: float) -> Limits:
    """Return limits for a column's share in the second group less that in the first, among the people who answered."""
    _, columns = answered_shape(joint)
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
        (share**2 / pairs.size * pairs.heaviness(lines.T, across.T), _groups_of(pairs, groups, column))
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


class _Groups(Protocol):
    def of_difference(self, truth: Floats, slopes: tuple[float, ...]) -> float:
        """Return E[h^2] for h = sum over groups of z_group (slope z_j + slope r), in the table ``truth``, (3, 3)."""
        ...


class _GroupsApart(NamedTuple):
    """Second moments of the scores of two groups given the truth, (2, 2, 3), and those of the outcome."""

    groups: Floats
    column: ScoreMoments

    def of_difference(self, truth: Floats, slopes: tuple[float, ...]) -> float:
        own, crossed, answered = map(np.array, self.column)
        total = 0.0
        for one in (0, 1):
            for other in (0, 1):
                (a, c), (b, d) = slopes[2 * one : 2 * one + 2], slopes[2 * other : 2 * other + 2]
                outcome = a * b * own + (a * d + b * c) * crossed + c * d * answered
                total += float(self.groups[one, other] @ truth @ outcome)
        return total


def _groups_of(pairs: Pairs, groups: tuple[int, int], column: int) -> _Groups:
    if block_pair(pairs.first, pairs.second) is not None:
        return block_groups(pairs, groups, column)
    return _GroupsApart(group_moments(pairs.first, groups), score_moments(pairs.second, column))


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


def _limits(
    joint: Joint, place: tuple[int, int], ratio: tuple[float, float], changed: Callable[[float], Floats],
    which: int, z: float,
) -> Limits:  # fmt: skip
    """Return limits of the share of a cell, ``which`` 0, or within its row, 1; ``changed`` gives the table of t."""
    sizes = len(joint.first.categories), len(joint.second.categories)
    rows, columns = (_states(*each).T for each in zip(sizes, answered_shape(joint), place, strict=True))
    channels, strata = joint.channels(*place), []
    for pairs, channel in zip(joint.strata, channels, strict=True):
        moments = _apart(pairs, place) if channel.block is None else block_moments(pairs, place)
        strata.append((channel.factor * pairs.heaviness(rows, columns), moments[which]))

    def variance(t: float) -> float:
        return sum(float((factors * changed(t) * moments.at(t)).sum()) for factors, moments in strata)

    return ratio_limits(*ratio, variance, max(each.step for each in channels), z)


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
    rows, columns = (_states(*each) for each in zip(table.shape, answered_shape(joint), place, strict=True))
    found: Floats = rows @ clipped @ columns.T
    return found


def _states(size: int, answered: int, at: int) -> Floats:
    """Return which categories are the one in question, another answer, no answer, (3, size)."""
    own, absent = np.eye(size)[at], (np.arange(size) >= answered).astype(float)
    return np.stack([own, 1 - own - absent, absent])
