"""Time of models of 18 and 36 coefficients, and of Tables and reports while a long model runs."""

import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import requests
from sottovoce.aggregator.analysis.jobs.child import Job
from sottovoce.aggregator.analysis.jobs.queue import Worker
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.shared.spec import Survey

from tests.bench.mechanisms import row
from tests.documents import one_of, question
from tests.journey.test_collection import reports
from tests.journey.test_hostile_http import JSON
from tests.journey.test_long_analysis import LongServer
from tests.surveys import survey
from tests.unit.aggregator.analysis.jobs.long_model import CATEGORIES, LONG, long_columns
from tests.unit.aggregator.analysis.samples import COIN, public

REPORTS = 3000
ROUNDS = 20
SPARE = {**CATEGORIES, "answer": 2}


def figures() -> None:
    _of_models()
    with tempfile.TemporaryDirectory() as folder:
        server = LongServer(Path(folder) / "data")
        try:
            _of_server(server)
        finally:
            server.kill_group()


def _of_models() -> None:
    start = time.perf_counter()
    worker = Worker()
    pairs = Job(parse_request("crosstab", {"rows": "a", "columns": "b"}), _coins(0.3), 0)
    _run(worker, pairs)
    row("first table of a new process", time.perf_counter() - start, "s", "")
    row("the same in a process that waits", _seconds(lambda: _run(worker, pairs)), "s", "")
    model = parse_request("regression", LONG)
    for name, columns, asked in (
        ("logit, 18 coefficients", _coins(0.3), "<= 3"),
        ("logit, 18 coefficients, no finite estimate", _coins(0.0), "<= 2"),
        ("multinomial, 36 coefficients, no finite estimate", long_columns(REPORTS), ""),
    ):
        seconds = _seconds(partial(_run, worker, Job(model, columns, 0)))
        row(f"{name}, {REPORTS:,} reports", seconds, "s", asked)
    worker.close()


def _of_server(server: LongServer) -> None:
    bodies, shares = iter(reports(2 * ROUNDS, survey())), iter(np.linspace(0.3, 0.4, 2 * ROUNDS + 1).tolist())

    def send() -> None:
        requests.post(f"{server.url}/api/v1/surveys/exam/reports", data=next(bodies), headers=JSON, timeout=60)

    def table() -> None:
        # Margins that differ make each table another one, which is in no cache.
        share = next(shares)
        asked = {"rows": "cheated", "columns": "year", "margins": {"year": {"first": share, "second": 1 - share}}}
        address = f"{server.url}/api/v1/surveys/done/crosstab"
        assert requests.post(address, json=asked, headers=server.headers, timeout=60).status_code == 200

    table()
    for state in ("nothing else runs", "a long model runs"):
        long = server.begin() if "long" in state else ""
        row(f"Tables while {state}, median of {ROUNDS}", _median(table), "s", "")
        row(f"a report while {state}, median of {ROUNDS}", _median(send), "s", "")
        assert not long or server.state(long).status_code == 202


def _coins(share: float) -> Columns:
    """Yes/no answers through a coin flip; nobody of the last group of "a" says yes if the share there is 0."""
    generator = np.random.Generator(np.random.PCG64(1))
    found = {name: generator.integers(0, categories, REPORTS) for name, categories in SPARE.items()}
    last = found["a"] == CATEGORIES["a"] - 1
    # A fifth of reports, below the quarter that noise alone makes: no maximum.
    chance = np.where(last, 0.25 + share / 2 if share else 0.2, 0.25 + 0.5 * 0.3)
    found["answer"] = generator.random(REPORTS) < chance
    return Columns.from_arrays(_survey(), {name: values.astype(np.uint8) for name, values in found.items()})


def _survey() -> Survey:
    documents = {"answer": question(COIN)}
    for name, categories in list(SPARE.items())[1:]:
        documents[name] = public(one_of(categories, COIN) if categories > 2 else question(COIN))
    return survey(questions=[{**document, "name": name} for name, document in documents.items()])


def _run(worker: Worker, job: Job) -> None:
    reply = worker.run(job, lambda *_: None)
    assert "document" in reply, reply


def _seconds(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _median(work: Callable[[], None]) -> float:
    return statistics.median(_seconds(work) for _ in range(ROUNDS))
