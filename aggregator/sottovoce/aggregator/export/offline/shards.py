"""Shards: groups of parts that are counted in one task, on one machine or on a cluster."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby

from sottovoce.aggregator.export.offline.count import Engine, Layout, ReportCounts, count_by_numpy, layout_of
from sottovoce.aggregator.export.offline.locations import ReportFolder
from sottovoce.aggregator.export.offline.manifest import Described, ReportFile

RevisionWave = tuple[int, int]
"""Revision and wave."""

SHARD = 64 << 20
"""Minimum size of a shard in bytes; counting a smaller one would take less time than scheduling it."""


@dataclass(frozen=True)
class Shard:
    """Parts of one revision and wave (``key``) that are counted together; sent to a worker.

    ``parts`` are the relative path and manifest entry of each.
    """

    key: RevisionWave
    place: ReportFolder
    layout: Layout
    parts: tuple[tuple[str, ReportFile], ...]

    @property
    def reports(self) -> int:
        """Number of reports in the shard."""
        return sum(part.reports for _, part in self.parts)

    @property
    def bytes(self) -> int:
        """Total size of the files in bytes."""
        return sum(part.bytes for _, part in self.parts)


def shards_of(place: ReportFolder, described: Described, least: int = SHARD) -> Iterator[Shard]:
    """Yield shards of at least ``least`` bytes, except the last one of each revision and wave."""
    for key, parts in groupby(described.parts, key=lambda each: (each[0].revision, each[0].wave)):
        layout, gathered = layout_of(described, key[0]), list[tuple[str, ReportFile]]()
        for _, path, part in parts:
            gathered.append((path, part))
            if sum(part.bytes for _, part in gathered) >= least:
                yield Shard(key, place, layout, tuple(gathered))
                gathered = []
        if gathered:
            yield Shard(key, place, layout, tuple(gathered))


def count_shard(shard: Shard, engine: Engine = count_by_numpy) -> ReportCounts:
    """Count a shard, on any machine that can read the folder, with the function ``engine``.

    Raises SpecError if a part is missing, or does not match the manifest.
    """
    # Downloaded copies of all parts must exist until the engine has read them.
    with ExitStack() as open_parts:
        files = [open_parts.enter_context(shard.place.whole(path, part)) for path, part in shard.parts]
        return engine(files, shard.layout)
