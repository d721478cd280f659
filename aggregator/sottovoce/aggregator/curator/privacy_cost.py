"""What one release costs."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Charge:
    """
    (epsilon, delta) of one release, exact.

    Attributes:
        epsilon: above 0.
        delta: 0 for pure privacy.
        rho: of zero-concentrated privacy, where it is known; a second account of the same release, not a further cost.

    Raises:
        ValueError: one of them is out of range.
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
        """Of a release with delta 0: its rho is epsilon^2 / 2 at most (Bun and Steinke 2016)."""
        return cls(epsilon, rho=epsilon * epsilon / 2)
