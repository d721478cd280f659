"""Single durable reports of seven answers beside two other servers in the same run: granian and Flask that answer and
do nothing, which is the ceiling, and granian and Flask with a plain group commit. Processor time counts all its
processes, by accepted report; it and the rate are also given as parts of Flask's. In turns, so that what else the
machine does falls on all: one worker each, one thread for requests (64 where Flask stores).
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import requests
from sottovoce.aggregator.storage.connect import open_url
from sottovoce.cli.process import free_port
from sottovoce.shared.spec import Survey

from tests.bench.ingest import processor_seconds, report
from tests.bench.server import running
from tests.surveys import document, survey

ROUNDS = 5
SECONDS = 3
TEMPLATES = 256
GENERATOR = Path(__file__).parent / "load" / "load.mjs"
VERSIONS = ("granian", "uvloop", "flask", "msgspec")
OTHERS = {"nothing": "Flask alone", "storage": "Flask, plain group commit"}


def figures() -> None:
    """Rates, ratios to the ceiling and refusals at 32, 256 and 2,000 connections."""
    asked = seven_questions()
    print(", ".join(f"{name} {version(name)}" for name in VERSIONS), flush=True)
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as stack:
        folder = Path(temporary)
        bodies = folder / "bodies"
        bodies.write_bytes(b"\n".join(report(asked) for _ in range(TEMPLATES)))
        storage = open_url("", folder)
        storage.publish(asked)
        storage.close()
        ports = {name: stack.enter_context(other(name, folder)) for name in OTHERS}
        ports["ours"] = stack.enter_context(running(folder))
        path = f"/api/v1/surveys/{asked.name}/reports"
        for port in ports.values():
            load(port, path, 32, bodies)  # A server that has just started compresses its pages.
        for connections in (32, 256, 2000):
            found: dict[str, list[dict[str, Any]]] = {name: [] for name in ports}
            for _ in range(ROUNDS):
                for name, port in ports.items():
                    found[name].append(load(port, path, connections, bodies))
            show(connections, found)


def seven_questions() -> Survey:
    questions: list[dict[str, Any]] = document()["questions"]
    return survey(questions=[*({**questions[0], "name": f"coin{number}"} for number in range(6)), questions[2]])


def load(port: int, path: str, connections: int, bodies: Path) -> dict[str, Any]:
    command = ["node", str(GENERATOR), str(port), path, str(connections), str(SECONDS), str(bodies)]
    before = processor_seconds(port)
    written = subprocess.run(command, capture_output=True, check=True, timeout=30 + SECONDS).stdout
    found: dict[str, Any] = json.loads(written)
    found["cpu"] = 1e6 * (processor_seconds(port) - before) / max(1, found["statuses"].get("200", 0))
    return found


def show(connections: int, found: dict[str, list[dict[str, Any]]]) -> None:
    """The medians of the rounds, and of the rounds' ratios to the ceiling."""
    for name, rounds in found.items():
        pairs = list(zip(rounds, found["nothing"], strict=True))
        ratio, part = (median(one[key] / max(1.0, ceiling[key]) for one, ceiling in pairs) for key in ("rate", "cpu"))
        rate, p50, p99, cpu = (median(one[key] for one in rounds) for key in ("rate", "p50", "p99", "cpu"))
        failed = sum(count for one in rounds for status, count in one["statuses"].items() if status != "200")
        failed += sum(one["errors"] for one in rounds)
        print(
            f"{connections:>5,} connections  {OTHERS.get(name, 'aggregator'):<26} {rate:7,.0f}/s"
            f"  {ratio:.2f} of the ceiling  p50 {p50:5.1f} ms  p99 {p99:6.1f} ms"
            f"  processor {cpu:4.0f} us, {part:.2f} of Flask's  refused {failed}",
            flush=True,
        )


@contextmanager
def other(name: str, folder: Path) -> Iterator[int]:
    """One of the other servers; gives its port."""
    port = free_port()
    command = [sys.executable, "-m", "tests.bench.plain_servers", str(port), name, str(folder / f"{name}.sqlite")]
    environment = {**os.environ, "SOTTOVOCE_PORT": str(port)}  # by which its processor time is found
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with suppress(requests.RequestException):
                requests.get(f"http://127.0.0.1:{port}/", timeout=5)
                break
            time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=20)


if __name__ == "__main__":
    figures()
