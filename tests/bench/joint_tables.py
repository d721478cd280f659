"""Speed of tables of two questions over ten million reports, beside one pass of numpy over one column."""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sottovoce.aggregator.analysis.report_columns import Columns, read_columns
from sottovoce.aggregator.analysis.tables.all_pairs import every_pair
from sottovoce.aggregator.analysis.tables.crosstab import crosstab, crosstab_within
from sottovoce.aggregator.storage import ReportBatch, StoragePlan
from sottovoce.aggregator.storage.connect import open_url
from sottovoce.aggregator.storage.models import ID

from tests.bench.mechanisms import row
from tests.documents import one_of, question
from tests.surveys import survey

REPORTS = int(os.environ.get("BENCH_REPORTS", "10000000"))
STORED = REPORTS // 10
GROUP = 20_000
COIN = {"name": "coin_flip"}
MASK = {"name": "optimal_unary", "odds": "3"}


def figures() -> None:
    """Print seconds, and how many passes of ``bincount`` over one column they are."""
    generator = np.random.Generator(np.random.PCG64(1))
    yes_no = _columns([question(COIN)] * 9 + [_open(question(COIN))], generator, 2)
    unit = _seconds(lambda: np.bincount(next(iter(yes_no.values.values()))))
    names = list(yes_no.values)
    _told("bincount of one column", unit, unit)
    _told("crosstab of two", _seconds(lambda: crosstab(yes_no, names[0], names[1])), unit, "1 s")
    weights = np.linspace(0.5, 2, len(yes_no))
    _told("crosstab of two, weighted", _seconds(lambda: crosstab(yes_no, names[0], names[1], weights)), unit)
    _told("within a third", _seconds(lambda: crosstab_within(yes_no, names[0], names[1], names[9])), unit)
    _told("all 45 pairs", _seconds(lambda: every_pair(yes_no)), unit, "25")
    masks = _columns([one_of(16, MASK)] * 2, generator, 1 << 16)
    _told("crosstab of two masks of 16", _seconds(lambda: crosstab(masks, "q0", "q1")), unit)
    _read(generator)


def _read(generator: np.random.Generator) -> None:
    """All columns out of SQLite, and how much more memory than the columns it takes."""
    made = _survey([question(COIN)] * 10)
    with tempfile.TemporaryDirectory() as folder:
        storage = open_url("", Path(folder))
        key = storage.publish(made).key
        for _ in range(0, STORED, GROUP):
            packed = np.ones((GROUP, 11), dtype=np.uint8)
            packed[:, 1:] = generator.integers(0, 2, (GROUP, 10))
            storage.store(
                [ReportBatch(StoragePlan(key, None, 25, None, {}), 0, os.urandom(ID * GROUP), packed.tobytes())]
            )
        start = time.perf_counter()
        read = read_columns(storage, storage.revisions(made.name))
        seconds = time.perf_counter() - start
        storage.close()
    row(f"ten columns out of SQLite, {len(read):,} reports", seconds / len(read) * 1e6, "s a million", "0.9")


def _columns(documents: list[dict[str, Any]], generator: np.random.Generator, values: int) -> Columns:
    made = _survey(documents)
    kind = np.uint8 if values <= 255 else np.uint32
    columns = {each.name: generator.integers(0, values, REPORTS).astype(kind) for each in made.questions}
    nothing = np.zeros(REPORTS, dtype=np.uint8)
    return Columns((made,), columns, nothing, nothing)


def _survey(documents: list[dict[str, Any]]) -> Any:
    return survey(questions=[{**each, "name": f"q{place}"} for place, each in enumerate(documents)])


def _open(document: dict[str, Any]) -> dict[str, Any]:
    return {**{key: value for key, value in document.items() if key != "mechanism"}, "public": True}


def _seconds(work: Callable[[], Any]) -> float:
    """The best of two."""
    found = []
    for _ in range(2):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def _told(what: str, seconds: float, unit: float, asked: str = "-") -> None:
    row(f"{what}, {REPORTS:,} reports: {seconds:.3f} s", seconds / unit, "passes", asked)
