"""``make bench``: figures, no verdicts. Everything, or only ``imports``, ``mechanisms``, ``ingest`` or ``recount``."""

import sys

from tests import postgres
from tests.bench import imports, ingest, mechanisms, recount

if __name__ == "__main__":
    wanted = sys.argv[1:] or ["imports", "mechanisms", "ingest", "recount"]
    if "imports" in wanted:
        imports.figures()
    if "mechanisms" in wanted:
        mechanisms.figures()
    if "ingest" in wanted:
        ingest.figures({"sqlite": "", "postgresql": postgres.fresh()})
    if "recount" in wanted:
        recount.figures()
