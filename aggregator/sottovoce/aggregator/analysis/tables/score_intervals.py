"""Compute score intervals for a cell of a table and for a share within a group, and diagnose the table.

Intervals take the variance at the hypothesised value:

Scores      Of a category with a = P(support | true) and b = P(support | other), z^2 = alpha z + c with
            alpha = (1 - 2b)/(a - b) and c = b(1 - b)/(a - b)^2; alpha', c' are the second variable's.
Cell        { t : |clip(T) - t| <= z sqrt(V(t)/n) + gap/(2n) }, gap = 1/((a - b)(a' - b')), p_A and p_B clipped margins,
            V(t) = alpha alpha' t + alpha c' max(p_A, t) + alpha' c max(p_B, t) + c c' - t^2.
Share       of j of B within i of A: { t : |num - t den| <= z sqrt(V(t)/n) + gap/(2n) }, den = max(T_i., 0) and
            num = min(max(T_ij, 0), den), V(t) = alpha (alpha' - 2t) t p_A + alpha (c' + t^2) p_A
            + c (alpha' - 2t) max(p_B, t p_A) + c (c' + t^2).
Block       Of two questions of one block, z_ij is no product of scores; V(t) is the same sum of second moments given
            the truth, E[z_ij^2 | A = i or not, B = j or not] and so on, weighted with the shares t, p_A - t, p_B - t
            and 1 - p_A - p_B + t; the correction is half of what one report more of both changes the cell.
Limits      By bisection outwards from the point; a negative variance is set to 0. The continuity correction gap/(2n)
            (half a report) keeps the coverage at .947 and more for n = 50 to 5,000, also in sparse tables, where
            uncorrected limits cover .34 to .88.
Strata      V(t)/n is the sum of u^2 V(t)/n over the strata, u their shares; gap/(2n) is the largest of all strata.

Diagnoses are implausible cells, uneven draws, and the possible effect of forged reports:

Implausible The lowest cell's (T_ij + gap/(2n)) / sqrt(V0_ij / n), V0 = alpha c' p_A + alpha' c p_B + c c' the variance
            at an empty cell, is below the normal quantile of .00135 / cells: fewer than one false alarm in 1,000
            samples. With the sample's own variance it would be up to one in five.
Drawn       Where devices draw an option: chi-square test of the drawn ones against uniform; for two questions, of all
            pairs. Forged reports often carry the same option each time.
Forged      A share f of identical forged reports moves a cell by at most f max |z_A z_B|. If honest reports carry both
            variables with probability s only, and all forged ones do, the latter are a share f' = f / (f + (1 - f) s)
            of the reports of the pair.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

from sottovoce.aggregator.estimators.blocks.joint_channel import BlockPair, Four, block_pair
from sottovoce.aggregator.estimators.intervals import BISECTIONS, clip, halved, upper_tail
from sottovoce.aggregator.estimators.support import FAKES
from sottovoce.aggregator.estimators.variable import Floats, Variable

Limits = tuple[float, float]


TAIL = 0.00135
"""One-sided false alarm rate at three standard deviations, shared by all cells (Bonferroni)."""


class CellMoments(NamedTuple):
    """Second moments of scores given the truth: of both categories, the row's only, the column's only, neither.

    Attributes:
        cell: E[z_ij^2].
        by_row: E[z_ij z_i].
        by_column: E[z_ij z_j].
        row: E[z_i^2].
        column: E[z_j^2].
        both: E[z_i z_j].
        bend: change of z_ij by a report of both categories, beyond what each of them changes it.
    """

    cell: Four
    by_row: Four
    by_column: Four
    row: Four
    column: Four
    both: Four
    bend: float


@lru_cache(maxsize=256)
def cell_moments(
    first: tuple[float, float], second: tuple[float, float], block: BlockPair | None = None
) -> CellMoments:
    """Return the moments of a cell, from (a, b) of both categories; ``block`` is None for reports drawn apart."""
    (a, b), (a2, b2) = first, second
    rows, columns = ((1 - b) / (a - b), -b / (a - b)), ((1 - b2) / (a2 - b2), -b2 / (a2 - b2))
    # Reports that support both, the row only, the column only, neither; and likewise the truths.
    z = tuple(one * other for one in rows for other in columns) if block is None else block.scores
    z_a, z_b = (rows[0], rows[0], rows[1], rows[1]), (columns[0], columns[1], columns[0], columns[1])
    chances = []
    for place, (one, other) in enumerate(((a, a2), (a, b2), (b, a2), (b, b2))):
        both = one * other if block is None else block.chances[place]
        chances.append((both, one - both, other - both, 1 - one - other + both))

    def mean(left: Sequence[float], right: Sequence[float]) -> Four:
        found = [sum(p * u * v for p, u, v in zip(row, left, right, strict=True)) for row in chances]
        return found[0], found[1], found[2], found[3]

    bend = z[0] - z[1] - z[2] + z[3]
    return CellMoments(mean(z, z), mean(z, z_a), mean(z, z_b), mean(z_a, z_a), mean(z_b, z_b), mean(z_a, z_b), bend)


class CellChannel(NamedTuple):
    """Channels of one cell in one stratum.

    Attributes:
        moments: second moments of the cell's scores.
        n: effective number of reports.
        share: share u of the stratum in the pooled estimate.
        heaviness: mean squared weight of a report over its mean weight, divided by the same of all reports: of both
            categories, the row's only, the column's only, neither; see ``Pairs.heaviness``.
    """

    moments: CellMoments
    n: float
    share: float = 1.0
    heaviness: Four = (1.0, 1.0, 1.0, 1.0)

    @property
    def step(self) -> float:
        """Continuity correction u gap / (2n): the change of the estimate by half a report."""
        # One report more changes the raw share by gap/n; half of that is the correction, as Yates' for counts.
        return self.share * abs(self.moments.bend) / (2 * self.n) * self.heaviness[0]

    def cell_variance(self, t: float, p_a: float, p_b: float) -> float:
        """Return the variance V(t) of a cell's score, at the hypothesised share and clipped margins."""
        return self.mean_of(self.moments.cell, t, max(p_a, t), max(p_b, t)) - t * t * (2 * self.heaviness[0] - 1)

    def share_variance(self, t: float, p_a: float, p_b: float) -> float:
        """Return the variance V(t) for a share within a row, at the hypothesised share and clipped margins."""
        truth, moments = (t * p_a, p_a, max(p_b, t * p_a)), self.moments
        found = self.mean_of(moments.cell, *truth) - 2 * t * self.mean_of(moments.by_row, *truth)
        return found + t * t * self.mean_of(moments.row, *truth)

    def mean_of(self, moments: Four, cell: float, row: float, column: float) -> float:
        """Return the mean of figures given the truth, at these shares of the truth, of reports by squared weight."""
        (both, only, other, none), (a, b, c, d) = moments, self.heaviness
        found = both * a * cell + only * b * (row - cell) + other * c * (column - cell)
        return found + none * d * (1 - row - column + cell)


