"""Under which terms a release is made: epsilon and the relation."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.aggregator.curator.neighbouring_relation import Neighbours


@dataclass(frozen=True)
class ReleaseTerms:
    """
    What one release may cost, and under which relation.

    Attributes:
        epsilon: above 0.
        neighbours: the budget's relation.

    Raises:
        ValueError: epsilon is 0 or less.
    """

    epsilon: Fraction
    neighbours: Neighbours = Neighbours.REPLACE

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise ValueError("epsilon must be above 0")

    def question(self, mechanism: str, **parameters: object) -> dict[str, Any]:
        """What was asked, for the record: it never holds a value of the data."""
        told = {"epsilon": str(self.epsilon), "neighbours": self.neighbours.value}
        return {"mechanism": mechanism, **parameters, **told}
