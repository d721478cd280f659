"""Count requests and their durations by route and class of status.

For privacy, the process records nothing else about requests: no address, survey, person or time, and in memory only.
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Upper bounds of the histogram of durations, in seconds."""

GATE = "gate"
NO_ROUTE = "none"
"""Labels in the place of a route: ``GATE`` for requests refused before routing, ``NO_ROUTE`` for unknown paths."""

RouteStatus = tuple[str, str]
"""Pair of a route and a class of status such as ``2xx``."""


@dataclass(frozen=True)
class Series:
    """Snapshot of a histogram: the sum, and the counts per bin (upper bound included), then above the last bound."""

    counts: tuple[int, ...]
    total: float

    def in_steps(self, step: int) -> "Series":
        """Round cumulative counts down to multiples of ``step`` and scale the total; hides single requests."""
        reached = [sum(self.counts[: end + 1]) // step * step for end in range(len(self.counts))]
        steps = tuple(after - before for before, after in zip([0, *reached], reached, strict=False))
        return Series(steps, self.total * reached[-1] / max(sum(self.counts), 1))


class Histogram:
    """Histogram of measurements; ``bounds`` are the upper bounds of its bins, ascending."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._total = 0.0

    def note(self, size: float) -> None:
        """Add a measurement; not thread-safe."""
        self._counts[bisect_left(self._bounds, size)] += 1
        self._total += size

    @property
    def series(self) -> Series:
        """Snapshot of the present counts."""
        return Series(tuple(self._counts), self._total)


class Traffic:
    """Request metrics of one process; thread-safe."""

    def __init__(self) -> None:
        self._histograms: dict[RouteStatus, Histogram] = {}
        # Cache by status, so that the intake path formats no label for each request.
        self._by_status: dict[tuple[str, int], Histogram] = {}
        self._lock = Lock()

    def note(self, route: str, status: int, seconds: float) -> None:
        """Count a request that took so many seconds; ``route`` is an endpoint, ``GATE`` or ``NO_ROUTE``."""
        with self._lock:
            (self._by_status.get((route, status)) or self._begin(route, status)).note(seconds)

    def _begin(self, route: str, status: int) -> Histogram:
        histogram = self._histograms.setdefault((route, f"{status // 100}xx"), Histogram(BOUNDS))
        self._by_status[route, status] = histogram
        return histogram

    def series(self) -> Mapping[RouteStatus, Series]:
        """Return snapshots of all histograms."""
        with self._lock:
            return {key: histogram.series for key, histogram in self._histograms.items()}
