"""Expected estimates, straight from the published formulas in exact fractions and 50-digit decimals.

Nothing of the product's estimators is used here; where both agree, two derivations do.
"""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tests.documents import Document, number, one_of, question, some_of, vector
from tests.vectors.cases import TABLE, named

Row = list[Any]
"""[option, raw, std_error, low, high] in decimal strings of 15 digits, or [option, raw] where no closed form exists."""

Z = Decimal("1.95996398454005423552459443052055152795555007786954839847695264636162")
COIN = (Fraction(3, 4), Fraction(1, 4))


def decimal(value: Fraction) -> Decimal:
    getcontext().prec = 50
    return Decimal(value.numerator) / Decimal(value.denominator)


def vector_of(document: Document, tally: dict[int, int], rows: list[Row]) -> Document:
    counts = {str(value): count for value, count in tally.items()}
    return {"question": document, "tally": counts, "estimates": rows}


def share(option: str, count: int, n: int, channel: tuple[Fraction, Fraction]) -> Row:
    """The share of one option, its standard error and its score interval with continuity correction."""
    a, b = channel
    raw = (Fraction(count, n) - b) / (a - b) if n else None
    variance = Fraction(count, n) * Fraction(n - count, n) / ((n - 1) * (a - b) ** 2) if n > 1 else None
    return row(option, raw, variance, *share_interval(count, n, a, b))


def share_interval(count: int, n: int, a: Fraction, b: Fraction) -> tuple[Decimal, Decimal]:
    """The default interval of one share."""
    if n == 0:
        return Decimal(0), Decimal(1)
    x, half = decimal(min(max(Fraction(count), n * b), n * a)), Decimal("0.5")

    def limit(at: Decimal, sign: int) -> Decimal:
        return (at + Z * Z / 2 + sign * Z * (at * (n - at) / n + Z * Z / 4).sqrt()) / (n + Z * Z)

    def of_truth(reported: Decimal) -> Decimal:
        return min(max((reported - decimal(b)) / decimal(a - b), Decimal(0)), Decimal(1))

    low = Decimal(0) if x <= half else limit(x - half, -1)
    high = Decimal(1) if x >= n - half else limit(x + half, 1)
    return of_truth(low), of_truth(high)


def mean(
    option: str,
    tally: dict[int, int],
    levels: Sequence[Fraction],
    scores: Sequence[Fraction],
    channel: Callable[[int, int], Fraction],
) -> Row:
    """A mean of scores, its standard error and its interval; ``channel(x, y)`` is P(output y | level x)."""
    n = sum(tally.values())
    if n == 0:
        return row(option, None, None, decimal(levels[0]), decimal(levels[-1]))
    raw = sum((scores[y] * count for y, count in tally.items()), Fraction(0)) / n
    squares = sum(((scores[y] - raw) ** 2 * count for y, count in tally.items()), Fraction(0))
    moments = [sum(scores[y] ** 2 * channel(x, y) for y in range(len(scores))) for x in range(len(levels))]
    gap = max(high - low for low, high in pairwise(sorted(set(scores))))

    def inside(m: Fraction) -> bool:
        centre = min(max(raw, levels[0]), levels[-1])
        slack = Z * decimal(largest_variance(levels, moments, m) / n).sqrt() + decimal(gap / (2 * n))
        return decimal(abs(centre - m)) <= slack

    centre = min(max(raw, levels[0]), levels[-1])
    low, high = (edge(inside, centre, end) for end in (levels[0], levels[-1]))
    return row(option, raw, squares / (n - 1) / n if n > 1 else None, low, high)


def largest_variance(levels: Sequence[Fraction], moments: Sequence[Fraction], m: Fraction) -> Fraction:
    """The concave envelope of the second moments at m, as the highest chord over it, less m^2."""
    best = Fraction(0)
    for i, left in enumerate(levels):
        for j, right in enumerate(levels):
            if left <= m <= right:
                share_right = (m - left) / (right - left) if right > left else Fraction(0)
                best = max(best, moments[i] + share_right * (moments[j] - moments[i]))
    return best - m * m


def edge(inside: Callable[[Fraction], bool], within: Fraction, outside: Fraction) -> Decimal:
    if inside(outside):
        return decimal(outside)
    for _ in range(70):
        middle = (within + outside) / 2
        within, outside = (middle, outside) if inside(middle) else (within, middle)
    return decimal(within)


def row(option: str, raw: Fraction | None, variance: Fraction | None, low: Decimal, high: Decimal) -> Row:
    error = None if variance is None else decimal(variance).sqrt()
    figures = (None if raw is None else decimal(raw), error, low, high)
    return [option, *(None if figure is None else f"{figure:.15f}" for figure in figures)]


