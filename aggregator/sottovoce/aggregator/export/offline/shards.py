"""Parts that are counted together: what one machine takes at a time, and what a cluster hands out."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby

from sottovoce.aggregator.export.offline.count import Counts, Engine, Layout, count_by_numpy, layout_of
from sottovoce.aggregator.export.offline.locations import ReportFolder
from sottovoce.aggregator.export.offline.manifest import Described, ReportFile

Key = tuple[int, int]
"""Revision and wave."""

SHARD = 64 << 20
"""Bytes of files that are one task, at least: a smaller one takes less time than handing it out."""


@dataclass(frozen=True)
class Shard:
    """
    Parts of one revision and wave that are counted together; it is sent to a worker.

    Attributes:
        key: revision and wave.
        place: of the folder.
        layout: of the parts.
        parts: path in the folder, and what the manifest has of it.
    """

    key: Key
    place: ReportFolder
    layout: Layout
    parts: tuple[tuple[str, ReportFile], ...]

    @property
    def reports(self) -> int:
        """How many reports are in it."""
        return sum(part.reports for _, part in self.parts)

    @property
    def bytes(self) -> int:
        """Of its files."""
        return sum(part.bytes for _, part in self.parts)


def shards_of(place: ReportFolder, described: Described, least: int = SHARD) -> Iterator[Shard]:
    """
    The parts in shards of at least so many bytes, but for the last one of each revision and wave.

    Args:
        place: of the folder.
        described: its manifest.
        least: bytes.
    """
    for key, parts in groupby(described.parts, key=lambda each: (each[0].revision, each[0].wave)):
        layout, gathered = layout_of(described, key[0]), list[tuple[str, ReportFile]]()
        for _, path, part in parts:
            gathered.append((path, part))
            if sum(part.bytes for _, part in gathered) >= least:
                yield Shard(key, place, layout, tuple(gathered))
                gathered = []
        if gathered:
            yield Shard(key, place, layout, tuple(gathered))


def count_shard(shard: Shard, engine: Engine = count_by_numpy) -> Counts:
    """
    Count a shard, on whatever machine.

    Args:
        shard: its parts.
        engine: that counts.

    Raises:
        SpecError: a part is missing there, or is not its own.
    """
    with ExitStack() as open_parts:
        files = [open_parts.enter_context(shard.place.whole(path, part)) for path, part in shard.parts]
        return engine(files, shard.layout)
