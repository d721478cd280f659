"""What a mechanism returns: one noisy answer with its charge, its sensitivity and its error."""

from dataclasses import dataclass
from typing import Any

from sottovoce.aggregator.curator.privacy_cost import Charge


@dataclass(frozen=True)
class Release:
    """
    One release, ready to be recorded and then shown.

    Attributes:
        question: what was asked, without a value of the data: mechanism, parameters, epsilon and relation; JSON.
        values: the answer, JSON: integers, or fractions on the declared grid as text.
        charge: what it costs.
        sensitivity: one sentence that states it under the relation.
        error: JSON; ``t`` is the smallest with Pr[largest error >= t] <= .05, from the discrete distribution, in the
            answer's unit; ``theorem`` names the theorem and gives its figure.
        notes: sentences that belong beside the answer.
    """

    question: dict[str, Any]
    values: dict[str, Any]
    charge: Charge
    sensitivity: str
    error: dict[str, Any]
    notes: tuple[str, ...] = ()
