"""``make bench``: figures, no verdicts. Everything, or only some: ``imports``, ``mechanisms``, ``audit`` .."""

import sys

from tests import postgres
from tests.bench import audit, imports, ingest, mechanisms, recount

if __name__ == "__main__":
    wanted = sys.argv[1:] or ["imports", "mechanisms", "audit", "ingest", "recount"]
    if "imports" in wanted:
        imports.figures()
    if "mechanisms" in wanted:
        mechanisms.figures()
    if "audit" in wanted:
        audit.figures()
    if "ingest" in wanted:
        ingest.figures({"sqlite": "", "postgresql": postgres.fresh()})
    if "recount" in wanted:
        recount.figures()
