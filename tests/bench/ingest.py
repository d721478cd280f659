"""How many reports of ten questions a second: alone and in batches, against the server without storage."""

import json
import os
import secrets
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from sottovoce.aggregator.storage.connect import open_url
from sottovoce.shared.report import Report, dump_report
from sottovoce.shared.spec import Survey

from tests.bench import bare
from tests.bench.load import write_bodies
from tests.bench.server import running
from tests.conftest import processes
from tests.surveys import document, survey

CONNECTIONS = 32
SECONDS = 6.0
SINGLE = 60_000
BATCHES, ITEMS = 600, 1000


def ten_questions() -> Survey:
    questions: list[dict[str, Any]] = document()["questions"]
    coins = [{**questions[0], "name": f"coin{number}"} for number in range(9)]
    return survey(questions=[*coins, questions[2]])


def report(asked: Survey) -> bytes:
    bits = secrets.randbits(len(asked.questions))
    values = tuple(bits >> index & 1 for index in range(len(asked.questions)))
    return dump_report(Report(asked.name, asked.digest, 0, secrets.token_hex(16), values), asked)


def batch(asked: Survey, items: int = ITEMS) -> bytes:
    reports = b",".join(b'{"report":' + report(asked).rstrip() + b"}" for _ in range(items))
    return b'{"format":"sottovoce-batch/1","items":[' + reports + b"]}"


def load(port: int, path: str, connections: int, seconds: float, file: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.bench.load", str(port), path, str(connections), str(seconds), str(file)]
    result: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    result["rate"] = result["statuses"].get("200", 0) / result["seconds"]
    return result


def measure(folder: Path, database: str, single: Path, batches: Path, stored: bool = True) -> dict[str, Any]:
    asked = ten_questions()
    folder.mkdir(mode=0o755)
    storage = open_url(database, folder)
    storage.publish(asked)
    storage.close()
    path = f"/api/v1/surveys/{asked.name}/reports"
    with running(folder, database, stored) as port:
        found = {}
        for name, end, seconds, file in (("alone", "", SECONDS, single), ("batch", "/batch", 2 * SECONDS, batches)):
            before = processor_seconds(port)
            found[name] = load(port, f"{path}{end}", CONNECTIONS, seconds, file)
            found[name]["cpu"] = (processor_seconds(port) - before) / max(1, found[name]["statuses"].get("200", 0))
    return found


def processor_seconds(port: int) -> float:
    """What the aggregator's processes have used: a figure that other work on the machine disturbs least."""
    ticks = 0
    for pid in processes(f"http://127.0.0.1:{port}"):
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def figures(databases: dict[str, str]) -> None:
    """Print the figures, one line for each server; all are held against the first, which stores nothing."""
    asked = ten_questions()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        folder.chmod(0o755)
        single, batches = folder / "single", folder / "batches"
        write_bodies(single, [report(asked) for _ in range(SINGLE)])
        write_bodies(batches, [batch(asked) for _ in range(BATCHES)])
        ceiling = measure(folder / "none", "", single, batches, stored=False)
        _show("no storage", ceiling, ceiling)
        _show_bare()
        for name, url in databases.items():
            _show(name, measure(folder / name, url, single, batches), ceiling)


def _show_bare() -> None:
    """What one thread that does nothing else gets into the table, in groups as they come from these connections."""
    rates = {group: bare.rate(ten_questions(), BATCHES * ITEMS, group) for group in (4000, 12_000)}
    figures = ", ".join(f"{rate:,.0f} in groups of {group:,}" for group, rate in rates.items())
    print(f"{'bare insert':<12} {figures} reports/s", flush=True)


def _show(name: str, found: dict[str, Any], ceiling: dict[str, Any]) -> None:
    alone, together = found["alone"], found["batch"]
    print(
        f"{name:<12} alone {alone['rate']:8,.0f}/s ({alone['rate'] / ceiling['alone']['rate']:.2f} of the ceiling)"
        f"  p50 {alone['p50']:5.1f} ms  p99 {alone['p99']:5.1f} ms"
        f"  processor {1e6 * alone['cpu']:,.0f} us  {alone['statuses']}\n"
        f"{'':<12} batch {together['rate'] * ITEMS:8,.0f} reports/s  p99 {together['p99']:5.1f} ms"
        f"  processor {1e6 * together['cpu'] / ITEMS:.1f} us a report  {together['statuses']}",
        flush=True,
    )
