"""Count reports on many machines with Dask distributed: the reference kernel, one shard of parts per task.

A shard is counted by a pure function, so Dask can repeat the tasks of a lost worker. Results are summed here, once for
each shard. Every machine needs the folder under the same path, or access to the bucket.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sottovoce.aggregator.analysis.report_columns import Progress
from sottovoce.aggregator.export.offline.locations import RevisionWave
from sottovoce.aggregator.export.offline.offline_results import (
    SHARD,
    Opened,
    ReportCounts,
    Work,
    count_shard,
    shards_of,
)
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.shared.errors import EstimateError

CONNECT_TIMEOUT = "30s"
"""Timeout for the connection to a scheduler."""

MEMORY = "1GiB"
"""Memory limit of a worker on this machine."""


def on_cluster(scheduler: str | None = None, shard_bytes: int = SHARD) -> Work:
    """Return a function that counts a folder with Dask, in shards of at least ``shard_bytes``.

    ``scheduler`` is the address of a running one; None starts a local cluster with a worker for each core. The function
    raises ``EstimateError`` if no cluster answers, or too many workers are lost.
    """

    def work(folder: Opened, progress: Progress) -> dict[RevisionWave, ReportCounts]:
        with _client(scheduler) as client:
            return count_on(client, folder, progress, shard_bytes)

    return work


def count_on(
    client: Any,  # noqa: ANN401 - Dask's
    folder: Opened,
    progress: Progress,
    shard_bytes: int = SHARD,
) -> dict[RevisionWave, ReportCounts]:
    """Count all parts of a folder on a cluster, in shards of at least ``shard_bytes``.

    Raises SpecError if a part does not match the manifest, EstimateError if too many workers were lost.
    """
    distributed = needed("distributed", "cluster")
    shards = list(shards_of(folder.place, folder.described, shard_bytes))
    # pure=False: a repeated export under the same path must be counted again.
    futures = client.map(count_shard, shards, pure=False)
    wanted = {future.key: shard for future, shard in zip(futures, shards, strict=True)}
    came: dict[str, ReportCounts] = {}
    try:
        # A future whose worker was lost may complete twice; its key makes sure that it counts once.
        for future, counts in distributed.as_completed(futures, with_results=True):
            came[future.key] = counts
            progress(sum(wanted[key].reports for key in came), folder.reports)
    except (distributed.KilledWorker, distributed.scheduler.KilledWorker):
        raise EstimateError("the cluster gave up: workers ended again and again while they counted") from None
    found: dict[RevisionWave, ReportCounts] = {}
    for key, counts in came.items():
        found.setdefault(wanted[key].key, ReportCounts()).add(counts)
    return found


@contextmanager
def _client(scheduler: str | None) -> Iterator[Any]:
    distributed = needed("distributed", "cluster")
    if scheduler is None:
        here = distributed.LocalCluster(threads_per_worker=1, memory_limit=MEMORY, dashboard_address="127.0.0.1:0")
        with here as cluster, distributed.Client(cluster) as client:
            yield client
        return
    try:
        client = distributed.Client(scheduler, timeout=CONNECT_TIMEOUT)
    except (OSError, ValueError):
        raise EstimateError("no scheduler answers at this address") from None
    with client:
        yield client
