"""Estimates from binary randomized response; the maths is in ``sottovoce.shared.mechanisms.binary_rr``."""

from collections.abc import Mapping

from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule, estimate_share
from sottovoce.aggregator.estimators.variable import Variable, YesNo
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.memoized_rr import MemoizedRR


def estimate(
    mechanism: BinaryRR | MemoizedRR, tally: Mapping[int, int], domain: Domain, rule: IntervalRule = DEFAULT_RULE
) -> list[Estimate]:
    """Estimate the share of "yes": p = (x/n - b) / (a - b). Coin flip: 2 x/n - 1/2. Warner with t = 2/3: 3 x/n - 1."""
    yes = tally.get(1, 0)
    return [estimate_share(domain.options[1], yes, yes + tally.get(0, 0), *mechanism.support, rule)]


def variables(mechanism: BinaryRR | MemoizedRR, domain: Domain) -> list[Variable]:
    """Return one yes/no variable, with scores z = (y - b) / (a - b)."""
    return [YesNo(categories=domain.options, support=mechanism.support, bit=lambda reported: reported == 1)]
