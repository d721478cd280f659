"""How long the counts of reports of ten questions take to be made anew from the rows of an SQLite file."""

import os
import tempfile
import time
from pathlib import Path

from sottovoce.aggregator.intake.admission import SurveyRules
from sottovoce.aggregator.storage import ReportBatch
from sottovoce.aggregator.storage.connect import open_url
from sottovoce.aggregator.storage.models import ID
from sottovoce.aggregator.storage.pack_values import pack

from tests.bench.ingest import ten_questions
from tests.recount import recount

REPORTS = int(os.environ.get("BENCH_REPORTS", "1000000"))
GROUP = 16_000


def figures() -> None:
    """Print the seconds; ``BENCH_REPORTS`` says for how many reports."""
    asked = ten_questions()
    with tempfile.TemporaryDirectory() as temporary:
        storage = open_url("", Path(temporary))
        stored = storage.publish(asked)
        plan = SurveyRules(stored, stored.key).plan
        for start in range(0, REPORTS, GROUP):
            values = [tuple(number >> bit & 1 for bit in range(len(asked.questions))) for number in range(GROUP)]
            packed = b"".join(map(pack, values[: REPORTS - start]))
            storage.store([ReportBatch(plan, 0, os.urandom(ID * min(GROUP, REPORTS - start)), packed)])
        started = time.perf_counter()
        counts = recount(storage, stored)
        seconds = time.perf_counter() - started
        assert counts == storage.live_counts(stored.key)
        print(f"recount      {REPORTS:,} reports of {len(asked.questions)} questions: {seconds:.1f} s", flush=True)
        storage.close()
