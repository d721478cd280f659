"""``make bench``: figures, no verdicts. Everything, or only ``mechanisms``, ``ingest`` or ``recount``."""

import sys

from tests import postgres
from tests.bench import ingest, mechanisms, recount

if __name__ == "__main__":
    wanted = sys.argv[1:] or ["mechanisms", "ingest", "recount"]
    if "mechanisms" in wanted:
        mechanisms.figures()
    if "ingest" in wanted:
        ingest.figures({"sqlite": "", "postgresql": postgres.fresh()})
    if "recount" in wanted:
        recount.figures()
