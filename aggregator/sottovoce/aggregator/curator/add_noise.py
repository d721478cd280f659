"""Noise onto integers: all of it is drawn first and added afterwards, so that no byte depends on the data."""

from collections.abc import Sequence
from fractions import Fraction

from sottovoce.shared.exact_noise import ExactNoise


def add_laplace(values: Sequence[int], rate: Fraction, draws: ExactNoise) -> list[int]:
    """
    Each integer with its own discrete Laplace noise.

    Args:
        values: integers, in steps.
        rate: epsilon over the L1 sensitivity in steps.
        draws: where the noise comes from.
    """
    noise = [draws.discrete_laplace(rate.numerator, rate.denominator) for _ in values]
    return [value + drawn for value, drawn in zip(values, noise, strict=True)]


def add_gaussian(values: Sequence[int], variance: Fraction, draws: ExactNoise) -> list[int]:
    """
    Each integer with its own discrete Gaussian noise.

    Args:
        values: integers, in steps.
        variance: s of P(x) ~ e^(-x^2 / (2 s)).
        draws: where the noise comes from.
    """
    noise = [draws.discrete_gaussian(variance.numerator, variance.denominator) for _ in values]
    return [value + drawn for value, drawn in zip(values, noise, strict=True)]
