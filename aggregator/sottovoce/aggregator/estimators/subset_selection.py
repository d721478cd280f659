"""Estimates from subset selection; the maths is in ``sottovoce.shared.mechanisms.subset_selection``."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule, counts_of, estimate_shares
from sottovoce.aggregator.estimators.variable import ChoiceVariable, Variable, bits
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.subset_selection import SubsetSelection


def estimate(
    mechanism: SubsetSelection, tally: Mapping[int, int], domain: Domain, rule: IntervalRule = DEFAULT_RULE
) -> Sequence[Estimate]:
    """
    Estimate the share of each option.

    Args:
        mechanism: the channel over k options.
        tally: reports that support each option, and under k the number of reports.
        domain: the question's options.
        rule: how the intervals are made.

    Returns:
        k estimates, in order; their raw values sum to 1.

    Raises:
        EstimateError: impossible counts.

    Maths: f_j = (n_j/n - b) / (a - b) with the mechanism's support probabilities a and b.
    """
    counts = counts_of(tally, mechanism.options)
    return estimate_shares(domain.options, counts, mechanism.reports(tally), *mechanism.support, rule)


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