def score_limits(
    raw: float,
    whole: float,
    of: Callable[[CellChannel, float, float, float], float],
    channels: Sequence[CellChannel],
    margins: tuple[float, float],
    z: float,
    added: Callable[[float], float] = lambda _: 0.0,
) -> Limits:
    """Return limits for the share of a cell in the ``whole``: 1, or its row for a share of a column within the row.

    Args:
        raw: unclipped share of the cell.
        of: variance of a channel at a share and the margins, of a cell or of a share within a row.
        margins: unclipped shares of its row and its column.
        z: normal quantile of the confidence level.
        added: variance that waves of the same people add at a share, as in ``intervals.same_people``.
    """
    # Clipped first: shares outside [0, 1] would give empty intervals, and a share needs a possible denominator.
    whole = max(whole, 0.0)
    part = min(max(raw, 0.0), whole)
    step, (p_a, p_b) = max(each.step for each in channels), map(clip, margins)

    def inside(t: float) -> bool:
        variance = sum(each.share**2 / each.n * of(each, t, p_a, p_b) for each in channels) + whole**2 * added(t)
        return abs(part - t * whole) <= z * math.sqrt(max(variance, 0.0)) + step

    point = part / whole if whole else 0.5
    return edge(inside, point, 0.0), edge(inside, point, 1.0)


def edge(inside: Callable[[float], bool], within: float, outside: float, halvings: int = BISECTIONS) -> float:
    """Find by bisection where a set ends between ``within`` and ``outside``; ``outside`` itself if it is in the set."""
    return outside if inside(outside) else sum(halved(inside, within, outside, halvings)) / 2


class LowestCell(NamedTuple):
    """Raw share of the lowest cell, in standard deviations of an empty cell, and the smallest plausible one.

    Below it, the reports hardly come from these channels.
    """

    statistic: float
    limit: float


class Forged(NamedTuple):
    """Share of forged reports among those with both variables, and the largest shift of a cell's share by them."""

    share: float
    shift: float


def implausible(table: Floats, channels: Mapping[tuple[int, int], Sequence[CellChannel]]) -> LowestCell | None:
    """Test whether the lowest cell is implausibly far below 0; None if no answer is randomized."""
    p_a, p_b = table.sum(axis=1), table.sum(axis=0)
    found = []
    for (row, column), strata in channels.items():
        margins = clip(float(p_a[row])), clip(float(p_b[column]))
        variance = sum(each.share**2 / each.n * each.cell_variance(0.0, *margins) for each in strata)
        if variance > 0:
            found.append((float(table[row, column]) + max(each.step for each in strata)) / math.sqrt(variance))
    if not found:
        return None
    # Bonferroni over the cells, because only the lowest one is tested.
    return LowestCell(min(found), NormalDist().inv_cdf(TAIL / len(channels)))


def uniformity(counts: Sequence[int], drawn: int = 1, among: int | None = None) -> float:
    """Return the p value of Pearson's test that all options, or all pairs of them, were drawn equally often.

    ``drawn`` is how many different ones each device draws, without replacement, ``among`` from how many, if not from
    those that are counted alone.
    """
    expected, freedom = sum(counts) / max(len(counts), 1), len(counts) - 1
    among = among or len(counts)
    if not expected or not freedom or drawn >= among:
        return 1.0
    statistic = sum((count - expected) ** 2 for count in counts) / expected
    return upper_tail(statistic * ((among - 1) / (among - drawn)), freedom)


def forged(first: Variable, second: Variable, seen: float, fakes: float = FAKES) -> Forged:
    """Return the largest effect of forged reports on a table.

    Args:
        seen: probability that an honest report carries both variables.
        fakes: share of forged reports among all.
    """
    share = fakes / (fakes + (1 - fakes) * seen)
    # A forger gains most with the pair of reports that has the largest score of a cell.
    pair = block_pair(first, second)
    if pair is not None:
        return Forged(share, share * max(map(abs, pair.scores)))
    largest, other = (max(max(1 - b, b) / (a - b) for a, b in each.channels) for each in (first, second))
    return Forged(share, share * (largest * other))
