"""Keep rendered results for all readers of the same snapshot, so that many readers do not slow intake."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Lock

from sottovoce.aggregator.analysis.estimates import RevisionCounts
from sottovoce.aggregator.analysis.published_counts import forget_counts
from sottovoce.aggregator.studio.results.results_view import ResultsView

MOST = 32
"""Number of kept renderings; the one that was not read for the longest time goes first."""


@dataclass(frozen=True)
class RenderedResults:
    """Results of one snapshot with one choice of options in one language.

    ``names`` are the values that the templates need; ``live`` is the HTML, without anything about the reader.
    """

    view: ResultsView
    names: Mapping[str, object]
    live: str


def snapshot_key(revisions: Sequence[RevisionCounts]) -> bytes:
    """Return a hash of what the survey shows; it never leaves this process."""
    shown = [(each.stored.digest, each.stored.closed, sorted(each.withheld), each.cells) for each in revisions]
    return hashlib.sha256(repr((shown, sorted(revisions[-1].asked))).encode()).digest()


class RenderingCache:
    """Renderings by snapshot and options; several readers of a new snapshot wait for one rendering."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._renderings: OrderedDict[tuple[str, Hashable], Future[RenderedResults]] = OrderedDict()

    def get(self, name: str, key: Hashable, render: Callable[[], RenderedResults]) -> RenderedResults:
        """Return a kept rendering by ``key``, everything that it depends on, or make it.

        What ``render`` raises is raised to all who wait for it, and is not kept.
        """
        with self._lock:
            found = self._renderings.get((name, key))
            made = self._renderings[name, key] = found or Future()
            self._renderings.move_to_end((name, key))
            if len(self._renderings) > MOST:
                self._renderings.popitem(last=False)
        if found is None:
            self._render((name, key), made, render)
        return made.result()

    def drop(self, name: str) -> None:
        """Forget the renderings of a survey that is deleted."""
        forget_counts()
        with self._lock:
            for key in [key for key in self._renderings if key[0] == name]:
                del self._renderings[key]

    def _render(
        self, key: tuple[str, Hashable], made: Future[RenderedResults], render: Callable[[], RenderedResults]
    ) -> None:
        try:
            made.set_result(render())
        except BaseException as error:
            with self._lock:
                self._renderings.pop(key, None)
            made.set_exception(error)
