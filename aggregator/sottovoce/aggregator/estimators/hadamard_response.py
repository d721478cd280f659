"""Estimates from Hadamard response; the maths is in ``sottovoce.shared.mechanisms.hadamard_response``."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule, counts_of, estimate_shares
from sottovoce.aggregator.estimators.variable import ChoiceVariable, Reported, Truths, Variable
from sottovoce.shared.answers import Domain
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.mechanisms.hadamard_response import HadamardResponse


def estimate(
    mechanism: HadamardResponse, tally: Mapping[int, int], domain: Domain, rule: IntervalRule = DEFAULT_RULE
) -> Sequence[Estimate]:
    """Estimate the share of each option: f_j = (N_j/n - 1/2) / (a - 1/2), N_j = (n + sum_y H[j + 1, y] n_y) / 2."""
    counts = counts_of(tally, mechanism.columns)
    if counts.min() < 0 or not all(map(mechanism.admits, tally)):
        raise EstimateError("the counts are impossible")
    supporting = support_counts(counts)[1 : mechanism.options + 1]
    return estimate_shares(domain.options, supporting, counts.sum(), *mechanism.support, rule)


def support_counts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for every row of the Hadamard matrix, the number of reports whose column is +1 in it, shape (K,).

    The fast Walsh-Hadamard transform takes K log K additions instead of K^2.
    """
    transformed, size, width = counts, len(counts), 1
    while width < size:
        pairs = transformed.reshape(-1, 2, width)
        transformed = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(size)
        width *= 2
    supporting: NDArray[np.int64] = (counts.sum() + transformed) // 2
    return supporting


def variables(mechanism: HadamardResponse, domain: Domain) -> list[Variable]:
    """Return one choice variable: a report supports the options that own its column; scores sum to 1 on average."""
    return [
        ChoiceVariable(
            categories=domain.options,
            support=mechanism.support,
            odds=mechanism.keep,
            supports=lambda reported: _owners(reported, mechanism.options),
            both=(mechanism.support[0] / 2, Fraction(1, 4)),
        )
    ]


def _owners(columns: Reported, options: int) -> Truths:
    """Return the options that own each column: those whose row index shares an even number of 1 bits with it."""
    even: Truths = np.bitwise_count(columns.astype(np.int64)[:, None] & np.arange(1, options + 1)) % 2 == 0
    return even
