"""Add noise to integers, in steps. All of it is drawn before it is added: the random bytes used depend on no data."""

from collections.abc import Sequence
from fractions import Fraction

from sottovoce.shared.exact_noise import ExactNoise


def add_laplace(values: Sequence[int], rate: Fraction, draws: ExactNoise) -> list[int]:
    """Add independent discrete Laplace noise to each integer; ``rate`` is epsilon over the L1 sensitivity in steps."""
    noise = [draws.discrete_laplace(rate.numerator, rate.denominator) for _ in values]
    return [value + drawn for value, drawn in zip(values, noise, strict=True)]


def add_gaussian(values: Sequence[int], variance: Fraction, draws: ExactNoise) -> list[int]:
    """Add independent discrete Gaussian noise to each integer; ``variance`` is s of P(x) ~ e^(-x^2 / (2 s))."""
    noise = [draws.discrete_gaussian(variance.numerator, variance.denominator) for _ in values]
    return [value + drawn for value, drawn in zip(values, noise, strict=True)]
