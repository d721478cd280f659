"""``make bench``: figures, no verdicts. Everything, or with ``ARGS`` only the benches that it names."""

import sys

from tests import postgres
from tests.bench import (
    audit,
    blind,
    counting,
    curator,
    curator_peers,
    disorder,
    endurance,
    imports,
    ingest,
    joint_tables,
    long_analysis,
    mechanisms,
    nodes,
    page,
    parquet,
    recount,
    regression,
    single,
    square_wave,
    studio,
)

BENCHES = {
    "imports": imports.figures,
    "mechanisms": mechanisms.figures,
    "counting": counting.figures,
    "regression": regression.figures,
    "square_wave": square_wave.figures,
    "joint": joint_tables.figures,
    "long_analysis": long_analysis.figures,
    "curator": curator.figures,
    "curator_peers": curator_peers.figures,
    "audit": audit.figures,
    "blind": blind.figures,
    "page": page.figures,
    "studio": studio.figures,
    "ingest": lambda: ingest.figures({"sqlite": "", "postgresql": postgres.fresh()}),
    "single": single.figures,
    "parquet": parquet.figures,
    "nodes": nodes.figures,
    "disorder": disorder.figures,
    "recount": recount.figures,
    "endurance": lambda: endurance.figures({"sqlite": lambda: "", "postgresql": postgres.fresh}),
}

if __name__ == "__main__":
    postgres.sync_to_disk()
    for name in sys.argv[1:] or BENCHES:
        BENCHES[name]()
