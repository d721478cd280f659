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
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.analysis.tables.pair_moments import Joint, Pairs
from sottovoce.aggregator.analysis.tables.score_intervals import Limits, edge
from sottovoce.aggregator.estimators.answered_shares import ratio_limits, score_moments
from sottovoce.aggregator.estimators.blocks.joint_channel import BlockPair, block_pair
from sottovoce.aggregator.estimators.variable import Floats, Variable


class _Question(NamedTuple):
    """A question by its three states, with the sizes and scores of each: of the category, and of having answered."""

    sizes: tuple[int, ...]
    own: Floats
    answered: Floats
    answers: int


def cell_squares(pairs: Pairs, place: tuple[int, int]) -> Floats:
    """Return E[u v | x, x'], (3, 3, 3, 3), of the scores of a cell, of having answered both, and that in its row."""
    block = block_pair(pairs.first, pairs.second)
    if block is None:
        answered = [((0, 1, 0), pairs.first), ((0, 1, 1), pairs.second)]
        rows, columns = (
            np.array(score_moments(variable, category))[np.add.outer(own, own)]
            for (own, variable), category in zip(answered, place, strict=True)
        )
        return np.asarray(np.einsum("abt,abu->abtu", rows, columns))
    first, second = (_question(*each) for each in zip((pairs.first, pairs.second), place, strict=True))
    part = pairs.score.of(first.own[:, None], second.own)
    whole = pairs.score.of(first.answered[:, None], second.answered, (first.answers, second.answers))
    row = pairs.score.of(first.own[:, None], second.answered, (1, second.answers))
    return _squares(_chances(block, first.sizes, second.sizes), [part, whole, row])


def group_squares(pairs: Pairs, groups: tuple[int, int], column: int) -> Floats:
    """Return E[u v | x, x'], (4, 4, 3, 3), of the scores of an outcome and of having answered, in two groups."""
    block = block_pair(pairs.first, pairs.second)
    if block is None:
        outcome = np.array(score_moments(pairs.second, column))[np.add.outer((0, 1), (0, 1))]
        found: Floats = np.einsum("ght,iju->gihjtu", group_moments(pairs.first, groups), outcome)
        return found.reshape(4, 4, 3, 3)
    second = _question(pairs.second, column)
    sizes = (1, 1, len(pairs.first.categories) - 2)
    scores = []
    for place, group in enumerate(groups):
        own = _scores(pairs.first, group, np.eye(3)[place])[:, None]
        scores += [pairs.score.of(own, second.own), pairs.score.of(own, second.answered, (1, second.answers))]
    return _squares(_chances(block, sizes, second.sizes), scores)


def mean_square(squares: Floats, slopes: Sequence[float], truth: Floats) -> float:
    """Return E[h^2] for h = sum of slopes times scores, in a table of the truth, (3, 3)."""
    return float(np.einsum("a,b,abtu,tu->", slopes, slopes, squares, truth))


def _squares(chances: Floats, scores: Sequence[Floats]) -> Floats:
    return np.asarray(np.einsum("tusv,asv,bsv->abtu", chances, scores, scores))


def _question(variable: Variable, category: int) -> _Question:
    answers = len(variable.answered)
    own, ones = _scores(variable, category, np.eye(3)[0]), np.ones(3)
    answered = 1 - _scores(variable, -1, np.eye(3)[2]) if variable.absent else ones
    return _Question((1, answers - 1, int(variable.absent)), own, answered, answers)


def _scores(variable: Variable, category: int, supported: Floats) -> Floats:
    a, b = variable.channels[category]
    return (supported - b) / (a - b)


def _chances(pair: BlockPair, first: Sequence[int], second: Sequence[int]) -> Floats:
    """Return P(reported states | true states), (truth, truth', reported, reported')."""
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


def share_among_answered(
    joint: Joint, table: Floats, place: tuple[int, int], z: float, in_row: bool,
    added: Callable[[float], float] = lambda _: 0.0,
) -> Limits:  # fmt: skip
    """Return limits for the share of a cell among the people who answered both questions, or of those ``in_row``.

    ``added`` is the variance that waves of the same people add at a share.
    """
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
        strata.append((channel.share**2 / channel.n * pairs.heaviness(*groups), cell_squares(pairs, place)))

    def variance(t: float) -> float:
        slopes = (1.0, 0.0, -t) if in_row else (1.0, -t, 0.0)
        once = sum(mean_square(squares, slopes, factors * changed(t)) for factors, squares in strata)
        return once + max(float(whole.sum()), 0.0) ** 2 * added(t)

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
        (share**2 / pairs.size * pairs.heaviness(lines.T, across.T), group_squares(pairs, groups, column))
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
        variance = sum(mean_square(squares, slopes, truth * factors) for factors, squares in strata)
        value = part[1] * whole[0] - part[0] * whole[1] - t * whole[0] * whole[1]
        return bool(abs(value) <= z * math.sqrt(max(variance, 0.0)))

    point = min(max(float(small[1, 0] / answered[1] - small[0, 0] / answered[0]), -1.0), 1.0)
    return edge(inside, point, -1.0), edge(inside, point, 1.0)


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
    (a, b), (within, without) = variable.channels[groups[0]], variable.both
    inside, outside = (within - a * b) / (a - b) ** 2, (without - b * b) / (a - b) ** 2
    found[0, 1] = found[1, 0] = [inside, inside, outside]
    return found


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
