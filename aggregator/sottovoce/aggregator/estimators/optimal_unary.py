"""Estimates from optimal unary encoding; the maths is in ``sottovoce.shared.mechanisms.optimal_unary``."""

from collections.abc import Mapping, Sequence

from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule, counts_of, estimate_shares
from sottovoce.aggregator.estimators.variable import ChoiceVariable, Variable, bits
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.bitwise_rr import BitwiseRR
from sottovoce.shared.mechanisms.optimal_unary import OptimalUnary
from sottovoce.shared.mechanisms.subset_selection import SubsetSelection


def estimate(
    mechanism: OptimalUnary | SubsetSelection | BitwiseRR,
    tally: Mapping[int, int],
    domain: Domain,
    rule: IntervalRule = DEFAULT_RULE,
) -> Sequence[Estimate]:
    """Estimate the share of each option, for any mechanism that reports a mask of the options that it supports.

    f_j = (n_j/n - b) / (a - b), with the mechanism's support probabilities a and b; raw values need not sum to 1,
    except those of subset selection. ``tally`` has the reports that support each option, and under k the number of
    reports.
    """
    counts = counts_of(tally, mechanism.options)
    return estimate_shares(domain.options, counts, mechanism.reports(tally), *mechanism.support, rule)


def variables(mechanism: OptimalUnary, domain: Domain) -> list[Variable]:
    """Return one choice variable: a report supports the options whose bits are set; P(y | x) depends on bit x only."""
    return [
        ChoiceVariable(
            categories=domain.options,
            support=mechanism.support,
            odds=mechanism.likelihood_ratio,
            supports=lambda reported: bits(reported, mechanism.options),
            masks=True,
            both=(mechanism.support[0] * mechanism.support[1], mechanism.support[1] ** 2),
        )
    ]
