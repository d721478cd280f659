"""What is left of the order in which reports came, at each stage, and what it costs to remove it.

On PostgreSQL: how long reports wait at most while a day's reports settle, bytes of disk and of the log a report. On
SQLite: how many reports a second are taken in batches beside so many stored ones, as a share of what an empty file
takes, by the clock and by the processor's time. ``BENCH_ROWS`` is the number of rows that are stored before (a
million).
"""

import os
import secrets
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import psycopg
from sottovoce.aggregator.intake.admission import SurveyRules
from sottovoce.aggregator.storage import Outcome, ReportBatch, Storage
from sottovoce.aggregator.storage.models import ID, StoragePlan
from sottovoce.aggregator.storage.pack_values import pack
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.storage.table_catalogue import fill as insert_into

from tests import postgres
from tests.bench.ingest import ten_questions

ROWS = int(os.environ.get("BENCH_ROWS", "1000000"))
DAY = max(20_000, ROWS // 50)
"""Reports of a day beside them."""

SLOW, SLOWLY = 4800, 800
"""Of a day that is not filled at once: reports of some, and between two checkpoints of the server."""

BATCH, GROUP = 1000, 16
TOGETHER = 12
"""Batches that are stored together, as from so many connections."""

VALUES = [pack(tuple(number >> bit & 1 for bit in range(10))) for number in range(1024)]

PLACES = ("fresh", "settled")
SIZES = " + ".join(f"coalesce(pg_total_relation_size(to_regclass('{table}')), 0)" for table in PLACES)


def figures() -> None:
    shared()
    embedded()


def arrivals(plan: StoragePlan, reports: int) -> ReportBatch:
    packed = b"".join(VALUES[number] for number in np.frombuffer(secrets.token_bytes(2 * reports), "<u2") % 1024)
    return ReportBatch(plan, 0, secrets.token_bytes(ID * reports), packed)


def fill(storage: Storage, plan: StoragePlan, reports: int) -> np.ndarray:
    """Store so many in groups of batches; returns reports a second, and a second of this process's own time."""
    started = now()
    for _ in range(reports // (BATCH * TOGETHER)):
        group = [arrivals(plan, BATCH) for _ in range(TOGETHER)]
        assert storage.store(group) == [Outcome.NEW] * BATCH * TOGETHER
    return reports / (now() - started)


def now() -> np.ndarray:
    """Seconds by the clock, and of this process's own time: on a shared machine only the second can be compared."""
    return np.array([time.perf_counter(), time.process_time()])


def shared() -> None:
    url = postgres.fresh()
    with closing(PostgresStorage(url)) as storage, psycopg.connect(url, autocommit=True) as looking:
        plan = SurveyRules(storage.publish(ten_questions()), 1).plan
        fill(storage, plan, ROWS)
        show_settling("as many at once", storage, plan)
        rows = storage.surveys()[0].reports
        print(f"{rows:,} rows take {bytes_on_disk(looking) / rows:.0f} bytes each", flush=True)
        # What the rows before left to be written belongs to no report of this day.
        looking.execute("CHECKPOINT")
        before = log(looking)
        came = stored_in_groups(storage, plan, DAY)
        arrived = log(looking)
        for _ in range(SLOW // SLOWLY):
            looking.execute("CHECKPOINT")
            came += stored_in_groups(storage, plan, SLOWLY)
        arrived_slowly = log(looking)
        show_order("arrived", looking, came)
        # A day has many.
        looking.execute("CHECKPOINT")
        ready = log(looking)
        show_settling("a day's", storage, plan)
        # What came meanwhile, too.
        storage.scrub()
        settled = log(looking)
        show_order("settled", looking, came)
        reports = storage.surveys()[0].reports
        print(
            f"log: {(arrived - before) / DAY:.0f} bytes a report in groups of {GROUP},"
            f" {(arrived_slowly - arrived) / SLOW:.0f} with a checkpoint after each {SLOWLY:,} reports,"
            f" {(settled - ready) / (reports - rows):.0f} to settle;"
            f" {bytes_on_disk(looking) / reports:.0f} bytes a report on the disk",
            flush=True,
        )
        started = time.perf_counter()
        storage.close_survey(ten_questions().name, 20_000)
        print(f"closed and written anew in {time.perf_counter() - started:.1f} s", flush=True)
        show_order("closed", looking, came)
        print(f"{bytes_on_disk(looking) / reports:.0f} bytes a report on the disk", flush=True)


def stored_in_groups(storage: PostgresStorage, plan: StoragePlan, reports: int) -> list[bytes]:
    came: list[bytes] = []
    for _ in range(reports // GROUP):
        group = [arrivals(plan, 1) for _ in range(GROUP)]
        storage.store(group)
        came += [one.report_ids for one in group]
    return came


def show_settling(what: str, storage: PostgresStorage, plan: StoragePlan) -> None:
    """The longest that a group of reports took while those before it settled, and before that for as long."""
    alone = beside(storage, plan, threading.Thread(target=time.sleep, args=[5.0]))
    settling = beside(storage, plan, threading.Thread(target=storage.scrub))
    print(
        f"{what}: settled in {settling[0]:.1f} s; a group of {GROUP} beside it took {settling[1]:.1f} ms (median) and"
        f" {settling[2]:.0f} ms at most, without it {alone[1]:.1f} ms and {alone[2]:.0f} ms",
        flush=True,
    )


def beside(storage: PostgresStorage, plan: StoragePlan, thread: threading.Thread) -> tuple[float, float, float]:
    """Seconds that a thread took, and milliseconds of a group of reports meanwhile: the median and the longest."""
    took = []
    started = time.perf_counter()
    thread.start()
    while thread.is_alive() or not took:
        group = [arrivals(plan, 1) for _ in range(GROUP)]
        before = time.perf_counter()
        storage.store(group)
        took.append(1000 * (time.perf_counter() - before))
    return time.perf_counter() - started, median(took), max(took)


def log(looking: psycopg.Connection[Any]) -> int:
    """Bytes that the server has ever written to its log."""
    return int((looking.execute("SELECT pg_current_wal_insert_lsn() - '0/0'").fetchone() or (0,))[0])


def bytes_on_disk(looking: psycopg.Connection[Any]) -> int:
    return int((looking.execute(f"SELECT {SIZES}").fetchone() or (0,))[0])  # type: ignore[call-overload]


def show_order(stage: str, looking: psycopg.Connection[Any], came: list[bytes]) -> None:
    """How far the places in the files, and the numbers of the transactions, follow the order of arrival."""
    order = {each: number for number, each in enumerate(came)}
    places = " UNION ALL ".join(
        f"SELECT report_id, ctid, xmin::text::bigint AS transaction, '{table}' AS place FROM {table}"  # noqa: S608
        for table in PLACES
    )
    for what, by in (("place", "place DESC, ctid"), ("transaction", "transaction")):
        query = f"SELECT report_id FROM ({places}) AS places ORDER BY {by}"  # noqa: S608 - constants
        found = [order[each] for (each,) in looking.execute(query) if each in order]  # type: ignore[call-overload]
        print(f"{stage:<9} {what:<12} {correlation(found):+.3f} with the order of arrival", flush=True)


def correlation(ranks: list[int]) -> float:
    """Spearman's, of numbers from 0 up in another order with their places; 0 if there are none left."""
    return float(np.corrcoef(ranks, np.arange(len(ranks)))[0, 1]) if len(ranks) > 1 else 0.0


def embedded() -> None:
    with tempfile.TemporaryDirectory() as folder:
        rates = []
        for name, stored in (("empty", 0), ("full", ROWS)):
            with closing(SQLiteStorage(Path(folder) / name)) as storage:
                plan = SurveyRules(storage.publish(ten_questions()), 1).plan
                preload(storage, plan, stored)
                rates.append(fill(storage, plan, BATCH * TOGETHER * 50))
                (rate, of_processor), (share, of_its_time) = rates[-1], rates[-1] / rates[0]
                print(
                    f"SQLite beside {stored:>10,} rows: {rate:8,.0f} reports/s, {share:.2f};"
                    f" {of_processor:8,.0f} a second of the processor, {of_its_time:.2f}",
                    flush=True,
                )


def preload(storage: SQLiteStorage, plan: StoragePlan, rows: int) -> None:
    """So many stored reports, in the order of their ids, since that is quick."""
    ids = np.sort(np.frombuffer(secrets.token_bytes(ID * rows), f"S{ID}")) if rows else np.empty(0, f"S{ID}")
    values = arrivals(plan, 1).packed
    with storage.write() as db:
        db.executemany(
            insert_into("reports", "settled"), ((plan.survey, bytes(each).ljust(ID, b"\0"), 0, values) for each in ids)
        )