def binary_rr() -> Iterator[Document]:
    """Yes and no, at the edges too."""
    for channel, mechanism in (
        (COIN, named("coin_flip")),
        ((Fraction(2, 3), Fraction(1, 3)), named("warner", truth="2/3")),
        ((Fraction(11, 12), Fraction(1, 6)), named("binary_rr", a="11/12", b="1/6")),
    ):
        for yes, n in [(30, 100), (0, 100), (0, 20), (100, 100), (1, 1), (0, 0), (2101, 6366)]:
            yield vector_of(question(mechanism), {0: n - yes, 1: yes}, [share("yes", yes, n, channel)])


def memoized_rr() -> Iterator[Document]:
    """Two layers of coins: a yes is reported as yes 5 times in 8, a no 3 times."""
    coins = named("memoized_rr", permanent=named("coin_flip"), instantaneous=named("coin_flip"), waves=4)
    for yes, n in [(45, 100), (0, 20), (0, 0), (2101, 6366)]:
        tally = {0: n - yes, 1: yes}
        yield vector_of(question(coins), tally, [share("yes", yes, n, (Fraction(5, 8), Fraction(3, 8)))])


def kary_rr() -> Iterator[Document]:
    for odds, k in (("3", 4), ("3", 6), ("7/2", 9)):
        g = Fraction(odds)
        channel = g / (g + k - 1), 1 / (g + k - 1)
        for tally in ([7 * i * i % 31 for i in range(k)], [0] * (k - 1) + [50]):
            rows = [share(f"c{i}", count, sum(tally), channel) for i, count in enumerate(tally)]
            yield vector_of(one_of(k, named("kary_rr", odds=odds)), dict(enumerate(tally)), rows)


