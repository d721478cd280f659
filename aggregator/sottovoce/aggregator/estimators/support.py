"""Estimator, intervals and sensitivity of a share: N of n reports support option j, N ~ Bin(n, b + (a - b) p).

a = P(support | true), b = P(support | not true), a > b. Yes/no questions, categories and bits are special cases.

Point       p^ = (N/n - b) / (a - b), unbiased; it may be outside [0, 1] and is clipped only for display.
Std. error  sqrt(l (1 - l) / ((n - 1) (a - b)^2)), l = N/n: unbiased variance for an i.i.d. sample. If everyone in a
            finite population answered: sqrt((p a (1-a) + (1-p) b (1-b)) / (n (a-b)^2)), p clipped; never larger in
            expectation, and independent of p for symmetric channels.
Interval    ``sottovoce.aggregator.estimators.intervals``; while a survey is open, a band, see below.
Joint       Simultaneous limits for all k options of a question: Clopper and Pearson at 1 - alpha/k (Bonferroni), for
            every method of the single limits. Their coverage is a theorem; score limits, so far in the tails, miss up
            to three times as often as nominal (.166 for .05 at k = 10, epsilon 3, n = 5).
Implausible A count that p = 0 or p = 1 would hardly give by chance: outside [n b - 3 sd, n a + 3 sd], sd at the nearer
            edge. With k options, all k share the same rate of false alarms, .0013 a side.
Poisoning   One percent of fake reports, all with the worst content, moves the estimate by up to
            .01 max(1 - b, a) / (a - b): 1.5 points with the coin flip.

A yes/no share is sensitive to self-protective "no": respondents who say no whatever their coin shows.

Maths       Respondents who run the channel by hand can bypass it. If a share s of all reports is such a "no", yes is
            reported with probability (1 - s)(b + (a - b) p): the channel a' = (1 - s) a, b' = (1 - s) b, with its own
            estimator and interval, p = (x/n / (1 - s) - b) / (a - b).
            One sample does not identify s: the results are a sensitivity analysis over assumed s, not a correction.
            s = 0 is the estimate itself.
Sources     Cruyff, van den Hout, van der Heijden and Boeckenholt 2008 (self-protective no); Boeije and
            Lensvelt-Mulders 2002.

While a survey is open, limits are an anytime-valid confidence band, the grid-mixture confidence sequence:

Maths       S of the first t reports support the option; l(p) = b + (a - b) p; L_t(p) = l(p)^S (1 - l(p))^(t-S).
            mix_t = mean of L_t over the J nodes p_j = (j + 1/2) / J, and
                band_t = { p in [0, 1] : L_t(p) > alpha mix_t }.
Guarantee   Under the true p, mix_t / L_t(p) is a nonnegative martingale that starts at 1, for any fixed nodes, so by
            Ville's inequality the truth is ever excluded with probability at most alpha. The grid is the prior
            itself; no error of integration enters. Reports must be i.i.d. in their order of arrival.
Shape       mix_t <= max of L_t over [0, 1], so the band holds the constrained maximum and is never empty. ln L_t is
            concave in p, so each limit is one bisection.
Cost        About 1.4 to 1.8 times as wide as a fixed-n interval at the same t (coin flip, t = 50 .. 2000). 512 nodes
            are dense enough up to 10^6 reports; beyond, the band stays valid and grows wider than it need be.
Sources     Ville 1939; Robbins 1970 (mixture martingales); Howard, Ramdas, McAuliffe and Sekhon 2021.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sottovoce.aggregator.estimators.intervals import METHODS, Array, Limits, clip, edge, exact, same_people
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.mechanisms.binary_rr import BinaryRR

NODES = 512


def band(count: int, n: int, a: float, b: float, confidence: float, options: int = 1) -> tuple[float, float]:
    """Return the limits (low, high) of a share, within [0, 1], that hold simultaneously at every number of reports.

    Args:
        count: reports so far that support the option, 0 .. n.
        n: reports so far; without any the limits are [0, 1].
        a: P(support | true).
        b: P(support | not true), b < a.
        confidence: probability that the truth is never excluded, in (0, 1).
        options: k > 1 makes the bands of k options hold jointly (Bonferroni, alpha / k each).
    """
    if n == 0:
        return 0.0, 1.0
    threshold = float(log_mixture(count, n, a, b)) + math.log((1 - confidence) / options)
    best = min(max((count / n - b) / (a - b), 0.0), 1.0)

    def inside(p: float) -> bool:
        return _log_likelihood(count, n, b + (a - b) * p) > threshold

    return edge(inside, best, 0.0), edge(inside, best, 1.0)


def log_mixture(count: ArrayLike, n: ArrayLike, a: float, b: float) -> Array:
    """Return the logarithm of mix, for one count or an array of counts; ``n`` broadcasts against ``count``, a and b as
    in ``band``.
    """
    yes, no = _node_logs(float(a), float(b))
    support = np.asarray(count, dtype=float)[..., None]
    log_likelihood = support * yes + (np.asarray(n, dtype=float)[..., None] - support) * no
    # Log-sum-exp, since the likelihoods of many reports underflow.
    top = log_likelihood.max(axis=-1)
    mixture: Array = top + np.log(np.exp(log_likelihood - top[..., None]).mean(axis=-1))
    return mixture


@lru_cache(maxsize=256)
def _node_logs(a: float, b: float) -> tuple[Array, Array]:
    """Return ln l and ln(1 - l) at the nodes, shape (J,) each; cached by channel."""
    reported = b + (a - b) * (np.arange(NODES) + 0.5) / NODES
    return np.log(reported), np.log1p(-reported)


def _log_likelihood(count: int, n: int, reported: float) -> float:
    """Return S ln l + (t - S) ln(1 - l), with 0 ln 0 = 0."""
    yes = count * math.log(reported) if count and reported > 0 else (-math.inf if count else 0.0)
    no = (n - count) * math.log1p(-reported) if count < n and reported < 1 else (-math.inf if count < n else 0.0)
    return yes + no


Counts = NDArray[np.int64]

FAKES = 0.01
"""Default share of fake reports for ``Estimate.poisoning``."""

SAME_PEOPLE = "same-people"
"""Method of intervals for the summed reports of several waves."""


@dataclass(frozen=True)
class IntervalRule:
    """Options for intervals.

    Attributes:
        method: one of ``intervals.METHODS``.
        confidence: nominal coverage, in (0, 1).
        band: also compute the anytime-valid band, for surveys that are still open.
        waves: number of waves of the same people whose reports are summed. If more than one, the method is
            "same-people" and there is no band, since reports are not independent.
        fakes: share of fake reports among those on the question, for ``Estimate.poisoning``.
    """

    method: str = "score-cc"
    confidence: float = 0.95
    band: bool = False
    waves: int = 1
    fakes: float = FAKES

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise EstimateError(f"the interval must be one of: {', '.join(METHODS)}")
        if not 0 < self.confidence < 1:
            raise EstimateError("the confidence must lie between 0 and 1")

    def when_asked(self, share: Fraction) -> "IntervalRule":
        """Return the rule for a question, option or coordinate that each respondent is asked with probability
        ``share``.

        Maths: all fakes concern the same one, honest reports only with probability ``share``, so the share of fakes
        among the reports on it is f' = f / (f + (1 - f) share).
        """
        return replace(self, fakes=self.fakes / (self.fakes + (1 - self.fakes) * float(share)))

    def joint_confidence(self, options: int) -> float:
        """Return the confidence of each of ``options`` simultaneous intervals (Bonferroni)."""
        return 1 - (1 - self.confidence) / options


DEFAULT_RULE = IntervalRule()


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Estimated share of respondents whose true answer is one option, or estimated mean of a bounded number.

    Attributes:
        option: the option's name; "mean" for a mean.
        a, b: P(support | true) and P(support | not true); None for a mean, or if different channels were pooled.
        raw: unbiased share (mean), possibly outside the possible range; None without reports.
        clipped: ``raw`` clipped into the possible range, for display only.
        std_error: of ``raw``, for an i.i.d. sample; None with fewer than two reports, or where none is honest.
        low, high: interval, within the possible range; None where none is honest.
        method, confidence: method of the interval, "none" without one, and its nominal coverage.
        n: reports that could support the option.
        count: reports that did; None for a mean, or if different channels were pooled.
        std_error_fixed: of ``raw``, if everyone in a finite population answered; None without reports.
        simultaneous_low, simultaneous_high: limits that hold jointly for all options of the question.
        implausible: the counts are more extreme than any population would give through this channel, but for chance.
        poisoning: largest shift of ``raw`` by 1 % fake reports, all with the worst content, on questions and options of
            their senders' choice; in shares (in the number's unit for a mean).
        band_low, band_high: anytime-valid limits, jointly for all options; None if not requested.
        lowest, highest: the possible range, 0 and 1 for a share.
        kind: "share", "mean" or "quantile".
    """

    option: str
    a: float | None = None
    b: float | None = None
    raw: float | None
    clipped: float | None
    std_error: float | None
    low: float | None = None
    high: float | None = None
    method: str
    confidence: float
    n: int
    count: int | None = None
    std_error_fixed: float | None = None
    simultaneous_low: float
    simultaneous_high: float
    implausible: bool = False
    poisoning: float
    band_low: float | None = None
    band_high: float | None = None
    lowest: float = 0.0
    highest: float = 1.0
    kind: str = "share"

    @property
    def ends(self) -> tuple[float, float]:
        """Limits; the value itself where there are none, the possible range without reports."""
        low, high = (self.lowest, self.highest) if self.clipped is None else (self.clipped, self.clipped)
        return low if self.low is None else self.low, high if self.high is None else self.high


