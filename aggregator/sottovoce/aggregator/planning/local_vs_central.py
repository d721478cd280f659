"""Compare local, shuffled and central differential privacy: half-widths of one share at the same epsilon.

Half-width  z sqrt(V), z of the confidence: the normal approximation, for comparison; results show other intervals.
People      p (1 - p) / n, the sampling variance, is in every row; "no noise" has nothing else.
Local       v / n, v the variance of one report of each mechanism at this epsilon: noise falls with sqrt(n), as sampling
            error does. If a report carries one of k marks, drawn at random, v is k times as large. Means are of a
            number in [0, 1] with 100 steps and mean p.
Shuffled    Randomized response with the largest local epsilon E0 that shuffling n reports reduces to epsilon, with
            delta 1/n^2: e^epsilon - 1 = (e^E0 - 1)/(e^E0 + 1) (8 sqrt(e^E0 ln(4/delta)/n) + 8 e^E0/n), E0 at most
            ln(n / (16 ln(2/delta))), and at least epsilon. Holds only under ``CONDITION``, which the row states.
Central     p (1 - p)/n + s/n^2, s the variance of exact discrete noise under replace-one neighbours: for two options of
            one count (sensitivity 1), for more of a cell of a histogram (2, sqrt 2 in L2); Gaussian with delta 1/n^2.
Sources     Kasiviswanathan et al. 2011; Chan, Shi and Song 2012 (the gap of sqrt n); Feldman, McMillan and Talwar 2021.
"""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

from sottovoce.aggregator.curator.gaussian_delta import gaussian_variance
from sottovoce.aggregator.estimators.intervals import halved
from sottovoce.aggregator.planning.question_channels import mechanism_measure
from sottovoce.shared.answers import Domain, Grid
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.mechanisms import MAX_EPSILON, MECHANISMS, MIN_EPSILON

PEOPLE = tuple(10**power for power in range(2, 8))
"""Numbers of people to compare."""

CHOICES = ("binary_rr", "kary_rr", "subset_selection", "optimal_unary", "hadamard_response")
MARKS = ("sampled_option", "bitwise_rr")
NUMBERS = ("rounding_rr", "level_table", "geometric", "square_wave")

CONDITION = (
    "holds only if reports arrive in an order that says nothing, without address, time or id, and all others are "
    "honest; no respondent can check it"
)

WHEN = (
    "Local: choose it where no institution is trusted with the answers, so that people would not answer otherwise; no "
    "breach, court or curiosity finds answers that were never sent.",
    "Shuffled: shown for designs where another party mixes the reports; the device's ledger never counts on it.",
    "Central: right where data are in trusted hands already, such as a registrar's file, or a survey's public answers; "
    "its noise is nothing for large n, and everything hangs on the curator.",
    "No noise: right for nothing that a small cell could tell of a person.",
)


@dataclass(frozen=True)
class PriceRow:
    """Precision of a mechanism under a trust model.

    Attributes:
        trust: trust model: local, shuffled, central or none.
        subject: estimand: share, marks, mean, or any.
        half_widths: one for each number of people, as shares of the range.
        condition: assumption of the row; "" if the trust model says it all.
    """

    name: str
    trust: str
    subject: str
    half_widths: tuple[float, ...]
    condition: str = ""


