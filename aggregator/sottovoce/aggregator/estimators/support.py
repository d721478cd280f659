"""
The one estimator and the one interval: N of n reports support option j, N ~ Bin(n, b + (a - b) p).

a = P(support | true), b = P(support | not true), a > b. Yes/no, every category and every bit are cases of it.

Point       p^ = (N/n - b) / (a - b), unbiased; it may lie outside [0, 1] and is kept so. Only its display is clipped.
Std. error  sqrt(l (1 - l) / ((n - 1) (a - b)^2)), l = N/n: unbiased variance for an i.i.d. sample. If everybody in a
            finite population answered: sqrt((p a (1-a) + (1-p) b (1-b)) / (n (a-b)^2)), p clipped; never larger in
            expectation, and for symmetric channels the same whatever p is.
Interval    ``sottovoce.aggregator.estimators.intervals``; while a survey is open, ``band``.
Joint       Limits for all k options of a question at once: Clopper and Pearson at 1 - alpha/k (Bonferroni), whatever
            method the single limits use: so far out in the tails the score limits miss up to three times as often as
            they say (.166 for .05 at k = 10, epsilon 3, n = 5), and this one is a theorem.
Implausible A count beyond what p = 0 or p = 1 would give by chance: outside [n b - 3 sd, n a + 3 sd], sd at the nearer
            edge. With k options the same rate of false alarms, .0013 a side, is shared by all k.
Poisoning   One fake report in a hundred, all with the worst content, moves the estimate by up to
            .01 max(1 - b, a) / (a - b): coin flip 1.5 points.
"""

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from sottovoce.aggregator.estimators.band import band
from sottovoce.aggregator.estimators.intervals import METHODS, exact
from sottovoce.shared.errors import EstimateError

FAKES = 0.01
"""The share of fake reports that ``Estimate.poisoning`` speaks of."""


@dataclass(frozen=True)
class IntervalRule:
    """
    How intervals are made.

    Attributes:
        method: one of ``intervals.METHODS``.
        confidence: nominal coverage, in (0, 1).
        band: whether to give the anytime-valid band as well; wanted while a survey is open.
    """

    method: str = "score-cc"
    confidence: float = 0.95
    band: bool = False

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise EstimateError(f"the interval must be one of: {', '.join(METHODS)}")
        if not 0 < self.confidence < 1:
            raise EstimateError("the confidence must lie between 0 and 1")

    def joint_confidence(self, options: int) -> float:
        """The confidence of each of ``options`` intervals that hold together (Bonferroni)."""
        return 1 - (1 - self.confidence) / options


DEFAULT_RULE = IntervalRule()


@dataclass(frozen=True)
class Estimate:
    """
    The share of respondents whose truth is one option, or the mean of a bounded number.

    Attributes:
        option: the option's name; "mean" for a mean.
        a, b: P(support | true) and P(support | not true); None for a mean, or where different channels were pooled.
        raw: unbiased share (mean), possibly outside the possible range; None without reports.
        clipped: ``raw`` forced into the possible range, for display only.
        std_error: of ``raw``, for an i.i.d. sample; None with fewer than two reports.
        low, high: interval, within the possible range.
        method, confidence: how the interval was made, and its nominal coverage.
        n: reports that could support the option.
        count: those that did; None for a mean, or where different channels were pooled.
        std_error_fixed: of ``raw``, if everybody in a finite population answered; None without reports.
        simultaneous_low, simultaneous_high: limits that hold for all options of the question together.
        implausible: the reports lie further out than the channel could send them.
        poisoning: largest shift of ``raw`` by 1 % fake reports, in shares (in the number's unit for a mean).
        band_low, band_high: limits that hold however often one looks, all options together; None if not asked for.
        lowest, highest: the possible range, 0 and 1 for a share.
        kind: "share", "mean" or "quantile".
    """

    option: str
    a: float | None
    b: float | None
    raw: float | None
    clipped: float | None
    std_error: float | None
    low: float
    high: float
    method: str
    confidence: float
    n: int
    count: int | None
    std_error_fixed: float | None
    simultaneous_low: float
    simultaneous_high: float
    implausible: bool
    poisoning: float
    band_low: float | None = None
    band_high: float | None = None
    lowest: float = 0.0
    highest: float = 1.0
    kind: str = "share"


def estimate_share(
    option: str, count: int, n: int, a: Fraction, b: Fraction, rule: IntervalRule = DEFAULT_RULE
) -> Estimate:
    """
    The share of one option, from the number of reports that support it.

    Args:
        option: the option's name.
        count: reports that support it, 0 .. n.
        n: reports.
        a: P(support | true).
        b: P(support | not true), b < a.
        rule: how the interval is made.

    Raises:
        EstimateError: the counts or the channel are impossible.
    """
    return estimate_shares([option], [count], n, a, b, rule)[0]


