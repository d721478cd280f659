"""Estimates from bitwise randomized response; the maths is in ``sottovoce.shared.mechanisms.bitwise_rr``."""

from collections.abc import Mapping, Sequence

from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule, counts_of, estimate_shares
from sottovoce.aggregator.estimators.variable import NO_YES, Variable, YesNo, bits
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.bitwise_rr import BitwiseRR


def estimate(
    mechanism: BitwiseRR, tally: Mapping[int, int], domain: Domain, rule: IntervalRule = DEFAULT_RULE
) -> Sequence[Estimate]:
    """
    Estimate the share of respondents who chose each option.

    Args:
        mechanism: the channel of each bit.
        tally: reports with each option's bit set, and under k the number of reports.
        domain: the question's options.
        rule: how the intervals are made.

    Returns:
        k estimates, in order; they need not sum to 1.

    Raises:
        EstimateError: impossible counts.

    Maths: p_j = (n_j/n - b) / (a - b).
    """
    counts = counts_of(tally, mechanism.options)
    return estimate_shares(domain.options, counts, mechanism.reports(tally), *mechanism.support, rule)


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
