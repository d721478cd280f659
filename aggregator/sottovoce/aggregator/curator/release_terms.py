"""Terms of one release: epsilon and the neighbouring relation."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.aggregator.curator.neighbouring_relation import Neighbours


@dataclass(frozen=True)
class ReleaseTerms:
    """Epsilon, above 0 (else ValueError), and neighbouring relation of one release."""

    epsilon: Fraction
    neighbours: Neighbours = Neighbours.REPLACE

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise ValueError("epsilon must be above 0")

    def question(self, mechanism: str, **parameters: object) -> dict[str, Any]:
        """Return mechanism, parameters and terms as JSON for ``Release.question``; no value of the data is in it."""
        terms = {"epsilon": str(self.epsilon), "neighbours": self.neighbours.value}
        return {"mechanism": mechanism, **parameters, **terms}
