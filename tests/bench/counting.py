"""Speed of counting masks, of batch randomizers, of estimates of many options, of pilots and of copies."""

import os
import tempfile
import time
import tracemalloc
from fractions import Fraction
from pathlib import Path

import numpy as np
from sottovoce.aggregator.estimators import estimate
from sottovoce.aggregator.estimators.intervals import exact
from sottovoce.aggregator.intake.admission import SurveyRules
from sottovoce.aggregator.planning.simulated_survey import invent, pilot
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws, seeded, simulate
from sottovoce.aggregator.storage import ReportBatch, StoragePlan
from sottovoce.aggregator.storage.connect import open_url
from sottovoce.aggregator.storage.models import ID
from sottovoce.aggregator.storage.pack_values import pack
from sottovoce.aggregator.storage.reports.batch_columns import change, matrix, tallies, tally
from sottovoce.shared.mechanisms.geometric import Geometric
from sottovoce.shared.mechanisms.hadamard_response import HadamardResponse
from sottovoce.shared.mechanisms.subset_selection import SubsetSelection
from sottovoce.shared.parse_survey import parse_survey

from tests.bench.ingest import ten_questions
from tests.bench.mechanisms import MILLION, best, domain, row
from tests.documents import number, one_of, parsed, survey

ROWS = int(os.environ.get("BENCH_REPORTS", "1000000"))
GROUP = 20_000


def per_bit(masks: np.ndarray, options: int) -> dict[int, int]:
    """What plain numpy does: one look at all masks for each option."""
    counts = {option: int((masks >> option & 1).sum()) for option in range(options)}
    return {**counts, options: len(masks)}


def masks() -> None:
    """A million masks at intake, in the recount and in simulations, beside numpy's count bit by bit."""
    generator = np.random.Generator(np.random.PCG64(1))
    for options in (16, 32, 52):
        values = generator.integers(0, 1 << options, MILLION)
        packed = np.zeros((MILLION, 9), dtype=np.uint8)
        packed[:, 0], packed[:, 1:] = 8, values.astype(">u8").view(np.uint8).reshape(-1, 8)
        text = packed.tobytes()
        arrival = ReportBatch(StoragePlan(1, None, 25, None, {0: options}), 0, bytes(ID * MILLION), text)
        assert tally(values, options) == per_bit(values, options) == dict(one[2:] for one in _told(text, options))
        limit = best(lambda v=values, k=options: per_bit(v, k), 3)  # type: ignore[misc]
        for name, work in (
            ("in a simulation", lambda v=values, k=options: tally(v, k)),
            ("in the recount", lambda t=text, k=options: _told(t, k)),
            ("at intake", lambda a=arrival: change([a])),
        ):
            row(f"a million masks of {options} {name}, times numpy bit by bit", best(work, 3) / limit, "x", "<= 3")


def _told(text: bytes, options: int) -> list[list[int]]:
    return tallies(matrix(text, MILLION), {0: options}).tolist()


def batch() -> None:
    """Geometric noise and subsets, beside uniform integers of the same source."""
    draws, generator = BatchDraws(), np.random.Generator(np.random.PCG64(2))
    row("batch: uniform 32-bit integers", 1 / best(lambda: draws.below(1 << 32, MILLION), 3), "M/s", "the limit")
    steps = generator.integers(0, 1001, MILLION)
    noise = Geometric.for_epsilon(Fraction(2), parsed(number(0, 1000, 1, {"epsilon": "1"})).domain)
    row("batch: geometric, 0..1000", 1 / best(lambda: simulate(noise, steps, draws), 3), "M reports/s", ">= 5")
    truths = generator.integers(0, 16, MILLION)
    subset = SubsetSelection(Fraction(3), 4, 16)
    row("batch: subsets of 4 of 16", 1 / best(lambda: simulate(subset, truths, draws), 3), "M reports/s", ">= 12")


def many_options() -> None:
    """From a tally to arrays of estimates."""
    generator, options = np.random.Generator(np.random.PCG64(3)), domain(1000)
    mechanism = HadamardResponse(Fraction(3), 1000)
    columns = np.bincount(generator.integers(0, mechanism.columns, MILLION), minlength=mechanism.columns)
    found = dict(enumerate(columns.tolist()))
    seconds = best(lambda: estimate(mechanism, found, options))
    row("Hadamard: tally of a million to arrays of 1,000 estimates", seconds * 1e3, "ms", "<= 5")
    a, b = 3 / 1026, 1 / 1026
    for n in (10_000, MILLION, 100 * MILLION):
        counts = generator.multinomial(n, [1 / 1024] * 1024)
        seconds = best(lambda c=counts, n=n: exact(c, n, a, b, 1 - 0.05 / 1024))  # type: ignore[misc]
        row(f"joint limits of 1,024 options, {n:,} reports", seconds * 1e3, "ms", "<= 2")


def pilots() -> None:
    asked = [{**one_of(8, {"name": "kary_rr", "odds": "3"}), "name": f"q{index}"} for index in range(20)]
    twenty = parse_survey(survey(*asked))
    for count in (MILLION // 5, MILLION):
        tracemalloc.start()
        started = time.perf_counter()
        pilot(twenty, invent(twenty, count, 1), BatchDraws(seeded("bench")))
        seconds, peak = time.perf_counter() - started, tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        row(f"pilot: 20 questions, {count:,} respondents: memory", peak / 1e6, "MB", "the same")
        row(f"pilot: 20 questions, {count:,} respondents: time", seconds, "s", "")


def copies() -> None:
    """A copy of an SQLite file of ten questions; ``BENCH_REPORTS`` says of how many reports."""
    with tempfile.TemporaryDirectory() as temporary:
        folders = [Path(temporary) / name for name in ("from", "to")]
        for folder in folders:
            folder.mkdir()
        source, target = (open_url("", folder) for folder in folders)
        stored = source.publish(ten_questions())
        plan = SurveyRules(stored, stored.key).plan
        values = [tuple(place >> bit & 1 for bit in range(10)) for place in range(GROUP)]
        packed = b"".join(map(pack, values))
        for start in range(0, ROWS, GROUP):
            # Ids that rise from group to group: filling the source is not what is measured.
            ids = b"".join(sorted((start + place).to_bytes(8) + os.urandom(8) for place in range(GROUP)))
            source.store([ReportBatch(plan, 0, ids, packed)])
        started, processor = time.perf_counter(), time.process_time()
        target.copy_from(source)
        target.scrub()
        seconds, processor = time.perf_counter() - started, time.process_time() - processor
        assert target.live_counts(stored.key) == source.live_counts(stored.key)
        row(f"copy: {ROWS:,} reports, SQLite", ROWS / seconds / 1e6, "M rows/s", ">= 1")
        row(f"copy: {ROWS:,} reports, SQLite, of processor time", ROWS / processor / 1e6, "M rows/s", "")
        source.close()
        target.close()


def figures() -> None:
    for part in (masks, batch, many_options, pilots, copies):
        part()
