"""Processor time of a start, and memory of all processes of a node with a million reports: at rest, and after ten
tables and a model. Shared memory counts once (PSS). Then the same on both back ends in a group of processes with the
limit of ``deploy/``, and a .sav file of all: the peak with caches of files, and how many processes the system ended.
"""

import os
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
from tests.journey.test_kill import BACK_ENDS
from tests.journey.test_long_analysis import TODAY, LongServer
from tests.surveys import survey

GROUP = 20_000
GROUPS = Path("/sys/fs/cgroup/memory")
LIMIT = 512


def figures() -> None:
    _unlimited()
    for name, make in BACK_ENDS.items():
        if os.access(GROUPS / "memory.limit_in_bytes", os.W_OK):
            _limited(name, make())
        else:
            print(f"{name}, in {LIMIT} MB: not measured, since this machine lets nobody make a group", flush=True)


def _limited(name: str, database: str) -> None:
    asked, group = survey(**{**ten_questions().document, "name": "million"}), GROUPS / f"sottovoce-{os.getpid()}-{name}"
    names = [question.name for question in asked.questions]
    own = GROUPS / re.findall(r":memory:/(.*)", Path("/proc/self/cgroup").read_text())[0] / "cgroup.procs"
    group.mkdir()
    (group / "memory.limit_in_bytes").write_text(f"{LIMIT}M")
    with tempfile.TemporaryDirectory() as folder:
        # The node begins where this process is, and stays there: the database's server does not, as in compose.yaml.
        (group / "cgroup.procs").write_text(str(os.getpid()))
        try:
            server = LongServer(Path(folder) / "data", database)
        finally:
            own.write_text(str(os.getpid()))
        try:
            storage = server.storage()
            storage.publish(asked)
            fill(storage, asked)
            storage.close_survey(asked.name, TODAY)
            storage.close()
            (group / "memory.max_usage_in_bytes").write_text("0")
            for place in range(10):
                analyse(server, asked, "crosstab", {"rows": names[place % 4], "columns": names[4 + place % 6]})
            analyse(server, asked, "regression", {"outcome": names[0], "on": names[1:4]})
            peak = int((group / "memory.max_usage_in_bytes").read_text()) / 2**20
            row(f"{name}, in {LIMIT} MB: most, ten tables and a model", peak, "MB", f"< {LIMIT}")
            staff = requests.Session()
            form = {"token": server.token}
            staff.post(f"{server.url}/dashboard/login", form, headers={"Sec-Fetch-Site": "same-origin"}, timeout=60)
            address = f"{server.url}/dashboard/surveys/{asked.name}/files/reports.sav"
            staff.get(address, timeout=600).raise_for_status()
            ended = re.findall(r"oom_kill (\d+)", (group / "memory.oom_control").read_text())[0]
            row(f"{name}, in {LIMIT} MB: ended by the system, .sav too", float(ended), "", "0")
        finally:
            server.kill_group()
            time.sleep(1)
            group.rmdir()


def _unlimited() -> None:
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