@dataclass(frozen=True, eq=False)
class ShareEstimates(Sequence[Estimate]):
    """Estimated shares of all options of one question, as arrays of shape (k,).

    A sequence of ``Estimate``, which are created when the first one is read: faster for thousands of options.

    Attributes:
        a, b, poisoning: the same for every option; see ``Estimate``.
        counts, sizes: reports that support each option, and reports that could support it.
        raw: unbiased shares; NaN without reports.
        std_error, std_error_fixed: of ``raw``; meaningless where ``Estimate`` has None.
        single, joint: lower and upper limits, for each option and jointly for all.
    """

    options: Sequence[str]
    rule: IntervalRule
    a: float
    b: float
    poisoning: float
    counts: Counts
    sizes: Counts
    raw: Array
    std_error: Array
    std_error_fixed: Array
    single: Limits
    joint: Limits
    implausible: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return the number of options."""
        return len(self.options)

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - an integer or a slice, as of any sequence
        """Return the estimate of one option, or a list of estimates for a slice."""
        return self._estimates[index]

    @cached_property
    def _estimates(self) -> list[Estimate]:
        values = (self.counts, self.sizes, self.raw, self.std_error, self.std_error_fixed, self.implausible)
        columns = [column.tolist() for column in (*values, *self.single, *self.joint)]
        return [self._estimate(*cells) for cells in zip(self.options, zip(*columns, strict=True), strict=True)]

    def _estimate(self, option: str, cells: tuple[Any, ...]) -> Estimate:
        count, n, raw, error, fixed, implausible, low, high, joint_low, joint_high = cells
        banded = self.rule.band and self.rule.waves == 1
        edges = band(count, n, self.a, self.b, self.rule.confidence, len(self)) if banded else (None, None)
        return Estimate(
            option=option,
            a=self.a,
            b=self.b,
            raw=raw if n else None,
            clipped=clip(raw) if n else None,
            std_error=error if n > 1 else None,
            low=low,
            high=high,
            method=self.rule.method if self.rule.waves == 1 else SAME_PEOPLE,
            confidence=self.rule.confidence,
            n=n,
            count=count,
            std_error_fixed=fixed if n else None,
            simultaneous_low=joint_low,
            simultaneous_high=joint_high,
            implausible=implausible,
            poisoning=self.poisoning,
            band_low=edges[0],
            band_high=edges[1],
        )


def estimate_share(
    option: str, count: int, n: int, a: Fraction, b: Fraction, rule: IntervalRule = DEFAULT_RULE
) -> Estimate:
    """Estimate the share of one option from the number of reports that support it, 0 .. n.

    ``a`` is P(support | true), ``b`` < a is P(support | not true). Raises EstimateError if counts or channel are
    impossible.
    """
    (estimate,) = estimate_shares([option], [count], n, a, b, rule)
    return estimate


def estimate_shares(
    options: Sequence[str], counts: ArrayLike, n: ArrayLike, a: Fraction, b: Fraction, rule: IntervalRule = DEFAULT_RULE
) -> ShareEstimates:
    """Estimate the share of each option of one question, with single and joint limits, as ``estimate_share`` does.

    ``counts`` and, if the number of reports differs by option (a sampled option), ``n`` have the shape (k,).
    """
    supporting, reports = _as_integers(counts), _as_integers(n)
    if reports.shape not in {(), supporting.shape} or supporting.shape != (len(options),):
        raise EstimateError("the counts or the channel are impossible")
    sizes = reports + np.zeros_like(supporting)
    if not (len(options) and np.all((supporting >= 0) & (supporting <= sizes)) and 0 <= b < a <= 1):
        raise EstimateError("the counts or the channel are impossible")
    high_rate, low_rate, k = float(a), float(b), len(options)
    known = supporting, reports, high_rate, low_rate
    if rule.waves > 1:
        single = same_people(*known, rule.confidence, rule.waves)
        joint = single if k == 1 else same_people(*known, rule.joint_confidence(k), rule.waves)
    else:
        single = METHODS[rule.method](*known, rule.confidence)
        joint = single if k == 1 else exact(*known, rule.joint_confidence(k))
    raw, error, fixed, alarm = _values(supporting, sizes, a, b)
    if rule.waves > 1:
        share = np.clip(raw, 0, 1)
        error = np.sqrt(error**2 + (rule.waves - 1) * share * (1 - share) / np.maximum(sizes, 1))
    shift = poisoning(high_rate, low_rate, rule.fakes)
    return ShareEstimates(
        options, rule, high_rate, low_rate, shift, supporting, sizes, raw, error, fixed, single, joint, alarm
    )


SHARES = (Fraction(0), Fraction(1, 20), Fraction(1, 10), Fraction(1, 5))
"""Assumed shares s of self-protective reports."""


def protected(
    mechanism: BinaryRR, tally: Mapping[int, int], rule: IntervalRule = DEFAULT_RULE
) -> list[tuple[float, Estimate]]:
    """Estimate the share of "yes" for each s in ``SHARES``; return pairs (s, estimate), s rising.

    Raises EstimateError for impossible counts.
    """
    yes = tally.get(1, 0)
    n = yes + tally.get(0, 0)
    return [
        (float(s), estimate_share("yes", yes, n, (1 - s) * mechanism.a, (1 - s) * mechanism.b, rule)) for s in SHARES
    ]


def counts_of(tally: Mapping[int, int], size: int) -> NDArray[Any]:
    """Return the counts of the values 0 .. size - 1 as an array; missing ones are 0."""
    return np.array([tally.get(value, 0) for value in range(size)])


def poisoning(a: float, b: float, fakes: float = FAKES) -> float:
    """Return the largest shift of a share by fake reports; ``fakes`` is their share, see ``IntervalRule.when_asked``.

    Maths: in units of a - b, a fake report that supports the option is at most 1 - b above the mean of an honest one,
    and a fake report that does not is at most a below it.
    """
    return fakes * max(1 - b, a) / (a - b)


def _as_integers(counts: ArrayLike) -> Counts:
    array = np.asarray(counts)
    if array.dtype.kind not in "iu":
        raise EstimateError("counts must be whole numbers")
    return array.astype(np.int64)


def _values(counts: Counts, sizes: Counts, a: Fraction, b: Fraction) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
    """Return raw shares, i.i.d. errors, fixed-population errors and alarms; errors are meaningless without reports."""
    den = math.lcm(a.denominator, b.denominator)
    true, other = a.numerator * (den // a.denominator), b.numerator * (den // b.denominator)
    # (count/n - b) / (a - b) in exact integers, rounded once: in floats the subtraction would cancel digits.
    pairs = zip(counts.tolist(), sizes.tolist(), strict=True)
    raw = np.array([(x * den - n * other) / (n * (true - other)) if n else math.nan for x, n in pairs])
    high, low, gap = float(a), float(b), (true - other) / den
    x, n = counts.astype(float), sizes.astype(float)
    some = np.maximum(n, 1)
    iid = np.sqrt(x * (n - x) / np.maximum(n - 1, 1)) / (some * gap)
    share = np.clip((x / some - low) / gap, 0, 1)
    fixed = np.sqrt((share * high * (1 - high) + (1 - share) * low * (1 - low)) / some) / gap
    alarm = 3.0 if len(counts) == 1 else -NormalDist().inv_cdf(NormalDist().cdf(-3.0) / len(counts))
    below = x < n * low - alarm * np.sqrt(n * low * (1 - low))
    above = x > n * high + alarm * np.sqrt(n * high * (1 - high))
    return raw, iid, fixed, below | above
