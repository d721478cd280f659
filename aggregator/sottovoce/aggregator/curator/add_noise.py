"""Add noise to integers. All noise is drawn before it is added, so that the random bytes used depend on no data."""

from collections.abc import Sequence
from fractions import Fraction

from sottovoce.shared.exact_noise import ExactNoise


def add_laplace(values: Sequence[int], rate: Fraction, draws: ExactNoise) -> list[int]:
    """Add independent discrete Laplace noise to each integer.

    Args:
        values: integers, in steps.
        rate: epsilon over the L1 sensitivity in steps.
        draws: source of the noise.
    """
    noise = [draws.discrete_laplace(rate.numerator, rate.denominator) for _ in values]
    return [value + drawn for value, drawn in zip(values, noise, strict=True)]


def add_gaussian(values: Sequence[int], variance: Fraction, draws: ExactNoise) -> list[int]:
    """Add independent discrete Gaussian noise to each integer.

    Args:
        values: integers, in steps.
        variance: s of P(x) ~ e^(-x^2 / (2 s)).
        draws: source of the noise.
    """
    noise = [draws.discrete_gaussian(variance.numerator, variance.denominator) for _ in values]
    return [value + drawn for value, drawn in zip(values, noise, strict=True)]
