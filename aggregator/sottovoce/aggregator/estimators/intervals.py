"""Intervals for a share p, when x of n reports support it and x ~ Bin(n, b + (a - b) p); tails and quantiles.

Clipped count   Every method but the last takes limits for the reported share l at the real number
                x' = min(max(x, n b), n a), and maps them through (l - b) / (a - b) into [0, 1].
                Lemma: for limits that increase in x and contain x/n, l in [b, a] is covered at x' whenever it is
                covered at x (if x < n b, then U(x') >= U(x) and L(x') <= b <= l). So clipping never lowers the
                coverage, and the interval is never empty, never a point, never outside [0, 1].
score-cc        Wilson's score limits with continuity correction; the default. Minimum coverage by enumeration .9500 at
                95 % (n = 1..400; .9478 at n = 2 with epsilon 5). Below nominal at 99 % for strongly asymmetric
                channels and few reports: use "exact" there.
wilson          Without the correction: shorter, approximate (minimum .938 at n = 100 with the coin flip).
exact           Clopper and Pearson: coverage at least nominal, by theorem, at every level.
fixed-population  Everyone in a finite population answered: only the channel is random. p' +- z sqrt((p' a (1-a) +
                (1-p') b (1-b)) / n) / (a - b), p' the clipped share. Approximate: minimum .932 at n = 20 and .936
                at n = 100 with the coin flip, but .80 at n = 5 with epsilon 3.
same-people     Reports of the same people in W waves, summed, are correlated through their answers. The score interval
                with V(p) = (l (1 - l) / (a - b)^2 + (W - 1) p (1 - p)) / n, the largest possible variance, reached if
                no answer ever changes. Minimum coverage by enumeration .945 (epsilon 5 and five people: .941); without
                the second term as little as .52.
Sources         Wilson 1927; Clopper and Pearson 1934; Newcombe 1998 (continuity correction).

Every function of a count takes one or an array of counts, and returns arrays of that shape.
"""

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sottovoce.aggregator.estimators.distributions.beta import beta_quantile
from sottovoce.shared.errors import EstimateError

Array = NDArray[np.float64]
Limits = tuple[Array, Array]

BISECTIONS = 60


