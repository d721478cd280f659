"""
Score intervals for a cell of a table and for a share within a group: the variance is that at the hypothesised value.

Scores      Of a category with a = P(support | true) and b = P(support | other), z^2 = alpha z + c with
            alpha = (1 - 2b)/(a - b) and c = b(1 - b)/(a - b)^2; alpha', c' are the second variable's.
Cell        { t : |clip(T) - t| <= z sqrt(V(t)/n) + gap/(2n) }, gap = 1/((a - b)(a' - b')), p_A and p_B clipped margins,
            V(t) = alpha alpha' t + alpha c' max(p_A, t) + alpha' c max(p_B, t) + c c' - t^2.
Share       of j of B within i of A: { t : |num - t den| <= z sqrt(V(t)/n) + gap/(2n) }, den = max(T_i., 0) and
            num = min(max(T_ij, 0), den), V(t) = alpha (alpha' - 2t) t p_A + alpha (c' + t^2) p_A
            + c (alpha' - 2t) max(p_B, t p_A) + c (c' + t^2).
Limits      By bisection outwards from the point; a negative variance is set to 0. The continuity correction gap/(2n)
            (half a report) keeps the coverage at .947 and more for n = 50 to 5,000, also in sparse tables, where
            uncorrected limits cover .34 to .88.
Strata      V(t)/n is the sum of u^2 V(t)/n over the strata, u their shares; gap/(2n) is the largest of all strata.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

Limits = tuple[float, float]

_BISECTIONS = 60


class CellChannel(NamedTuple):
    """
    Channels of one cell in one stratum.

    Attributes:
        first: (a, b) of the first variable's category.
        second: (a', b') of the second variable's category.
        n: effective number of reports.
        share: share u of the stratum in the pooled estimate.
    """

    first: tuple[float, float]
    second: tuple[float, float]
    n: float
    share: float = 1.0

    @property
    def step(self) -> float:
        """Continuity correction u gap / (2n): the change of the estimate by half a report."""
        (a, b), (a2, b2) = self.first, self.second
        # One report more changes the raw share by gap/n; half of that is the correction, as Yates' for counts.
        return self.share / ((a - b) * (a2 - b2)) / (2 * self.n)

    @property
    def constants(self) -> tuple[float, float, float, float]:
        """Constants alpha, c, alpha' and c' of the module docstring."""
        return *_constants(*self.first), *_constants(*self.second)

    @property
    def factor(self) -> float:
        """Factor u^2 / n of the variance V."""
        return self.share**2 / self.n

    def cell_variance(self, t: float, p_a: float, p_b: float) -> float:
        """
        Return the variance V(t) of a cell's score product.

        Args:
            t: hypothesised share of the cell.
            p_a: clipped share of its row.
            p_b: clipped share of its column.
        """
        alpha, c, alpha2, c2 = self.constants
        return alpha * alpha2 * t + alpha * c2 * max(p_a, t) + alpha2 * c * max(p_b, t) + c * c2 - t * t

    def share_variance(self, t: float, p_a: float, p_b: float) -> float:
        """
        Return the variance V(t) for a share within a row.

        Args:
            t: hypothesised share.
            p_a: clipped share of the row.
            p_b: clipped share of the column.
        """
        alpha, c, alpha2, c2 = self.constants
        of_row = alpha * (alpha2 - 2 * t) * t * p_a + alpha * (c2 + t * t) * p_a
        return of_row + c * (alpha2 - 2 * t) * max(p_b, t * p_a) + c * (c2 + t * t)


def cell_limits(raw: float, channels: Sequence[CellChannel], margins: tuple[float, float], z: float) -> Limits:
    """
    Return limits for the share of a cell.

    Args:
        raw: unclipped share of the cell.
        channels: channels of its strata.
        margins: unclipped shares of its row and its column.
        z: normal quantile of the confidence level.
    """
    p_a, p_b = map(clip, margins)
    # Clipped first: a raw share outside [0, 1] would give empty intervals.
    point, step = clip(raw), max(each.step for each in channels)

    def inside(t: float) -> bool:
        variance = sum(each.factor * each.cell_variance(t, p_a, p_b) for each in channels)
        return abs(point - t) <= z * math.sqrt(max(variance, 0.0)) + step

    return edge(inside, point, 0.0), edge(inside, point, 1.0)


def share_limits(raw: float, channels: Sequence[CellChannel], margins: tuple[float, float], z: float) -> Limits:
    """
    Return limits for the share of a column within a row.

    Args:
        raw: unclipped share of their cell.
        channels: channels of the cell's strata.
        margins: unclipped shares of the row and the column.
        z: normal quantile of the confidence level.
    """
    p_a, p_b = map(clip, margins)
    # Raw margins may be negative by chance; a share needs a possible denominator.
    whole = max(margins[0], 0.0)
    part, step = min(max(raw, 0.0), whole), max(each.step for each in channels)

    def inside(t: float) -> bool:
        variance = sum(each.factor * each.share_variance(t, p_a, p_b) for each in channels)
        return abs(part - t * whole) <= z * math.sqrt(max(variance, 0.0)) + step

    point = part / whole if whole else 0.5
    return edge(inside, point, 0.0), edge(inside, point, 1.0)


def edge(inside: Callable[[float], bool], within: float, outside: float, halvings: int = _BISECTIONS) -> float:
    """
    Find by bisection where a set ends between ``within`` and ``outside``; ``outside`` itself if it is in the set.

    Args:
        inside: returns True for members of the set.
        within: a member of the set.
        outside: the last possible number.
        halvings: number of bisections.
    """
    if inside(outside):
        return outside
    for _ in range(halvings):
        middle = (within + outside) / 2
        within, outside = (middle, outside) if inside(middle) else (within, middle)
    return (within + outside) / 2


def _constants(a: float, b: float) -> tuple[float, float]:
    return (1 - 2 * b) / (a - b), b * (1 - b) / (a - b) ** 2


def clip(share: float) -> float:
    """Clip a share into [0, 1]."""
    return min(max(share, 0.0), 1.0)