def estimate_shares(
    options: Sequence[str],
    counts: Sequence[int],
    n: int | Sequence[int],
    a: Fraction,
    b: Fraction,
    rule: IntervalRule = DEFAULT_RULE,
) -> list[Estimate]:
    """
    The share of each option of one question, with single and joint limits.

    Args:
        options: the k options' names.
        counts: reports that support each of them.
        n: reports; one number for each option where only some reports could support it (a sampled option).
        a: P(support | true), the same for every option.
        b: P(support | not true), likewise.
        rule: how the intervals are made.

    Returns:
        k estimates, in order.

    Raises:
        EstimateError: the counts or the channel are impossible.
    """
    counts, sizes = _whole(counts), _whole(n if isinstance(n, Sequence) else [n] * len(options))
    if not (0 < len(options) == len(counts) == len(sizes) and all(map(_possible, counts, sizes)) and 0 <= b < a <= 1):
        raise EstimateError("the counts or the channel are impossible")
    high_rate, low_rate, k = float(a), float(b), len(options)
    single = METHODS[rule.method](counts, sizes, high_rate, low_rate, rule.confidence)
    joint = single if k == 1 else exact(counts, sizes, high_rate, low_rate, rule.joint_confidence(k))
    limits = [side.tolist() for side in (*single, *joint)]
    values = _values(counts, sizes, a, b)
    bands = [
        band(count, size, high_rate, low_rate, rule.confidence, k) if rule.band else (None, None)
        for count, size in zip(counts, sizes, strict=True)
    ]
    shift = poisoning(high_rate, low_rate)
    return [
        Estimate(
            option=option,
            a=high_rate,
            b=low_rate,
            raw=raw,
            clipped=None if raw is None else min(max(raw, 0.0), 1.0),
            std_error=error if size > 1 else None,
            low=low,
            high=high,
            method=rule.method,
            confidence=rule.confidence,
            n=size,
            count=count,
            std_error_fixed=fixed if size else None,
            simultaneous_low=joint_low,
            simultaneous_high=joint_high,
            implausible=alarm,
            poisoning=shift,
            band_low=band_low,
            band_high=band_high,
        )
        for option, count, size, raw, error, fixed, alarm, low, high, joint_low, joint_high, (
            band_low,
            band_high,
        ) in zip(options, counts, sizes, *values, *limits, bands, strict=True)
    ]


def poisoning(a: float, b: float, asked: int = 1) -> float:
    """
    The largest shift of a share by 1 % fake reports, in shares.

    Args:
        a: P(support | true).
        b: P(support | not true).
        asked: options of which each report speaks of one, drawn at random; every fake picks the same one.

    Maths: a fake report counts (1 - b) / (a - b), at most 1 - b above the truth's mean in units of a - b, or at most
    a below it. Of the reports on one of ``asked`` options, a share f = .01 / (.01 + .99 / asked) is fake.
    """
    fakes = FAKES / (FAKES + (1 - FAKES) / asked)
    return fakes * max(1 - b, a) / (a - b)


def _whole(counts: Sequence[int]) -> list[int]:
    try:
        return [operator.index(count) for count in counts]
    except TypeError:
        raise EstimateError("counts must be whole numbers") from None


def _possible(count: int, n: int) -> bool:
    return 0 <= count <= n


def _values(
    counts: Sequence[int], sizes: Sequence[int], a: Fraction, b: Fraction
) -> tuple[list[float | None], list[float], list[float], list[bool]]:
    """Raw shares, i.i.d. errors, fixed-population errors and alarms; errors mean nothing without reports."""
    den = math.lcm(a.denominator, b.denominator)
    true, other = a.numerator * (den // a.denominator), b.numerator * (den // b.denominator)
    # (count/n - b) / (a - b) in whole numbers, rounded once.
    raw = [(x * den - n * other) / (n * (true - other)) if n else None for x, n in zip(counts, sizes, strict=True)]
    high, low, gap = float(a), float(b), float(a - b)
    x, n = np.asarray(counts, dtype=float), np.asarray(sizes, dtype=float)
    some = np.maximum(n, 1)
    iid = np.sqrt(x * (n - x) / np.maximum(n - 1, 1)) / (some * gap)
    share = np.clip((x / some - low) / gap, 0, 1)
    fixed = np.sqrt((share * high * (1 - high) + (1 - share) * low * (1 - low)) / some) / gap
    alarm = 3.0 if len(counts) == 1 else -NormalDist().inv_cdf(NormalDist().cdf(-3.0) / len(counts))
    below = x < n * low - alarm * np.sqrt(n * low * (1 - low))
    above = x > n * high + alarm * np.sqrt(n * high * (1 - high))
    return raw, iid.tolist(), fixed.tolist(), (below | above).tolist()
