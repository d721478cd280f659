"""Estimates from subset selection; the maths is in ``sottovoce.shared.mechanisms.subset_selection``."""

from fractions import Fraction

from sottovoce.aggregator.estimators.optimal_unary import estimate
from sottovoce.aggregator.estimators.variable import ChoiceVariable, Variable, bits
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.subset_selection import SubsetSelection

__all__ = ["estimate", "variables"]


def variables(mechanism: SubsetSelection, domain: Domain) -> list[Variable]:
    """Return one choice variable; a report supports the d options of its subset."""
    return [
        ChoiceVariable(
            categories=domain.options,
            support=mechanism.support,
            odds=mechanism.keep,
            supports=lambda reported: bits(reported, mechanism.options),
            masks=True,
            both=_support_both(mechanism),
        )
    ]


def _support_both(mechanism: SubsetSelection) -> tuple[Fraction, Fraction]:
    """Return P(a set holds two options | one of them is true) and P(it holds two | neither is)."""
    k, d, a = mechanism.options, mechanism.size, mechanism.support[0]
    within = a * Fraction(d - 1, k - 1)
    # The true option, if it is in the set, takes one of its d places among the other k - 1 options.
    pairs = a * (d - 1) * (d - 2) + (1 - a) * d * (d - 1)
    return within, pairs / ((k - 1) * (k - 2)) if k > 2 else Fraction(0)
