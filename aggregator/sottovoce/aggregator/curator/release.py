"""Result of a mechanism: one noisy answer with its privacy cost, sensitivity and error bound.

The terms of a release are epsilon and the neighbouring relation of data sets under which it is defined. The relation is
fixed for the life of a budget.
"""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any


class Neighbours(Enum):
    """A neighbouring relation of data sets.

    Attributes:
        REPLACE: one record is replaced by another (bounded differential privacy); the number of records n is public.
        ADD_REMOVE: one record is added or removed (unbounded differential privacy); n is not public.
    """

    REPLACE = "replace-one"
    ADD_REMOVE = "add/remove"

    @property
    def in_words(self) -> str:
        """Difference between neighbours, as a clause for a sentence in English."""
        return "if one record is replaced" if self is Neighbours.REPLACE else "if one record is added or removed"

    def of(self, added: int, replaced: int) -> int:
        """Return the sensitivity under this relation: ``replaced`` for replace-one, ``added`` for add/remove."""
        return replaced if self is Neighbours.REPLACE else added


@dataclass(frozen=True)
class ReleaseTerms:
    """Epsilon, above 0 (else ValueError), and neighbouring relation of one release."""

    epsilon: Fraction
    neighbours: Neighbours = Neighbours.REPLACE

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise ValueError("epsilon must be above 0")

    def pure(
        self, values: dict[str, Any], sensitivity: str, error: dict[str, Any], notes: tuple[str, ...]
    ) -> "Release":
        """Return a release that costs these terms' epsilon, without delta."""
        return Release(values, Charge.pure(self.epsilon), sensitivity, error, notes)


@dataclass(frozen=True)
class Charge:
    """Exact (epsilon, delta) of one release, epsilon above 0; ValueError if one of them is out of range.

    ``rho`` is the parameter of zero-concentrated differential privacy (zCDP), or None if unknown; an alternative
    account of the same release, not an additional cost.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise ValueError("epsilon must be above 0")
        if not 0 <= self.delta < 1:
            raise ValueError("delta must lie in [0, 1)")
        if self.rho is not None and self.rho <= 0:
            raise ValueError("rho must be above 0")

    @classmethod
    def pure(cls, epsilon: Fraction) -> "Charge":
        """Return the charge of a release with delta 0; its rho is at most epsilon^2 / 2 (Bun and Steinke 2016)."""
        return cls(epsilon, rho=epsilon * epsilon / 2)

    def document(self) -> dict[str, Any]:
        """Return epsilon and delta as JSON."""
        return {"epsilon": str(self.epsilon), "delta": str(self.delta)}


@dataclass(frozen=True)
class Release:
    """A noisy answer, to be recorded and then shown.

    Attributes:
        values: the answer as JSON: integers, or fractions on the declared grid as text.
        sensitivity: one sentence that states the sensitivity under the relation.
        error: JSON; ``t`` is the smallest number with Pr[largest error >= t] <= .05, from the discrete distribution, in
            the answer's unit; ``theorem`` has the name and the bound of the theorem behind it.
        notes: sentences to show with the answer.
    """

    values: dict[str, Any]
    charge: Charge
    sensitivity: str
    error: dict[str, Any]
    notes: tuple[str, ...] = ()
