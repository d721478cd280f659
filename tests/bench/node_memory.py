"""Processor time of a start, and memory of all processes of a node with a million reports: at rest, and after ten
tables and a model. Shared memory counts once (PSS).
"""

import re
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import requests
from sottovoce.aggregator.intake.admission import SurveyRules
from sottovoce.aggregator.storage import ReportBatch, Storage
from sottovoce.aggregator.storage.pack_values import pack
from sottovoce.shared.spec import Survey

from tests.bench.ingest import processor_seconds, ten_questions
from tests.bench.mechanisms import MILLION, row
from tests.journey.test_long_analysis import TODAY, LongServer

GROUP = 20_000


def figures() -> None:
    asked = replace(ten_questions(), name="million")
    names = [question.name for question in asked.questions]
    with tempfile.TemporaryDirectory() as folder:
        server = LongServer(Path(folder) / "data")
        try:
            row(
                "start until it is ready, processor",
                processor_seconds(int(server.url.rpartition(":")[2])),
                "s",
                "<= 1.2",
            )
            storage = server.storage()
            storage.publish(asked)
            fill(storage, asked)
            storage.close_survey(asked.name, TODAY)
            storage.close()
            time.sleep(2)
            row("a million reports, at rest", megabytes(server), "MB", "<= 128")
            for place in range(10):
                options = {"rows": names[place % 4], "columns": names[4 + place % 6]}
                slowest = analyse(server, asked, "crosstab", options)
            model = analyse(server, asked, "regression", {"outcome": names[0], "on": names[1:4]})
            row("after ten tables and a model", megabytes(server), "MB", "<= 160")
            row("the last table", slowest, "s", "")
            row("the model, three randomized predictors", model, "s", "<= 1")
        finally:
            server.kill_group()


def fill(storage: Storage, asked: Survey) -> None:
    """A million reports with random values, of which the first goes with the second."""
    [stored] = storage.revisions(asked.name)
    plan, generator = SurveyRules(stored, stored.key).plan, np.random.Generator(np.random.PCG64(1))
    for first in range(0, MILLION, GROUP):
        values = (generator.random((GROUP, len(asked.questions))) < 0.5).astype(int)
        values[:, 0] = generator.random(GROUP) < 0.3 + 0.1 * values[:, 1]
        ids = b"".join((first + place).to_bytes(8) + generator.bytes(8) for place in range(GROUP))
        storage.store([ReportBatch(plan, 0, ids, b"".join(map(pack, map(tuple, values.tolist()))))])


def analyse(server: LongServer, asked: Survey, kind: str, options: dict[str, Any]) -> float:
    began = time.perf_counter()
    address = f"{server.url}/api/v1/surveys/{asked.name}/{kind}"
    reply = requests.post(address, json=options, headers=server.headers, timeout=60)
    while reply.status_code == 202:
        time.sleep(0.1)
        reply = requests.post(address, json=options, headers=server.headers, timeout=60)
    reply.raise_for_status()
    return time.perf_counter() - began


def megabytes(server: LongServer) -> float:
    """Proportional memory of the node's processes, those that compute included."""
    total, waiting = 0, [server.process.pid]
    while waiting:
        process = Path("/proc") / str(waiting.pop())
        for children in process.glob("task/*/children"):
            waiting += map(int, children.read_text().split())
        found = re.search(r"^Pss:\s+(\d+)", (process / "smaps_rollup").read_text(), re.MULTILINE)
        total += int(found[1]) if found else 0
    return total / 1024


if __name__ == "__main__":
    figures()
