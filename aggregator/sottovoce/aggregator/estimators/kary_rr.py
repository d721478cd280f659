"""Estimates from k-ary randomized response; the maths is in ``sottovoce.shared.mechanisms.kary_rr``."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule, counts_of, estimate_shares
from sottovoce.aggregator.estimators.variable import ChoiceVariable, Variable
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.kary_rr import KaryRR


def estimate(
    mechanism: KaryRR, tally: Mapping[int, int], domain: Domain, rule: IntervalRule = DEFAULT_RULE
) -> Sequence[Estimate]:
    """Estimate the share of each option: f_j = (n_j/n - b) / (a - b), a = r/den, b = s/den; raw values sum to 1."""
    a = Fraction(mechanism.keep.numerator, mechanism.denominator)
    b = Fraction(mechanism.keep.denominator, mechanism.denominator)
    counts = counts_of(tally, mechanism.inputs)
    return estimate_shares(domain.options, counts, counts.sum(), a, b, rule)


def variables(mechanism: KaryRR, domain: Domain) -> list[Variable]:
    """Return one choice variable; a report supports the reported category."""
    k = mechanism.inputs
    return [
        ChoiceVariable(
            categories=domain.options,
            support=mechanism.support,
            odds=mechanism.keep,
            supports=lambda reported: reported[:, None] == np.arange(k),
        )
    ]
