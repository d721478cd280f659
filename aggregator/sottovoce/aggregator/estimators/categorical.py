"""Variables of yes/no questions and of options, by mechanism; the maths is in ``sottovoce.shared.mechanisms``."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.estimators.blocks.block_channel import BlockPlace
from sottovoce.aggregator.estimators.variable import NO_YES, ChoiceVariable, Reported, Truths, Variable, YesNo, bits
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.bitwise_rr import BitwiseRR
from sottovoce.shared.mechanisms.hadamard_response import HadamardResponse
from sottovoce.shared.mechanisms.joint_rr import JointMember
from sottovoce.shared.mechanisms.kary_rr import KaryRR
from sottovoce.shared.mechanisms.memoized_rr import MemoizedRR
from sottovoce.shared.mechanisms.optimal_unary import OptimalUnary
from sottovoce.shared.mechanisms.sampled_option import SampledOption
from sottovoce.shared.mechanisms.subset_selection import SubsetSelection


def yes_no(
    mechanism: BinaryRR | MemoizedRR | JointMember, domain: Domain, block: BlockPlace | None = None
) -> list[Variable]:
    """Return one variable, with scores z = (y - b) / (a - b); of a memoized answer valid within one wave only."""
    yes = YesNo(categories=domain.options, support=mechanism.support, bit=lambda reported: reported == 1, block=block)
    return [yes]


def one_category(mechanism: KaryRR | JointMember, domain: Domain, block: BlockPlace | None = None) -> list[Variable]:
    """Return the variable of a report that is a category, and supports that one."""
    a, b = mechanism.support
    return [
        ChoiceVariable(
            categories=domain.options,
            support=(a, b),
            odds=a / b,
            supports=lambda reported: reported[:, None] == np.arange(domain.size),
            block=block,
        )
    ]


def joint_rr(mechanism: JointMember, domain: Domain) -> list[Variable]:
    """Return the variable with the channel of the question alone, k-ary randomized response, and its place."""
    block = BlockPlace(mechanism.block, mechanism.block_name, mechanism.position)
    return (yes_no if mechanism.report_kind == "yes_no" else one_category)(mechanism, domain, block)


def subset_selection(mechanism: SubsetSelection, domain: Domain) -> list[Variable]:
    """Return one variable: a report supports the d options of its subset.

    Maths: P(a set holds two options | one of them is true) = a (d - 1) / (k - 1). If neither is true, the true option
    takes, if it is in the set, one of the d places among the other k - 1 options.
    """
    k, d, a = mechanism.options, mechanism.size, mechanism.support[0]
    pairs = a * (d - 1) * (d - 2) + (1 - a) * d * (d - 1)
    neither = pairs / ((k - 1) * (k - 2)) if k > 2 else Fraction(0)
    return [_mask(mechanism, domain, (a * Fraction(d - 1, k - 1), neither))]


def optimal_unary(mechanism: OptimalUnary, domain: Domain) -> list[Variable]:
    """Return one variable: a report supports the options whose bits are set; P(y | x) depends on bit x only."""
    a, b = mechanism.support
    return [_mask(mechanism, domain, (a * b, b**2))]


def _mask(mechanism: SubsetSelection | OptimalUnary, domain: Domain, both: tuple[Fraction, Fraction]) -> ChoiceVariable:
    return ChoiceVariable(
        categories=domain.options,
        support=mechanism.support,
        odds=mechanism.likelihood_ratio,
        supports=lambda reported: bits(reported, mechanism.options),
        masks=True,
        both=both,
    )


def hadamard_response(mechanism: HadamardResponse, domain: Domain) -> list[Variable]:
    """Return one variable: a report supports the options that own its column; scores sum to 1 on average."""
    rows = np.arange(1, mechanism.options + 1)

    def owners(columns: Reported) -> Truths:
        # The options whose row index shares an even number of 1 bits with the column.
        even: Truths = np.bitwise_count(columns.astype(np.int64)[:, None] & rows) % 2 == 0
        return even

    return [
        ChoiceVariable(
            categories=domain.options,
            support=mechanism.support,
            odds=mechanism.keep,
            supports=owners,
            both=(mechanism.support[0] / 2, Fraction(1, 4)),
            supporting=lambda counts: support_counts(counts)[1 : mechanism.options + 1],
        )
    ]


def support_counts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for every row of the Hadamard matrix, the number of reports whose column is +1 in it, shape (K,).

    N_j = (n + sum_y H[j, y] n_y) / 2. The fast Walsh-Hadamard transform takes K log K additions instead of K^2.
    """
    transformed, size, width = counts, len(counts), 1
    while width < size:
        pairs = transformed.reshape(-1, 2, width)
        transformed = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(size)
        width *= 2
    supporting: NDArray[np.int64] = (counts.sum() + transformed) // 2
    return supporting


def sampled_option(mechanism: SampledOption, domain: Domain) -> list[Variable]:
    """Return one variable for each option, observed in the reports that drew it: ``2 * option + bit``."""
    return [_drawn_option(mechanism, index, name) for index, name in enumerate(domain.options)]


def _drawn_option(mechanism: SampledOption, index: int, name: str) -> Variable:
    return YesNo(
        name=name,
        categories=NO_YES,
        drawn=True,
        observed=lambda reported: reported // 2 == index,
        support=mechanism.support,
        bit=lambda reported: reported % 2 == 1,
    )


def bitwise_rr(mechanism: BitwiseRR, domain: Domain) -> list[Variable]:
    """Return one variable for each option, reported by a bit of its own."""
    return [_bit(mechanism, index, name) for index, name in enumerate(domain.options)]


def _bit(mechanism: BitwiseRR, index: int, name: str) -> Variable:
    return YesNo(
        name=name,
        categories=NO_YES,
        support=mechanism.support,
        bit=lambda reported: bits(reported, mechanism.options)[:, index],
    )
