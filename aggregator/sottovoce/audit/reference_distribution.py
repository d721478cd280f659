"""Compute the distribution of each randomizer in exact fractions, from the survey's parameters alone.

The formulas are written out here once more, from the "Channel" paragraphs of ``sottovoce.shared.mechanisms``, and none
of those modules is used: a table that runs is held against what was agreed, and not against itself.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from math import comb, prod
from typing import Any

from sottovoce.shared.answers import Domain

Fields = Mapping[str, Any]
Distribution = Callable[[int, Any], Fraction]
"""``distribution(reported, value)``: the probability of this report when the truth is ``value``."""


def reference_distribution(fields: Fields, domain: Domain) -> Distribution:
    """Return the probability of each report for each true value; ``fields`` are the survey's canonical parameters."""
    return _DISTRIBUTIONS[fields["name"]](fields, domain)


def _bit(fields: Fields) -> Callable[[int, int], Fraction]:
    """Return P(y | x) for one yes or no with P(1 | 1) = a and P(1 | 0) = b."""
    yes = (Fraction(fields["b"]), Fraction(fields["a"]))
    no = (1 - yes[0], 1 - yes[1])
    return lambda reported, value: yes[value] if reported == 1 else no[value]


def _kary(fields: Fields, domain: Domain) -> Distribution:
    odds = Fraction(fields["odds"])
    return lambda reported, value: (odds if reported == value else Fraction(1)) / (odds + domain.size - 1)


def _subset(fields: Fields, domain: Domain) -> Distribution:
    odds, size, k = Fraction(fields["odds"]), fields["size"], domain.size
    whole = odds * comb(k - 1, size - 1) + comb(k - 1, size)
    return lambda reported, value: (odds if reported >> value & 1 else Fraction(1)) / whole


def _hadamard(fields: Fields, domain: Domain) -> Distribution:
    odds, columns = Fraction(fields["odds"]), 2
    while columns <= domain.size:
        columns *= 2

    def distribution(reported: int, value: int) -> Fraction:
        own = bin((value + 1) & reported).count("1") % 2 == 0
        return (odds if own else Fraction(1)) / ((odds + 1) * (columns // 2))

    return distribution


def _bits(bit: Callable[[int, int], Fraction], options: int, reported: int, value: int) -> Fraction:
    return prod((bit(reported >> j & 1, value >> j & 1) for j in range(options)), start=Fraction(1))


def _unary(fields: Fields, domain: Domain) -> Distribution:
    bit = _bit({"a": Fraction(1, 2), "b": 1 / (Fraction(fields["odds"]) + 1)})
    return lambda reported, value: _bits(bit, domain.size, reported, 1 << value)


def _sampled_option(fields: Fields, domain: Domain) -> Distribution:
    bit = _bit(fields)
    return lambda reported, value: bit(reported % 2, value >> reported // 2 & 1) / domain.size


def _mixed(bit: Callable[[int, int], Fraction], steps: int, reported: int, step: int) -> Fraction:
    """Mix the distributions of both ends of the grid, to which a step is rounded at random."""
    up = Fraction(step, steps)
    return up * bit(reported, 1) + (1 - up) * bit(reported, 0)


def _coordinate(fields: Fields, domain: Domain) -> Distribution:
    bit, count = _bit(fields), len(domain.options)
    return lambda reported, value: _mixed(bit, domain.steps, reported % 2, value[reported // 2]) / count


def _level(fields: Fields, domain: Domain) -> Distribution:
    rows, steps = fields["weights"], domain.steps

    def distribution(reported: int, value: int) -> Fraction:
        below, rest = divmod(value * (len(rows) - 1), steps)
        above = rows[below + 1] if rest else rows[below]
        return Fraction((steps - rest) * rows[below][reported] + rest * above[reported], steps * sum(rows[0]))

    return distribution


def _wave(fields: Fields, domain: Domain) -> Distribution:
    odds, bins, width = Fraction(fields["odds"]), int(fields["bins"]), int(fields["width"])
    whole = odds * (2 * width + 1) + bins - 1

    def distribution(reported: int, value: int) -> Fraction:
        first = value * bins // domain.size
        return (odds if first <= reported <= first + 2 * width else Fraction(1)) / whole

    return distribution


def _geometric(fields: Fields, domain: Domain) -> Distribution:
    ratio = Fraction(fields["ratio"])

    def distribution(reported: int, value: int) -> Fraction:
        near: Fraction = ratio ** abs(reported - value)
        return near / (1 + ratio) * (1 if reported in {0, domain.steps} else 1 - ratio)

    return distribution


def _memoized(fields: Fields, _domain: Domain) -> Distribution:
    memo, sent = _bit(fields["permanent"]), _bit(fields["instantaneous"])
    return lambda reported, value: sum((memo(m, value) * sent(reported, m) for m in (0, 1)), start=Fraction(0))


_DISTRIBUTIONS: dict[str, Callable[[Fields, Domain], Distribution]] = {
    "binary_rr": lambda fields, _domain: _bit(fields),
    "kary_rr": _kary,
    "memoized_rr": _memoized,
    "subset_selection": _subset,
    "hadamard_response": _hadamard,
    "optimal_unary": _unary,
    "sampled_option": _sampled_option,
    "bitwise_rr": lambda fields, domain: partial(_bits, _bit(fields), domain.size),
    "rounding_rr": lambda fields, domain: partial(_mixed, _bit(fields), domain.steps),
    "level_table": _level,
    "square_wave": _wave,
    "geometric": _geometric,
    "sampled_coordinate": _coordinate,
}
