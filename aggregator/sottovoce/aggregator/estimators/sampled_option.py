"""Estimates from a sampled option; the maths is in ``sottovoce.shared.mechanisms.sampled_option``."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule, counts_of, estimate_shares
from sottovoce.aggregator.estimators.variable import NO_YES, Variable, YesNo
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.sampled_option import SampledOption


def estimate(
    mechanism: SampledOption, tally: Mapping[int, int], domain: Domain, rule: IntervalRule = DEFAULT_RULE
) -> Sequence[Estimate]:
    """Estimate the share of respondents who chose each option: p_j = (x_j/n_j - b) / (a - b), from n_j that drew it.

    Reported values are ``2 * option + bit``; the shares need not sum to 1.
    """
    counts = counts_of(tally, 2 * mechanism.options).reshape(-1, 2)
    supporting, sizes = counts[:, 1], counts.sum(axis=1)
    # Worst case of poisoning: every fake report claims to have drawn the same option.
    rule = rule.when_asked(Fraction(1, mechanism.options))
    return estimate_shares(domain.options, supporting, sizes, *mechanism.support, rule)


def variables(mechanism: SampledOption, domain: Domain) -> list[Variable]:
    """Return one yes/no variable for each option, observed in the reports that drew it."""
    return [_option(mechanism, index, name) for index, name in enumerate(domain.options)]


def _option(mechanism: SampledOption, index: int, name: str) -> Variable:
    return YesNo(
        name=name,
        categories=NO_YES,
        drawn=True,
        observed=lambda reported: reported // 2 == index,
        support=mechanism.support,
        bit=lambda reported: reported % 2 == 1,
    )
