"""Channel of some questions of one block: probabilities and unbiased scores, by which answers are true.

Chances     w(m), m the pattern of matches: P(one given combination of these questions | truth).
Scores      The channel is a sum of products of the identity and the matrix of ones, one factor for each question, and
            so is its inverse: a combination has the score z(m) of the truth that its answers match in the pattern m.
Eigenvalues For each set T of the questions, lambda_T = sum_m w(m) prod_i (1 if m_i, else -1 for i in T and k_i - 1
            otherwise); 1 for the empty set. z(m) = sum_T prod_i (m_i - 1/k_i for i in T, else 1/k_i) / lambda_T.
Condition   1 / min |lambda_T|, because the matrix is symmetric and its largest eigenvalue is 1.
Source      Duchi, Jordan and Wainwright 2018 (yes/no questions).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sottovoce.shared.mechanisms.joint_rr import MAX_CONDITION, JointRR

Patterns = NDArray[Any]
"""An exact fraction for each pattern, shape (2,) * r: index 1 on the axis of a question means that it matches."""


class BlockPlace(NamedTuple):
    """Place of a question in a block, with its mechanism; ``name`` tells two blocks with equal mechanisms apart."""

    mechanism: JointRR
    name: str
    position: int


@dataclass(frozen=True)
class BlockChannel:
    """Channel of some questions of a block, at these ``positions`` of it, in the order of the patterns."""

    mechanism: JointRR
    positions: tuple[int, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of categories of each question."""
        return tuple(self.mechanism.sizes[position] for position in self.positions)

    @cached_property
    def chances(self) -> Patterns:
        """Probability w(m) of one given combination."""
        found = self.mechanism.match_patterns(self.positions)
        shape = (2,) * len(self.positions)
        return np.array([found[pattern] for pattern in product((False, True), repeat=len(shape))]).reshape(shape)

    @cached_property
    def eigenvalues(self) -> Patterns:
        """Eigenvalue of each set T: index 1 on the axis of a question means that it belongs to T."""
        return _along([[[size - 1, 1], [-1, 1]] for size in self.sizes], self.chances)

    @cached_property
    def condition(self) -> float:
        """Condition number; infinite if several populations would report alike, or no person is asked all of them."""
        if len(self.positions) > self.mechanism.asked:
            return float("inf")
        least = min(abs(value) for value in self.eigenvalues.ravel())
        return float(1 / least) if least else float("inf")

    @property
    def identifies(self) -> bool:
        """Say whether reports tell the joint shares of these questions."""
        return self.condition <= MAX_CONDITION

    @cached_property
    def scores(self) -> Patterns:
        """Score z(m) of a combination that matches a report in the pattern m."""
        parts = [[[Fraction(1, k), Fraction(-1, k)], [Fraction(1, k), 1 - Fraction(1, k)]] for k in self.sizes]
        return _along(parts, 1 / self.eigenvalues)

    def cell_variances(self) -> Fraction:
        """Return the sum of the variances of one report's scores of all combinations, for uniform answers."""
        counts = _along([[[size - 1, 0], [0, 1]] for size in self.sizes], np.full(self.chances.shape, Fraction(1)))
        squares: Fraction = (counts * self.scores**2).sum()
        return squares - Fraction(1, int(np.prod(self.sizes)))


@lru_cache(maxsize=256)
def block_channel(mechanism: JointRR, positions: tuple[int, ...]) -> BlockChannel:
    """Return the channel of some questions of a block, at these positions."""
    return BlockChannel(mechanism, positions)


def _along(matrices: Sequence[Any], patterns: Patterns) -> Patterns:
    """Apply one matrix (2, 2) along each axis."""
    for axis, matrix in enumerate(matrices):
        patterns = np.moveaxis(np.tensordot(np.array(matrix, dtype=object), patterns, (1, axis)), 0, axis)
    return patterns
