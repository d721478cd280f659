"""``make bench``: figures, no verdicts. Without arguments everything; else ``ingest`` or ``recount``."""

import sys

from tests import postgres
from tests.bench import ingest, recount

if __name__ == "__main__":
    wanted = sys.argv[1:] or ["ingest", "recount"]
    if "ingest" in wanted:
        ingest.figures({"sqlite": "", "postgresql": postgres.fresh()})
    if "recount" in wanted:
        recount.figures()
