"""Mean of a bounded number in its own unit, reported through any finite channel with unbiased scores.

Channel     True value v_x with input x, score z_y for report y, and E[z | x] = v_x. Values between two inputs are
            rounded to one of them at random, so their second moment is on the chord.
Point       Mean of the scores, unbiased; it may be outside [lowest, highest input] and is not clipped.
Std. error  sd(z) / sqrt(n), with n - 1. If everyone in a finite population answered, at most sqrt(c / n), c the concave
            envelope of Var(z | x) at the clipped mean.
Interval    { m : |z- - m| <= z sqrt(V(m) / n) + g / (2 n) }, z- the mean clipped into the range, g the widest gap
            between neighbouring scores, V(m) = (concave envelope of E[z^2 | x] over v_x, at m) - m^2: the largest
            variance of one score over all populations with mean m. For two scores this is the score interval with
            continuity correction of the underlying count, to the last digit. sqrt(V) is concave, so the inequality
            holds on one interval around z-, and two bisections find its ends.
Waves       For the summed reports of the same people in W waves, (W - 1) (m - lowest) (highest - m) / n is added to
            V(m) / n: the largest possible covariance of their answers.
Coverage    At least .95 at n = 5, 20, 50, 200 in every population tried; sd(z) in the place of V gives .78 at n = 5.
Sources     As for ``intervals``; Duchi, Jordan and Wainwright 2018 (bounded means under local privacy).
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.estimators.intervals import edge, normal_quantile
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, SAME_PEOPLE, Estimate, IntervalRule
from sottovoce.shared.answers import Domain, Grid
from sottovoce.shared.errors import EstimateError

Corners = tuple[list[float], list[float]]

METHOD = "score-mean"
_UNBIASED = 1e-7  # of the range: tables rounded to a denominator of 2^32 stay within 1e-8


def grid_of(domain: Domain) -> Grid:
    """Return the grid of a number question; raise EstimateError if the question does not ask for a number."""
    if domain.grid is None:
        raise EstimateError("the question does not ask for a number")
    return domain.grid


def in_units(steps: Iterable[Fraction | int], grid: Grid) -> tuple[float, ...]:
    """Convert numbers of steps above the least value to floats, each rounded once."""
    return tuple(map(float, exactly(steps, grid)))


def exactly(steps: Iterable[Fraction | int], grid: Grid) -> tuple[Fraction, ...]:
    """Convert numbers of steps above the least value to exact fractions."""
    return tuple(map(grid.number, steps))


@dataclass(frozen=True)
class ScoredChannel:
    """Finite channel whose reports have unbiased scores.

    Attributes:
        levels: true value of each input, ascending, in the number's own unit.
        scores: score of each output, in the same unit; any order.
        second_moments: E[z^2 | x] for each input.
    """

    levels: tuple[float, ...]
    scores: tuple[float, ...]
    second_moments: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.levels) < 2 or any(low >= high for low, high in pairwise(self.levels)):
            raise EstimateError("at least two ascending levels are needed")
        if len(self.second_moments) != len(self.levels):
            raise EstimateError("each level needs its second moment")
        if not all(map(math.isfinite, (*self.levels, *self.scores, *self.second_moments))):
            raise EstimateError("levels and scores must be finite")

    @classmethod
    def from_table(
        cls, levels: Sequence[float], scores: Sequence[float], table: Sequence[Sequence[int]]
    ) -> "ScoredChannel":
        """Create a channel from ``table[x][y]``, the integer weights of output y for input x, with equal row sums.

        Raises EstimateError if the shapes or row sums differ, the levels do not ascend, or scores are biased for some
        input.
        """
        if len(table) != len(levels) or any(len(row) != len(scores) for row in table):
            raise EstimateError("a table of levels by scores is needed")
        sums = {sum(row) for row in table}
        if len(sums) > 1 or sums == {0} or min(map(min, table)) < 0:
            raise EstimateError("weights must not be negative, and every row must have the same sum")
        if not all(map(math.isfinite, (*levels, *scores))):
            raise EstimateError("levels and scores must be finite")
        worst = max(abs(float(_moment(row, scores, 1)) - level) for row, level in zip(table, levels, strict=True))
        if not worst <= _UNBIASED * (levels[-1] - levels[0]):
            raise EstimateError("the scores are not unbiased for this channel")
        return cls(tuple(levels), tuple(scores), tuple(float(_moment(row, scores, 2)) for row in table))

    @cached_property
    def gap(self) -> float:
        """Widest gap between neighbouring scores."""
        return max(high - low for low, high in pairwise(sorted(set(self.scores))))

    def variance(self, mean: float) -> float:
        """Return V(mean): the largest variance of one score over all populations with this mean."""
        return max(_interpolate(self._moment_envelope, mean) - mean * mean, 0.0)

    def noise(self, mean: float) -> float:
        """Return the largest mean of Var(z | x) over all populations with this mean: the channel's own noise."""
        return max(_interpolate(self._noise_envelope, mean), 0.0)

    @cached_property
    def _moment_envelope(self) -> Corners:
        return _envelope(self.levels, self.second_moments)

    @cached_property
    def _noise_envelope(self) -> Corners:
        pairs = zip(self.second_moments, self.levels, strict=True)
        return _envelope(self.levels, [moment - level * level for moment, level in pairs])


def moments_of(levels: Sequence[float], marks: Sequence[Fraction], table: Sequence[Sequence[int]]) -> tuple[float, ...]:
    """Return E[z^2 | x] for each input of ``ScoredChannel.from_table``, whose errors these are."""
    return ScoredChannel.from_table(levels, tuple(map(float, marks)), table).second_moments


