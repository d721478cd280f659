"""
How many requests there were and how long they took, by route and class of status.

Of requests only this is kept, in the memory of this process: nothing of an address, a survey, a person or a time.
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Seconds within which a request may have been answered."""

GATE = "gate"
NO_ROUTE = "none"
"""In the place of a route: refused before one was looked for; there is none."""

Key = tuple[str, str]
"""A route, and a class of status such as ``2xx``."""


@dataclass(frozen=True)
class Series:
    """
    Numbers of what was measured.

    Attributes:
        counts: within each bound and no smaller one, then beyond the last.
        total: of all that was measured.
    """

    counts: tuple[int, ...]
    total: float

    def in_steps(self, step: int) -> "Series":
        """The same in whole steps: each number of measurements, and the total as if so many had the usual size."""
        reached = [sum(self.counts[: end + 1]) // step * step for end in range(len(self.counts))]
        steps = tuple(after - before for before, after in zip([0, *reached], reached, strict=False))
        return Series(steps, self.total * reached[-1] / max(sum(self.counts), 1))


class Histogram:
    """
    Counts measurements by their size.

    Args:
        bounds: ascending.
    """

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._total = 0.0

    def note(self, size: float) -> None:
        """Count one; by one thread at a time."""
        self._counts[bisect_left(self._bounds, size)] += 1
        self._total += size

    @property
    def series(self) -> Series:
        """As it is now."""
        return Series(tuple(self._counts), self._total)


class Traffic:
    """Requests of one process."""

    def __init__(self) -> None:
        self._found: dict[Key, Histogram] = {}
        # So that no text is put together for a request: each costs intake what it costs.
        self._by_status: dict[tuple[str, int], Histogram] = {}
        self._lock = Lock()

    def note(self, route: str, status: int, seconds: float) -> None:
        """
        Count a request.

        Args:
            route: an endpoint, ``GATE`` or ``NO_ROUTE``.
            status: of the reply.
            seconds: that it took.
        """
        with self._lock:
            found = self._by_status.get((route, status)) or self._begin(route, status)
            found.note(seconds)

    def _begin(self, route: str, status: int) -> Histogram:
        found = self._found.setdefault((route, f"{status // 100}xx"), Histogram(BOUNDS))
        self._by_status[route, status] = found
        return found

    def series(self) -> Mapping[Key, Series]:
        """What was counted so far."""
        with self._lock:
            return {key: found.series for key, found in self._found.items()}
