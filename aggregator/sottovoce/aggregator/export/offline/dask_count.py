"""
Counting on many machines by Dask distributed: the kernel of the reference, a shard of parts at a time.

A shard is counted by a pure function, so that Dask counts again what a worker had that ended, and results are summed
here, once for each shard. Every machine must see the folder under the same name, or be let into the bucket.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sottovoce.aggregator.export.offline.count import Counts
from sottovoce.aggregator.export.offline.offline_results import Opened, Progress, Work
from sottovoce.aggregator.export.offline.shards import SHARD, Key, count_shard, shards_of
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.shared.errors import EstimateError

PATIENCE = "30s"
"""So long a scheduler is waited for."""

MEMORY = "1GiB"
"""What a worker on this machine may take."""


def on_cluster(scheduler: str | None = None, shard_bytes: int = SHARD) -> Work:
    """
    Counting by Dask.

    Args:
        scheduler: address of one that runs; None starts one here, with a worker for each core.
        shard_bytes: of a shard, at least.

    Returns:
        What counts a folder; it raises an ``EstimateError`` where no cluster answers, or too many workers end.
    """

    def work(folder: Opened, progress: Progress) -> dict[Key, Counts]:
        with _client(scheduler) as client:
            return count_on(client, folder, progress, shard_bytes)

    return work


def count_on(client: Any, folder: Opened, progress: Progress, shard_bytes: int = SHARD) -> dict[Key, Counts]:  # noqa: ANN401 - Dask's
    """
    Count all parts of a folder on a cluster.

    Args:
        client: of the cluster.
        folder: of reports.
        progress: told as shards come back.
        shard_bytes: of a shard, at least.

    Raises:
        SpecError: a part is not its own.
        EstimateError: too many workers ended while they counted.
    """
    distributed = needed("distributed", "cluster")
    shards = list(shards_of(folder.place, folder.described, shard_bytes))
    futures = client.map(count_shard, shards, pure=False)
    wanted = {future.key: shard for future, shard in zip(futures, shards, strict=True)}
    came: dict[str, Counts] = {}
    try:
        # A future whose worker ended may come again: a result counts once, by its key.
        for future, counts in distributed.as_completed(futures, with_results=True):
            came[future.key] = counts
            progress(sum(wanted[key].reports for key in came), folder.reports)
    except (distributed.KilledWorker, distributed.scheduler.KilledWorker):
        raise EstimateError("the cluster gave up: workers ended again and again while they counted") from None
    found: dict[Key, Counts] = {}
    for key, counts in came.items():
        found.setdefault(wanted[key].key, Counts()).add(counts)
    return found


@contextmanager
def _client(scheduler: str | None) -> Iterator[Any]:
    distributed = needed("distributed", "cluster")
    if scheduler is None:
        here = distributed.LocalCluster(threads_per_worker=1, memory_limit=MEMORY, dashboard_address=None)
        with here as cluster, distributed.Client(cluster) as client:
            yield client
        return
    try:
        client = distributed.Client(scheduler, timeout=PATIENCE)
    except (OSError, ValueError):
        raise EstimateError("no scheduler answers at this address") from None
    with client:
        yield client
