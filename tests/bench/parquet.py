"""Folders of reports: how many are written a second, bytes, memory, and how fast each engine counts them."""

import os
import resource
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
from sottovoce.aggregator.analysis.estimates import RevisionCounts
from sottovoce.aggregator.export.catalogue import Source
from sottovoce.aggregator.export.offline.locations import place_named
from sottovoce.aggregator.export.offline.offline_results import (
    HERE,
    Counted,
    Layout,
    Opened,
    ReportCounts,
    on_cluster,
    open_folder,
    tally_rows,
)
from sottovoce.aggregator.export.offline.write_parquet import write_reports
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.storage.hash_chain import SurveyLogEntry
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.bench.mechanisms import best, row
from tests.documents import number, one_of, question, survey

REPORTS = int(os.environ.get("BENCH_REPORTS", "1000000"))
CHUNK = 20_000
"""As many rows as a back end hands out at a time."""


@dataclass(frozen=True)
class Invented:
    """Reports as a database hands them out, drawn anew for every chunk: what is measured is what comes after it."""

    survey: Survey
    reports: int
    journal = None

    def record(self) -> list[SurveyLogEntry]:
        return []

    def changed_since_shown(self, name: str, wave: int | None = None) -> int:  # noqa: ARG002
        return 0

    def packed_by_wave(self, survey: int) -> Iterator[list[tuple[int, bytes]]]:  # noqa: ARG002
        """Values of a byte or two, as wide as the largest, evenly spread."""
        generator = np.random.Generator(np.random.PCG64(1))
        largest = [each.largest for each in self.survey.questions]
        width = 1 if max(largest) < 255 else 2
        for start in range(0, self.reports, CHUNK):
            count = min(CHUNK, self.reports - start)
            values = generator.integers(0, np.array(largest) + 1, (count, len(largest))).astype(f">u{width}")
            text = values.tobytes()
            size = len(text) // count
            head = bytes([width])
            yield [(0, head + text[at : at + size]) for at in range(0, len(text), size)]


def of_kind(asked: Survey, reports: int) -> Source:
    """What a folder of this survey is written from."""
    stored = StoredSurvey(1, asked.name, 1, asked.digest, asked.canonical, True, reports)
    return Source(Invented(asked, reports), [RevisionCounts(stored, asked, ())], datetime.now(UTC))


def questionnaires() -> dict[str, Survey]:
    """Ten yes/no questions, and twenty of several kinds."""
    ten = [{**question({"name": "coin_flip"}), "name": f"q{at}"} for at in range(10)]
    mixed = [
        [
            {**question({"name": "coin_flip"}), "name": f"y{at}"},
            {**one_of(5, {"name": "kary_rr", "odds": "3"}), "name": f"c{at}"},
            {**one_of(16, {"name": "kary_rr", "odds": "3"}), "name": f"s{at}"},
            {**number(0, 100, 1, {"epsilon": "1"}), "name": f"n{at}"},
        ]
        for at in range(5)
    ]
    return {
        "ten yes/no questions": parse_survey(survey(*ten)),
        "twenty mixed questions": parse_survey(survey(*[each for four in mixed for each in four])),
    }


def quiet(_done: int, _whole: int) -> None:
    """Nobody is told."""


def writing(folder: Path) -> dict[str, Opened]:
    """Reports a second and bytes a report, beside the time that reading them from nowhere takes."""
    opened = {}
    for (name, asked), goal in zip(questionnaires().items(), ((0.4, 2), (0.25, 8)), strict=True):
        source, out = of_kind(asked, REPORTS), folder / str(len(opened)) / "out"
        out.mkdir(parents=True)
        started, processor = time.perf_counter(), time.process_time()
        for _ in source.storage.packed_by_wave(1):
            pass
        nowhere = time.process_time() - processor
        started, processor = time.perf_counter(), time.process_time()
        write_reports(source, out)
        seconds, spent = time.perf_counter() - started, time.process_time() - processor - nowhere
        size = sum(path.stat().st_size for path in out.rglob("*.parquet"))
        row(f"parquet: {REPORTS:,} reports of {name}", REPORTS / seconds / 1e6, "M reports/s", f">= {goal[0]}")
        row("parquet: the same, of processor time without inventing them", REPORTS / spent / 1e6, "M reports/s", "")
        row("parquet: bytes of a report", size / REPORTS, "bytes", f"<= {goal[1]}")
        opened[name] = open_folder(place_named(out))
    row(
        "parquet: most memory of this process",
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "MiB",
        "<= 1024",
    )
    return opened


def counting(opened: dict[str, Opened]) -> None:
    """Every engine over the same folders; a ratio to the reference, and the same counts."""
    for name, folder in opened.items():
        values = REPORTS * len(folder.described.columns)
        reference = HERE["numpy"](folder, quiet)
        seconds = best(lambda f=folder: HERE["numpy"](f, quiet), 2)  # type: ignore[misc]
        row(f"count: {name}, numpy", values / seconds / 1e6, "M values/s", "the reference")
        assert HERE["duckdb"](folder, quiet) == reference
        ratio = best(lambda f=folder: HERE["duckdb"](f, quiet), 2) / seconds  # type: ignore[misc]
        row(f"count: {name}, DuckDB, times numpy", ratio, "x", "")


def one_question(reports: int) -> None:
    """A long column that nobody has grouped: the kernel, plain numpy, DuckDB. In a folder these are sixteen rows."""
    column = np.random.Generator(np.random.PCG64(2)).integers(0, 16, reports, dtype=np.uint8)
    layout = Layout(("q", "n"), (1,), (Counted("q", 0, 0, 15),))
    batch = 1 << 20

    def kernel() -> ReportCounts:
        found = ReportCounts()
        for start in range(0, reports, batch):
            tally_rows([column[start : start + batch]], None, layout, found)
        return found

    def plain() -> np.ndarray:
        return sum(np.bincount(column[at : at + batch], minlength=16) for at in range(0, reports, batch))  # type: ignore[return-value]

    def grouped() -> list[Any]:
        with duckdb.connect(config={"threads": 1}) as connection:
            connection.register("reports", pd.DataFrame({"q": column}, copy=False))
            return connection.sql("SELECT q, count(*) FROM reports GROUP BY q ORDER BY q").fetchall()

    assert list(kernel().tallies["q"].values()) == plain().tolist() == [count for _, count in grouped()]
    ours, numpy, ducks = best(kernel, 2), best(plain, 2), best(grouped, 2)
    row(f"count: {reports:,} reports of one question, times plain numpy", ours / numpy, "x", "<= 2")
    row(f"count: {reports:,} reports of one question, times DuckDB on one thread", ours / ducks, "x", "<= 1.5")


def cluster(folder: Opened) -> None:
    """Dask with one worker for each core, start and all: what a folder must be larger than to be worth it."""
    started = time.perf_counter()
    on_cluster()(folder, quiet)
    row("count: Dask on this machine, its start and all", time.perf_counter() - started, "s", "")


def figures() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        opened = writing(Path(temporary))
        counting(opened)
        one_question(int(os.environ.get("BENCH_COLUMN", "100000000")))
        cluster(next(reversed(opened.values())))