def subset_selection() -> Iterator[Document]:
    """Counts of support, and under k the reports."""
    for k, d in ((6, 2), (5, 4)):
        g = Fraction(3)
        a = d * g / (d * g + k - d)
        channel = a, ((d - 1) * a + d * (1 - a)) / (k - 1)
        # Every report supports d options, so the counts sum to d n.
        for n, first in ((60, 40), (0, 0)):
            counts = [first] + [(d * n - first) // (k - 1) + (i < (d * n - first) % (k - 1)) for i in range(k - 1)]
            rows = [share(f"c{i}", count, n, channel) for i, count in enumerate(counts)]
            document = one_of(k, named("subset_selection", odds="3", size=d))
            yield vector_of(document, {**dict(enumerate(counts)), k: n}, rows)


def hadamard_response() -> Iterator[Document]:
    """Counts of columns; the support of an option is counted over the signs of its row."""
    for k, columns in ((3, 4), (6, 8)):
        g = Fraction(3)
        for tally in ({y: (5 * y * y + 3) % 17 for y in range(columns)}, {0: 0}):
            n = sum(tally.values())
            counts = [sum(c for y, c in tally.items() if bin(y & x + 1).count("1") % 2 == 0) for x in range(k)]
            rows = [share(f"c{x}", count, n, (g / (g + 1), Fraction(1, 2))) for x, count in enumerate(counts)]
            yield vector_of(one_of(k, named("hadamard_response", odds="3")), tally, rows)


def bitwise_rr() -> Iterator[Document]:
    """Counts of support, and under k the reports; each option by itself."""
    for n, counts in ((100, [30, 75, 100]), (0, [0, 0, 0])):
        rows = [share(f"c{i}", count, n, COIN) for i, count in enumerate(counts)]
        document = some_of(3, named("bitwise_rr", a="3/4", b="1/4"), max_choices=1)
        yield vector_of(document, {**dict(enumerate(counts)), 3: n}, rows)


def optimal_unary() -> Iterator[Document]:
    """A fair coin for the truth, one in four for every other option; nothing ties the shares together."""
    channel = (Fraction(1, 2), Fraction(1, 4))
    for counts, n in (((50, 25, 25), 100), ((0, 1, 1), 1), ((0, 0, 0), 0), ((2000, 1500, 3000), 6366)):
        rows = [share(f"c{i}", count, n, channel) for i, count in enumerate(counts)]
        yield vector_of(one_of(3, named("optimal_unary", odds="3")), dict(enumerate((*counts, n))), rows)


def sampled_option() -> Iterator[Document]:
    """Each option among the reports that drew it; one option that nobody drew."""
    pairs = [(70, 30), (10, 90), (0, 0)]
    tally = {2 * i + bit: count for i, pair in enumerate(pairs) for bit, count in enumerate(pair)}
    rows = [share(f"c{i}", yes, no + yes, COIN) for i, (no, yes) in enumerate(pairs)]
    yield vector_of(some_of(3, named("sampled_option", a="3/4", b="1/4")), tally, rows)


def ends(low: Fraction, high: Fraction) -> tuple[list[Fraction], list[Fraction], Callable[[int, int], Fraction]]:
    """Levels, scores and channel of stochastic rounding through the coin flip."""
    a, b = COIN
    scores = [low + (high - low) * (y - b) / (a - b) for y in (0, 1)]
    return [low, high], scores, lambda x, y: COIN[1 - x] if y else 1 - COIN[1 - x]


def rounding_rr() -> Iterator[Document]:
    """A number from -1 to 3."""
    document = number("-1", "3", "0.5", named("rounding_rr", a="3/4", b="1/4"))
    for tally in ({0: 70, 1: 30}, {0: 20, 1: 0}, {0: 0, 1: 1}, {0: 0, 1: 0}, {0: 3100, 1: 3266}):
        yield vector_of(document, tally, [mean("mean", tally, *ends(Fraction(-1), Fraction(3)))])


def level_table() -> Iterator[Document]:
    """Three levels on 0 .. 8."""
    weights = TABLE["weights"]
    levels = [Fraction(0), Fraction(4), Fraction(8)]
    scores = [4 + 4 * Fraction(mark, 10**9) for mark in TABLE["scores"]]
    for tally in ({0: 10, 1: 20, 2: 30}, {0: 5, 1: 0, 2: 0}, {0: 0, 1: 0, 2: 0}, {0: 1000, 1: 900, 2: 1100}):
        rows = [mean("mean", tally, levels, scores, lambda x, y: Fraction(weights[x][y], 8))]
        yield vector_of(number("0", "8", "1", TABLE), tally, rows)


def geometric() -> Iterator[Document]:
    """Steps of one half from 0 to 2, noise of ratio 1/2."""
    r, m = Fraction(1, 2), 4

    def distribution(x: int, y: int) -> Fraction:
        inner = (1 - r) / (1 + r) * r ** abs(y - x)
        return r ** abs(y - x) / (1 + r) if y in {0, m} else inner

    tail = r / (1 - r)
    scores = [unit / 2 for unit in (-tail, Fraction(1), Fraction(2), Fraction(3), m + tail)]
    levels = [Fraction(step, 2) for step in range(m + 1)]
    document = number("0", "2", "0.5", named("geometric", ratio="1/2"))
    for counts in ((9, 7, 5, 3, 1), (0, 0, 0, 0, 6), (0, 0, 0, 0, 0), (100, 200, 300, 400, 500)):
        tally = dict(enumerate(counts))
        yield vector_of(document, tally, [mean("mean", tally, levels, scores, distribution)])


def sampled_coordinate() -> Iterator[Document]:
    """Each coordinate among the reports that drew it."""
    pairs = [(70, 30), (12, 40), (0, 0)]
    tally = {2 * i + end: count for i, pair in enumerate(pairs) for end, count in enumerate(pair)}
    channel = ends(Fraction(0), Fraction(24))
    rows = [mean(f"x{i}", dict(enumerate(pair)), *channel) for i, pair in enumerate(pairs)]
    yield vector_of(vector(3, 0, 24, "0.5", named("sampled_coordinate", a="3/4", b="1/4")), tally, rows)


def square_wave() -> Iterator[Document]:
    """Two bins without a window are binary randomized response: its share, clipped for the likeliest distribution."""
    document = number(0, 9, 1, named("square_wave", odds="3", bins=2, width=0))
    for low, high in ((6000, 4000), (1000, 9000), (20000, 20000)):
        upper = (Fraction(high, low + high) - COIN[1]) / (COIN[0] - COIN[1])
        rows = [["mean", f"{decimal(2 + 5 * upper):.15f}"]]
        likeliest = min(max(upper, Fraction(0)), Fraction(1))
        shares = [1 - likeliest, likeliest]
        rows += [[name, f"{decimal(part):.15f}"] for name, part in zip(("0 to 4", "5 to 9"), shares, strict=True)]
        yield vector_of(document, {0: low, 1: high}, rows)


ESTIMATE_VECTORS: dict[str, Callable[[], Iterator[Document]]] = {
    "binary_rr": binary_rr,
    "kary_rr": kary_rr,
    "memoized_rr": memoized_rr,
    "subset_selection": subset_selection,
    "hadamard_response": hadamard_response,
    "optimal_unary": optimal_unary,
    "sampled_option": sampled_option,
    "bitwise_rr": bitwise_rr,
    "rounding_rr": rounding_rr,
    "level_table": level_table,
    "square_wave": square_wave,
    "geometric": geometric,
    "sampled_coordinate": sampled_coordinate,
}
"""Vectors of estimates by the mechanism's name."""
