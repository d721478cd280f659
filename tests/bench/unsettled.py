"""PostgreSQL's processor time for a report, while reports that have not settled grow in number: a class's first minute.

Of the backends of one node that stores groups of 16, by the clock of the kernel's scheduler, at the first 2,400 of such
reports and at each 4,800 more, without ANALYZE, in rounds; beside each the part of the first one.
"""

import secrets
from contextlib import closing
from pathlib import Path
from statistics import median

import psycopg
from sottovoce.aggregator.intake.admission import SurveyRules
from sottovoce.aggregator.storage import Outcome, ReportBatch
from sottovoce.aggregator.storage.pack_values import pack
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage

from tests import postgres
from tests.bench.single import seven_questions

ROUNDS = 3
GROUP = 16
STEP, MOST = 4_800, 21_600
BACKENDS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


def figures() -> None:
    """Microseconds of the backends a report, by the number of reports that have not settled."""
    rounds = [measure(postgres.fresh()) for _ in range(ROUNDS)]
    first = median(found[0] for found in rounds)
    for place, unsettled in enumerate(range(0, MOST, STEP)):
        time = median(found[place] for found in rounds)
        print(
            f"{unsettled:>6,} to {unsettled + STEP // 2:>6,} unsettled  {time:5.1f} us  {time / first:.2f}", flush=True
        )


def measure(url: str) -> list[float]:
    asked = seven_questions()
    found = []
    with closing(PostgresStorage(url, connections=1)) as storage, psycopg.connect(url, autocommit=True) as watching:
        stored = storage.publish(asked)
        # As settling leaves it: a plan made now takes the table for an empty one.
        watching.execute("VACUUM fresh")
        plan = SurveyRules(stored, stored.key).plan

        def store(reports: int) -> None:
            for _ in range(reports // GROUP):
                values = b"".join(pack((*(secrets.randbits(1) for _ in range(7)),)) for _ in range(GROUP))
                batch = ReportBatch(plan, 0, secrets.token_bytes(16 * GROUP), values)
                assert storage.store([batch]) == [Outcome.NEW] * GROUP

        for _ in range(0, MOST, STEP):
            before = used(watching)
            store(STEP // 2)
            found.append(1e6 * (used(watching) - before) / (STEP // 2))
            store(STEP // 2)
    return found


def used(watching: "psycopg.Connection[tuple[int]]") -> float:
    """Seconds of processor that the backends of this database have used."""
    pids = [pid for (pid,) in watching.execute(BACKENDS).fetchall()]
    return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in pids) / 1e9


if __name__ == "__main__":
    figures()