def upper_tail(statistic: float, df: int) -> float:
    """Return P(X >= statistic) for X chi-square with ``df`` >= 1 degrees of freedom, by the standard library alone.

    Maths: with h = statistic / 2, the sum of e^-h h^a / Gamma(a + 1) over a = df/2 - 1, df/2 - 2, ... down to 0, or to
    1/2 and then erfc(sqrt h) (repeated integration by parts).
    """
    if statistic <= 0:
        return 1.0
    h = statistic / 2
    powers = [df / 2 - 1 - step for step in range(df // 2)]
    terms = (math.exp(power * math.log(h) - h - math.lgamma(power + 1)) for power in powers)
    return min(1.0, math.fsum(terms) + (math.erfc(math.sqrt(h)) if df % 2 else 0.0))


def score_cc(count: ArrayLike, n: ArrayLike, a: float, b: float, confidence: float) -> Limits:
    """Return score limits (low, high) of the share with continuity correction, at the clipped count.

    Args:
        count: reports that support the option, 0 .. n each.
        n: reports; broadcasts against ``count``. Without reports the limits are [0, 1].
        a: P(support | true).
        b: P(support | not true), b < a.
        confidence: nominal coverage, in (0, 1).
    """
    x, size = _clip_counts(count, n, a, b)
    z = normal_quantile(confidence)
    # Without these two guards the limits would exclude a clipped, fractional count near 0 or n.
    low = np.where(x <= 0.5, 0.0, _score_limit(np.maximum(x - 0.5, 0.0), size, -z))
    high = np.where(x >= size - 0.5, 1.0, _score_limit(np.minimum(x + 0.5, size), size, z))
    return _shares(low, high, n, a, b)


def wilson(count: ArrayLike, n: ArrayLike, a: float, b: float, confidence: float) -> Limits:
    """Return Wilson's score limits at the clipped count, as ``score_cc`` does. Approximate."""
    x, size = _clip_counts(count, n, a, b)
    z = normal_quantile(confidence)
    return _shares(_score_limit(x, size, -z), _score_limit(x, size, z), n, a, b)


def exact(count: ArrayLike, n: ArrayLike, a: float, b: float, confidence: float) -> Limits:
    """Return Clopper and Pearson's limits at the clipped count, as ``score_cc`` does. Coverage is guaranteed."""
    x, size = _clip_counts(count, n, a, b)
    if size.ndim:
        return _shares(*_exact(x, size, confidence), n, a, b)
    # Compute each distinct count once: of a thousand options most share their count, or are clipped to the same.
    different, place = np.unique(x, return_inverse=True)
    low, high = _exact(different, size, confidence)
    return _shares(low[place], high[place], n, a, b)


def fixed_population(count: ArrayLike, n: ArrayLike, a: float, b: float, confidence: float) -> Limits:
    """Return limits for the share among exactly these n respondents, as ``score_cc`` does. Approximate."""
    x, size = _clip_counts(count, n, a, b)
    share = (x / size - b) / (a - b)
    variance = (share * a * (1 - a) + (1 - share) * b * (1 - b)) / size
    half = normal_quantile(confidence) * np.sqrt(np.maximum(variance, 0.0))
    return _shares(x / size - half, x / size + half, n, a, b)


def same_people(count: ArrayLike, n: ArrayLike, a: float, b: float, confidence: float, waves: int) -> Limits:
    """Return limits as ``score_cc`` does for the summed reports, n in total, of the same people in several waves."""
    x, size = _clip_counts(count, n, a, b)
    centre, z, correction = (x / size - b) / (a - b), normal_quantile(confidence), 1 / (2 * size * (a - b))

    def inside(p: Array) -> NDArray[np.bool_]:
        reported = b + (a - b) * p
        variance = (reported * (1 - reported) / (a - b) ** 2 + (waves - 1) * p * (1 - p)) / size
        return np.abs(centre - p) <= z * np.sqrt(variance) + correction

    # sqrt(V) is concave, so ``inside`` holds on one interval around the centre, and bisection finds its ends.
    low, high = (_outermost(inside, centre, np.full_like(centre, end)) for end in (0.0, 1.0))
    some = np.asarray(n) > 0
    return np.where(some, low, 0.0), np.where(some, high, 1.0)


METHODS: dict[str, Callable[[ArrayLike, ArrayLike, float, float, float], Limits]] = {
    "score-cc": score_cc,
    "wilson": wilson,
    "exact": exact,
    "fixed-population": fixed_population,
}
"""Functions ``(count, n, a, b, confidence) -> (low, high)``, by name of the method."""


def normal_quantile(confidence: float) -> float:
    """Return the z with P(abs N(0, 1) <= z) = confidence; 1.95996 at .95.

    Raises EstimateError unless the confidence is from 0 to below 1.
    """
    if not 0 <= confidence < 1:
        raise EstimateError("a confidence is a number from 0 to below 1")
    return NormalDist().inv_cdf((1 + confidence) / 2)


def t_quantile(confidence: float, df: int) -> float:
    """Return the t with P(abs T <= t) = confidence, T of Student's t; 2.22814 at .95 with 10 degrees of freedom."""
    # With tan(angle) = T / sqrt(df) the density is cos^(df - 1), which is 0 for all purposes beyond 40 deviations.
    angles = np.linspace(0.0, min(np.pi / 2, 40 / np.sqrt(df)), 1 << 14)
    density = np.cos(angles) ** (df - 1)
    below = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
    return float(np.sqrt(df) * np.tan(np.interp(confidence, below / below[-1], angles)))


def _clip_counts(count: ArrayLike, n: ArrayLike, a: float, b: float) -> tuple[Array, Array]:
    """Return the clipped counts and n; n = 0 counts as 1 here, and ``_shares`` then returns [0, 1]."""
    size = np.maximum(np.asarray(n, dtype=float), 1.0)
    return np.clip(np.asarray(count, dtype=float), size * b, size * a), size


def _exact(x: Array, n: Array, confidence: float) -> Limits:
    """Return Clopper and Pearson's limits for the reported share."""
    both = np.stack([x, n - x])  # the upper limit for x is the lower limit for n - x, mirrored
    # The l with P(X >= x) = tail is the quantile of Beta(x, n - x + 1), also for real x; it is 0 at x = 0.
    low = beta_quantile((1 - confidence) / 2, np.maximum(both, 1e-12), n - both + 1)
    low = np.where(both > 0, low, 0.0)
    return low[0], 1 - low[1]


def _score_limit(x: Array, n: Array, z: float) -> Array:
    """Return Wilson's limit for the reported share: lower for z < 0, upper for z > 0."""
    return (x + z * z / 2 + z * np.sqrt(x * (n - x) / n + z * z / 4)) / (n + z * z)


def clip(share: float) -> float:
    """Clip a share into [0, 1]."""
    return min(max(share, 0.0), 1.0)


def edge(inside: Callable[[float], bool], within: float, outside: float) -> float:
    """Return the last point inside on the way from ``within`` to ``outside``, by bisection; errs outwards."""
    return outside if inside(outside) else halved(inside, within, outside)[1]


def halved(
    inside: Callable[[float], bool], within: float, outside: float, times: int = BISECTIONS
) -> tuple[float, float]:
    """Return the points inside and outside between which a set ends, brought together by bisection."""
    for _ in range(times):
        middle = (within + outside) / 2
        within, outside = (middle, outside) if inside(middle) else (within, middle)
    return within, outside


def _outermost(inside: Callable[[Array], NDArray[np.bool_]], within: Array, outside: Array) -> Array:
    """Return what ``edge`` returns, for arrays of points."""
    reached = inside(outside)
    for _ in range(BISECTIONS):
        middle = (within + outside) / 2
        good = inside(middle)
        within, outside = np.where(good, middle, within), np.where(good | reached, outside, middle)
    return outside


def _shares(low: Array, high: Array, n: ArrayLike, a: float, b: float) -> Limits:
    """Convert limits for the reported share to limits for the true share; [0, 1] without reports."""
    some = np.asarray(n) > 0
    return (
        np.where(some, np.clip((low - b) / (a - b), 0.0, 1.0), 0.0),
        np.where(some, np.clip((high - b) / (a - b), 0.0, 1.0), 1.0),
    )
