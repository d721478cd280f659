"""``make bench``: figures, no verdicts. Everything, or only what is named."""

import sys

from tests import postgres
from tests.bench import endurance, imports, ingest, mechanisms, recount

if __name__ == "__main__":
    wanted = sys.argv[1:] or ["imports", "mechanisms", "ingest", "recount", "endurance"]
    if "imports" in wanted:
        imports.figures()
    if "mechanisms" in wanted:
        mechanisms.figures()
    if "ingest" in wanted:
        ingest.figures({"sqlite": "", "postgresql": postgres.fresh()})
    if "recount" in wanted:
        recount.figures()
    if "endurance" in wanted:
        endurance.figures({"sqlite": lambda: "", "postgresql": postgres.fresh})
