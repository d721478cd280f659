"""The rate of SQLite itself on this machine: the same rows, durable, by one thread with nothing else to do."""

import os
import tempfile
import time
from pathlib import Path

from sottovoce.aggregator.intake.admission import SurveyRules
from sottovoce.aggregator.storage import ReportBatch
from sottovoce.aggregator.storage.pack_values import pack
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage, _insert
from sottovoce.shared.spec import Survey


def rate(asked: Survey, reports: int, group: int) -> float:
    """Rows a second, sorted group by sorted group, without counts, look-ups or anybody who sends them."""
    values = pack((1, 0) * 5)
    with tempfile.TemporaryDirectory() as folder:
        storage = SQLiteStorage(Path(folder) / "bare.sqlite")
        stored = storage.publish(asked)
        plan = SurveyRules(stored, stored.key).plan
        ids = [os.urandom(16) for _ in range(reports)]
        groups = [sorted(ids[at : at + group]) for at in range(0, reports, group)]
        started = time.perf_counter()
        for group_ids in groups:
            with storage.write() as db:
                _insert(db, [ReportBatch(plan, 0, b"".join(group_ids), values * len(group_ids))])
        seconds = time.perf_counter() - started
        storage.close()
    return reports / seconds
