"""A cluster counts what one machine counts, also when workers end midway."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sottovoce.aggregator.export.offline import offline_results
from sottovoce.aggregator.export.offline.locations import place_named
from sottovoce.aggregator.export.offline.offline_results import (
    HERE,
    WORKER_MEMORY,
    Opened,
    count_on,
    on_cluster,
    open_folder,
    shards_of,
)
from sottovoce.shared.errors import EstimateError, SpecError

from tests.exported import TODAY, drawn, published, send, source
from tests.surveys import survey
from tests.unit.aggregator.export.offline.conftest import Written, write

pytestmark = pytest.mark.slow


def quiet(_done: int, _whole: int) -> None:
    """Nobody is told."""


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    import distributed

    options = {"processes": False, "n_workers": 1, "threads_per_worker": 2, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(**options) as here, distributed.Client(here) as found:
        yield found


def test_cluster_counts_what_one_machine_counts(client: Any, written: Written) -> None:
    folder, told = open_folder(place_named(written.folder)), list[tuple[int, int]]()
    found = count_on(client, folder, lambda *how_far: told.append(how_far), shard_bytes=1)

    assert found == HERE["numpy"](folder, quiet)
    assert len(told) == len(list(folder.described.parts)) > 6
    assert told == sorted(told)
    assert told[-1] == (320, 320)


def test_what_is_wrong_on_a_worker_is_said_here(client: Any, written: Written, tmp_path: Path) -> None:
    folder = open_folder(place_named(written.folder))
    elsewhere = Opened(place_named(tmp_path), folder.described)
    with pytest.raises(SpecError, match="is missing") as raised:
        count_on(client, elsewhere, quiet)
    (problem,) = raised.value.problems

    assert problem.message.startswith("survey=exam/revision=")


def test_shards_are_as_large_as_is_worth_handing_out(written: Written) -> None:
    folder = open_folder(place_named(written.folder))
    parts = [path for _, path, _ in folder.described.parts]
    each, all_of_a_wave = (list(shards_of(folder.place, folder.described, least)) for least in (1, 1 << 40))
    two = list(shards_of(folder.place, folder.described, sum(part.bytes for _, part in each[0].parts) + 1))

    for shards in (each, all_of_a_wave, two):
        assert [path for shard in shards for path, _ in shard.parts] == parts
        assert sum(shard.reports for shard in shards) == folder.reports
    assert [shard.key for shard in all_of_a_wave] == [(1, 0), (1, 1), (2, 0), (2, 1)]
    assert len(each) == len(parts) > len(two) > len(all_of_a_wave)


def test_scheduler_that_does_not_answer_is_named(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    """No traceback of somebody else's."""
    monkeypatch.setattr(offline_results, "CONNECT_TIMEOUT", "100ms")
    with pytest.raises(EstimateError, match="no scheduler answers"):
        on_cluster("tcp://127.0.0.1:9")(open_folder(place_named(written.folder)), quiet)


def test_workers_killed_midway_change_nothing(tmp_path: Path) -> None:
    """Two of two by SIGKILL, one after the other; what they had is counted again, and once."""
    import distributed

    asked = survey(name="done")
    storage = published(tmp_path, asked)
    for wave in range(5):
        send(storage, asked, drawn(asked, 20_000, f"{wave}"))
    storage.close_survey(asked.name, TODAY)
    folder = open_folder(place_named(write(source(storage, asked), tmp_path / "work" / "out", part_rows=1)))
    storage.close()
    shards = list(shards_of(folder.place, folder.described, 1))
    killed = list[int]()

    def kill(done: int, whole: int) -> None:
        there = [nanny.pid for nanny in both.workers.values() if nanny.pid is not None]
        alive = [pid for pid in there if pid not in killed]
        if done < whole and len(killed) < 2 and alive:
            killed.append(alive[0])
            os.kill(alive[0], signal.SIGKILL)

    options = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "memory_limit": WORKER_MEMORY,
        "dashboard_address": "127.0.0.1:0",
    }
    with distributed.LocalCluster(**options) as both, distributed.Client(both) as client:
        found = count_on(client, folder, kill, shard_bytes=1)

    assert (len(killed), len(set(killed))) == (2, 2)
    assert len(shards) >= 12
    assert found == HERE["numpy"](folder, quiet)
    assert sum(counts.reports for counts in found.values()) == 100_000
