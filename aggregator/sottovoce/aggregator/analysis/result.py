"""What every joint analysis gives for each figure."""

from dataclasses import dataclass, replace
from typing import Self


@dataclass(frozen=True)
class Result:
    """
    One figure with its uncertainty.

    Attributes:
        estimate: the figure as it is shown, within its possible range; None where there is none.
        raw: the same before it was forced into that range; to be added up, weighted and averaged. None where there is
            none.
        std_error: of ``raw``; None where it has none.
        std_error_kind: how it was made, such as "score-products".
        low, high: 95 % limits, unless it was asked for others; None where a side has no limit.
        method: how the limits were made.
        n: reports that were looked at.
        n_pair: those of them that tell something about all variables of the figure.
        deff: by how much weights increase the variance (Kish); 1 without weights.
        warnings: sentences for whoever reads it.
    """

    estimate: float | None
    raw: float | None
    std_error: float | None
    std_error_kind: str
    low: float | None
    high: float | None
    method: str
    n: int
    n_pair: int
    deff: float = 1.0
    warnings: tuple[str, ...] = ()

    def warned(self, *sentences: str) -> Self:
        """The same with more warnings."""
        return replace(self, warnings=(*self.warnings, *sentences))
