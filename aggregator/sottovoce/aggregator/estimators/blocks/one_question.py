"""Estimates of one question of a block, from its own reported values.

The question alone has the channel of k-ary randomized response; the maths is in
``sottovoce.shared.mechanisms.joint_rr``.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from sottovoce.aggregator.estimators.blocks.block_channel import BlockPlace
from sottovoce.aggregator.estimators.support import (
    DEFAULT_RULE,
    Estimate,
    IntervalRule,
    counts_of,
    estimate_share,
    estimate_shares,
)
from sottovoce.aggregator.estimators.variable import ChoiceVariable, Variable, YesNo
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.joint_rr import JointMember, JointYesNo


def estimate(
    mechanism: JointMember, tally: Mapping[int, int], domain: Domain, rule: IntervalRule = DEFAULT_RULE
) -> Sequence[Estimate]:
    """Estimate the share of each category, whose raw values sum to 1; of a yes/no question the share of "yes" alone."""
    a, b = mechanism.support
    counts = counts_of(tally, mechanism.options)
    if isinstance(mechanism, JointYesNo):
        return [estimate_share(domain.options[1], int(counts[1]), int(counts.sum()), a, b, rule)]
    return estimate_shares(domain.options, counts, counts.sum(), a, b, rule)


def variables(mechanism: JointMember, domain: Domain) -> list[Variable]:
    """Return one variable, with the channel of the question alone and its place in the block."""
    block = BlockPlace(mechanism.block, mechanism.block_name, mechanism.position)
    if isinstance(mechanism, JointYesNo):
        support = mechanism.support
        return [YesNo(categories=domain.options, support=support, bit=lambda reported: reported == 1, block=block)]
    return [
        ChoiceVariable(
            categories=domain.options,
            support=mechanism.support,
            odds=mechanism.marginal_odds,
            supports=lambda reported: reported[:, None] == np.arange(mechanism.options),
            block=block,
        )
    ]
