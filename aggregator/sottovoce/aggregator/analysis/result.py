"""Result type of all joint analyses: a figure with its uncertainty."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """A figure with its uncertainty.

    Attributes:
        estimate: the estimate for display, clipped into its possible range; None if there is none.
        raw: the unclipped estimate, which may be added, weighted and averaged; None if there is none.
        std_error: standard error of ``raw``; None if there is none.
        std_error_kind: how the standard error was computed, such as "score-products".
        low, high: confidence limits, 95 % by default; None for an unbounded side.
        method: how the limits were computed.
        n: number of reports considered.
        n_pair: number of those reports that carry all variables of the figure.
        deff: factor by which weights increase the variance (Kish); 1 without weights.
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
