"""Privacy cost of one release."""

from dataclasses import dataclass
from fractions import Fraction


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
