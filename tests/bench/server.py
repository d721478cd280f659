"""The real server, or the same without storage: the ceiling that storage is measured against."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.intake.admission import _submit_directly
from sottovoce.aggregator.intake.asgi_gate import Gate
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Outcome, ReportBatch
from sottovoce.cli import server, worker
from sottovoce.cli.process import free_port, wait_until_ready

DIRECT = "BENCH_WITHOUT_STORAGE"


class Nowhere:
    """A database that accepts every report and keeps none."""

    def __init__(self, storage: object) -> None:
        self._storage = storage

    def __getattr__(self, name: str) -> object:
        return getattr(self._storage, name)

    def store(self, arrivals: Sequence[ReportBatch]) -> list[Outcome]:
        return [Outcome.NEW] * sum(map(len, arrivals))


def make_app() -> Gate:
    """The application without storage; the report does not even pass the writer's thread."""
    settings = worker.prepare_worker()
    stored = worker.open_worker_storage(settings)
    storage = Nowhere(stored)
    app = create_app(settings, storage, now, {})  # type: ignore[arg-type]
    app.extensions["admission"]._submit = _submit_directly(storage)  # type: ignore[arg-type]
    return Gate(app, settings, stored)


@contextmanager
def running(data: Path, database: str = "", stored: bool = True) -> Iterator[int]:
    """A server process on this folder, or on this database; gives its port."""
    port = free_port()
    environment = {**os.environ, "SOTTOVOCE_DATABASE": database, "SOTTOVOCE_DATA": str(data)}
    environment["SOTTOVOCE_PORT"] = str(port)
    command = [sys.executable, "-m", "sottovoce.cli", "serve"]
    if not stored:
        command = [sys.executable, "-m", "tests.bench.server"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        wait_until_ready(f"http://127.0.0.1:{port}", process)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=20)


if __name__ == "__main__":
    server.run(Settings.from_environment(), "tests.bench.server:make_app")
