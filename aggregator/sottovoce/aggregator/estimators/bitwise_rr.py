"""Estimates from bitwise randomized response; the maths is in ``sottovoce.shared.mechanisms.bitwise_rr``."""

from sottovoce.aggregator.estimators.optimal_unary import estimate
from sottovoce.aggregator.estimators.variable import NO_YES, Variable, YesNo, bits
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.bitwise_rr import BitwiseRR

__all__ = ["estimate", "variables"]


def variables(mechanism: BitwiseRR, domain: Domain) -> list[Variable]:
    """Return one yes/no variable for each option, reported by a bit of its own."""
    return [_option(mechanism, index, name) for index, name in enumerate(domain.options)]


def _option(mechanism: BitwiseRR, index: int, name: str) -> Variable:
    return YesNo(
        name=name,
        categories=NO_YES,
        support=mechanism.support,
        bit=lambda reported: bits(reported, mechanism.options)[:, index],
    )
