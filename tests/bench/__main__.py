"""``make bench``: figures, no verdicts. Everything, or only ``imports``, ``mechanisms``, ``page``, ``ingest`` or ``recount``."""

import sys

from tests import postgres
from tests.bench import imports, ingest, mechanisms, page, recount

if __name__ == "__main__":
    wanted = sys.argv[1:] or ["imports", "mechanisms", "page", "ingest", "recount"]
    if "imports" in wanted:
        imports.figures()
    if "mechanisms" in wanted:
        mechanisms.figures()
    if "page" in wanted:
        page.figures()
    if "ingest" in wanted:
        ingest.figures({"sqlite": "", "postgresql": postgres.fresh()})
    if "recount" in wanted:
        recount.figures()