@dataclass(frozen=True)
class Price:
    """Comparison of trust models: rows, local ones first, all at one epsilon except "no noise".

    ``prevalence`` is the expected share, or mean in [0, 1]; ``people`` are the numbers compared.
    """

    epsilon: float
    options: int
    prevalence: float
    confidence: float
    people: tuple[int, ...]
    rows: tuple[PriceRow, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as a JSON-serializable dict."""
        return {**asdict(self), "neighbours": "replace-one", "when": WHEN}


def price_of_trust(epsilon: Fraction, options: int = 2, prevalence: float = 0.5, confidence: float = 0.95) -> Price:
    """Compute half-widths by mechanism and number of people.

    Raises EstimateError unless epsilon is in 0.01 .. 10 per person, options at least 2, prevalence, the expected share
    of an option, in [0, 1], and confidence in (0, 1).
    """
    if not MIN_EPSILON <= epsilon <= MAX_EPSILON:
        raise EstimateError("epsilon must lie between 0.01 and 10")
    if not (options >= 2 and 0 <= prevalence <= 1 and 0 < confidence < 1):
        raise EstimateError("a comparison needs 2 options at least, a share in [0, 1] and a confidence in (0, 1)")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rows = (*_local(epsilon, options, prevalence, z), *_others(epsilon, options, prevalence, z))
    return Price(float(epsilon), options, prevalence, confidence, PEOPLE, rows)


def _local(epsilon: Fraction, options: int, prevalence: float, z: float) -> Iterator[PriceRow]:
    choice = Domain(tuple(map(str, range(options))))
    number = Domain(grid=Grid(Fraction(0), Fraction(1), Fraction(1, 100)))
    for names, domain, subject in ((CHOICES, choice, "share"), (MARKS, choice, "marks"), (NUMBERS, number, "mean")):
        for name in names:
            value = _variance(name, epsilon, domain, prevalence)
            if value is not None:
                # Only one in ``options`` reports carries a given mark.
                factor = options if name == "sampled_option" else 1
                yield PriceRow(name, "local", subject, tuple(z * math.sqrt(value * factor / n) for n in PEOPLE))


def _variance(name: str, epsilon: Fraction, domain: Domain, prevalence: float) -> float | None:
    """Return the variance of one report; None if the mechanism does not support the question or the epsilon."""
    if name == "binary_rr" and domain.size != 2:
        return None
    try:
        mechanism = MECHANISMS[name].for_epsilon(epsilon, domain)
    except ValueError:
        return None
    return mechanism_measure(mechanism, domain).variance(prevalence)


def _others(epsilon: Fraction, options: int, prevalence: float, z: float) -> Iterator[PriceRow]:
    people = [prevalence * (1 - prevalence) / n for n in PEOPLE]
    shuffled = [_shuffled(float(epsilon), options, prevalence, n) for n in PEOPLE]
    sensitivity = 1 if options == 2 else 2
    a = math.exp(-epsilon / sensitivity)
    laplace = [2 * a / (1 - a) ** 2 / n**2 for n in PEOPLE]
    cells = 1 if options == 2 else options
    gauss = [float(gaussian_variance(epsilon, Fraction(1, n**2), sensitivity, cells)[0]) / n**2 for n in PEOPLE]
    for name, trust, noise, condition in (
        ("kary_rr" if options > 2 else "binary_rr", "shuffled", shuffled, CONDITION),
        ("discrete Laplace", "central", laplace, "the curator sees every answer"),
        ("discrete Gaussian", "central", gauss, "the curator sees every answer; delta is 1/n^2"),
        ("no noise", "none", [0.0 for _ in PEOPLE], "everybody who sees the result may learn of a person"),
    ):
        widths = tuple(z * math.sqrt(own + added) for own, added in zip(people, noise, strict=True))
        yield PriceRow(name, trust, "share" if trust == "shuffled" else "any", widths, condition)


def _shuffled(epsilon: float, options: int, prevalence: float, n: int) -> float:
    """Return the variance of k-ary randomized response by noise, at the epsilon that shuffling allows."""
    odds = math.exp(allowed_by_shuffling(epsilon, n, 1 / n**2))
    a, b = odds / (odds + options - 1), 1 / (odds + options - 1)
    return (prevalence * a * (1 - a) + (1 - prevalence) * b * (1 - b)) / (a - b) ** 2 / n


def allowed_by_shuffling(epsilon: float, people: int, delta: float) -> float:
    """Return the largest local epsilon that shuffling so many reports reduces to ``epsilon``; at least ``epsilon``.

    ``epsilon`` and ``delta`` are those of the guarantee after shuffling.
    """
    high = math.log(max(people / (16 * math.log(2 / delta)), 1))
    if high <= epsilon:
        return epsilon
    # Bisection: the amplification bound grows with the local epsilon.
    low = epsilon if _mixed(epsilon, people, delta) <= epsilon else 0.0
    return max(halved(lambda local: _mixed(local, people, delta) <= epsilon, low, high)[0], epsilon)


def _mixed(local: float, people: int, delta: float) -> float:
    odds = math.exp(local)
    return math.log1p(
        (odds - 1) / (odds + 1) * (8 * math.sqrt(odds * math.log(4 / delta) / people) + 8 * odds / people)
    )


WIDTH, HEIGHT = 720, 440
_LEFT, _TOP, _RIGHT, _BOTTOM = 70, 20, 250, 50
COLOURS = {"local": "#b3441e", "shuffled": "#8a6d00", "central": "#2a6fb0", "none": "#555555"}
_DASHES = ("", "6 3", "2 3", "9 3 2 3", "1 4")


def price_svg(price: Price) -> str:
    """Draw the comparison as SVG: a labelled line for each row, and a title for screen readers."""
    least = math.floor(math.log10(min(width for row in price.rows for width in row.half_widths)))
    most = math.ceil(math.log10(max(width for row in price.rows for width in row.half_widths)))
    lines = [_line(row, price, (least, most), place) for place, row in enumerate(price.rows)]
    title = f"Half-width at epsilon {price.epsilon:g} by number of people: local, shuffled, central, no noise"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-size="11">'
    return "\n".join([head, f"<title>{title}</title>", *_axes(price, least, most), *lines, "</svg>", ""])


def _axes(price: Price, least: int, most: int) -> list[str]:
    found = []
    for n in price.people:
        x = _x(price, n)
        found.append(f'<path d="M{x:.1f} {_TOP}V{HEIGHT - _BOTTOM}" stroke="#ddd"/>')
        found.append(f'<text x="{x:.1f}" y="{HEIGHT - _BOTTOM + 16}" text-anchor="middle">{n:,}</text>')
    for power in range(least, most + 1):
        y = _y(10.0**power, (least, most))
        found.append(f'<path d="M{_LEFT} {y:.1f}H{WIDTH - _RIGHT}" stroke="#ddd"/>')
        found.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    return [*found, f'<text x="{(_LEFT + WIDTH - _RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">people</text>']


def _line(row: PriceRow, price: Price, powers: tuple[int, int], place: int) -> str:
    points = " ".join(
        f"{_x(price, n):.1f},{_y(width, powers):.1f}" for n, width in zip(price.people, row.half_widths, strict=True)
    )
    colour, dashes = COLOURS[row.trust], _DASHES[place % len(_DASHES)]
    y = _TOP + 14 + 18 * place
    edge = WIDTH - _RIGHT + 12
    stroke = f'fill="none" stroke="{colour}" stroke-width="1.5" stroke-dasharray="{dashes}"'
    return (
        f'<polyline points="{points}" {stroke}/><path d="M{edge} {y - 4}h24" {stroke}/>'
        f'<text x="{edge + 30}" y="{y}" fill="{colour}">{row.trust}: {row.name} ({row.subject})</text>'
    )


def _x(price: Price, n: int) -> float:
    low, high = math.log10(price.people[0]), math.log10(price.people[-1])
    return _LEFT + (math.log10(n) - low) / (high - low) * (WIDTH - _LEFT - _RIGHT)


def _y(width: float, powers: tuple[int, int]) -> float:
    share = (math.log10(width) - powers[0]) / (powers[1] - powers[0])
    return HEIGHT - _BOTTOM - share * (HEIGHT - _TOP - _BOTTOM)