def estimate_mean(
    option: str, tally: Mapping[int, int], channel: ScoredChannel, rule: IntervalRule = DEFAULT_RULE, means: int = 1
) -> Estimate:
    """Estimate the mean of a bounded number, in its own unit; ``a``, ``b`` and ``count`` of the estimate are None.

    Args:
        option: name of the estimate, such as "mean".
        tally: number of reports by reported value, an index into ``channel.scores``; missing means none.
        rule: only its confidence, waves and fakes are used; there is one method, and no band.
        means: number of means in the question (coordinates of a vector) for the joint limits.

    Raises:
        EstimateError: a reported value or a count is impossible.
    """
    if any(not 0 <= value < len(channel.scores) or count < 0 for value, count in tally.items()):
        raise EstimateError("the counts are impossible")
    counts = np.array([tally.get(value, 0) for value in range(len(channel.scores))], dtype=float)
    n = int(counts.sum())
    raw = float(counts @ channel.scores) / n if n else None
    low, high = mean_interval(raw, n, channel, rule.confidence, rule.waves)
    joint_low, joint_high = mean_interval(raw, n, channel, rule.joint_confidence(means), rule.waves)
    clipped = None if raw is None else _clip(raw, channel)
    return Estimate(
        option=option,
        raw=raw,
        clipped=clipped,
        std_error=None if raw is None or n < 2 else _std_error(raw, counts, channel, rule.waves),
        low=low,
        high=high,
        method=METHOD if rule.waves == 1 else SAME_PEOPLE,
        confidence=rule.confidence,
        n=n,
        std_error_fixed=None if clipped is None else math.sqrt(channel.noise(clipped) / n),
        simultaneous_low=joint_low,
        simultaneous_high=joint_high,
        implausible=raw is not None and _implausible(raw, n, channel),
        poisoning=rule.fakes * max(max(channel.scores) - channel.levels[0], channel.levels[-1] - min(channel.scores)),
        lowest=channel.levels[0],
        highest=channel.levels[-1],
        kind="mean",
    )


def mean_interval(
    raw: float | None, n: int, channel: ScoredChannel, confidence: float, waves: int = 1
) -> tuple[float, float]:
    """Return the limits (low, high), low < high, of the mean, within the range of the levels; that whole range without
    reports.

    ``raw`` is the mean of n scores; None without reports. ``waves`` is the number of waves of the same people whose
    reports are summed.
    """
    least, most = channel.levels[0], channel.levels[-1]
    if raw is None or n == 0:
        return least, most
    centre, z, correction = _clip(raw, channel), normal_quantile(confidence), channel.gap / (2 * n)

    def slack(mean: float) -> float:
        return z * math.sqrt((channel.variance(mean) + (waves - 1) * _spread(mean, channel)) / n) + correction

    low = edge(lambda m: slack(m) >= centre - m, centre, least)
    return low, edge(lambda m: slack(m) >= m - centre, centre, most)


def _clip(raw: float, channel: ScoredChannel) -> float:
    return min(max(raw, channel.levels[0]), channel.levels[-1])


def _spread(mean: float, channel: ScoredChannel) -> float:
    """Return the largest variance of a true value over all populations with this mean."""
    return max(mean - channel.levels[0], 0.0) * max(channel.levels[-1] - mean, 0.0)


def _std_error(raw: float, counts: NDArray[np.float64], channel: ScoredChannel, waves: int) -> float:
    n = counts.sum()
    squares = counts @ (np.asarray(channel.scores) - raw) ** 2 / (n - 1)
    return math.sqrt((squares + (waves - 1) * _spread(_clip(raw, channel), channel)) / n)


def _implausible(raw: float, n: int, channel: ScoredChannel) -> bool:
    least, most = channel.levels[0], channel.levels[-1]
    below = least - 3 * math.sqrt(channel.variance(least) / n)
    return not below <= raw <= most + 3 * math.sqrt(channel.variance(most) / n)


def _moment(row: Sequence[int], scores: Sequence[float], power: int) -> Fraction:
    terms = zip(row, scores, strict=True)
    return sum((weight * Fraction(score) ** power for weight, score in terms), Fraction(0)) / sum(row)


def _envelope(levels: Sequence[float], values: Sequence[float]) -> Corners:
    """Return the corners of the points' concave envelope (upper hull, monotone chain), by ascending level."""
    hull: list[tuple[float, float]] = []
    for x, y in zip(levels, values, strict=True):
        while len(hull) > 1 and _turns_up(hull[-2], hull[-1], (x, y)):
            hull.pop()
        hull.append((x, y))
    return [x for x, _ in hull], [y for _, y in hull]


def _turns_up(first: tuple[float, float], middle: tuple[float, float], last: tuple[float, float]) -> bool:
    """Say whether ``middle`` is on or below the chord from ``first`` to ``last``."""
    rise = (last[1] - first[1]) * (middle[0] - first[0])
    return (middle[1] - first[1]) * (last[0] - first[0]) <= rise


def _interpolate(corners: Corners, x: float) -> float:
    """Evaluate the piecewise linear function through the corners at x, within their range."""
    xs, ys = corners
    right = min(max(bisect_right(xs, x), 1), len(xs) - 1)
    share = (x - xs[right - 1]) / (xs[right] - xs[right - 1])
    return ys[right - 1] + share * (ys[right] - ys[right - 1])
