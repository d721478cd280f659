"""``make bench``: figures, no verdicts. Everything, or with ``ARGS`` only the benches that it names; with ``--write``,
each replaces its part of ``docs/figures.md``.
"""

import re
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from textwrap import fill

from tests import postgres
from tests.bench import (
    audit,
    blind,
    counting,
    curator,
    curator_peers,
    disorder,
    endurance,
    entered,
    imports,
    ingest,
    joint_tables,
    long_analysis,
    mechanisms,
    node_memory,
    nodes,
    page,
    parquet,
    plain_sql,
    recount,
    regression,
    single,
    square_wave,
    studio,
    unsettled,
    viewers,
)

BENCHES: dict[str, Callable[[], None]] = {
    "imports": imports.figures,
    "entered": entered.figures,
    "mechanisms": mechanisms.figures,
    "counting": counting.figures,
    "regression": regression.figures,
    "square_wave": square_wave.figures,
    "joint_tables": joint_tables.figures,
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
    "plain_sql": plain_sql.figures,
    "unsettled": unsettled.figures,
    "viewers": viewers.figures,
    "node_memory": node_memory.figures,
    "nodes": nodes.figures,
    "disorder": disorder.figures,
    "recount": recount.figures,
    "endurance": lambda: endurance.figures({"sqlite": lambda: "", "postgresql": postgres.fresh}),
}

PAGE = Path("docs/figures.md")


class Copied(StringIO):
    """Keeps what is printed, and prints it."""

    def write(self, text: str) -> int:
        print(text, end="", file=sys.__stdout__, flush=True)
        return super().write(text)


def write(name: str, bench: Callable[[], None]) -> None:
    """Run a bench, and put what it prints on the page, in its place or at the end."""
    with redirect_stdout(Copied()) as copied:
        bench()
    about = (sys.modules[f"tests.bench.{name}"].__doc__ or "").strip().partition("\n\n")[0]
    about = fill(about.replace("``", "`"), 120)
    part = f"## {name}\n\n{about}\n\n```text\n{copied.getvalue().rstrip()}\n```\n\n"
    page, next_page = PAGE.read_text("utf-8").split("Next: ")
    found = re.search(rf"^## {name}\n.*?^```\n\n", page, re.MULTILINE | re.DOTALL)
    page = page.replace(found[0], part) if found else page + part
    PAGE.write_text(f"{page}Next: {next_page}", "utf-8")


if __name__ == "__main__":
    postgres.sync_to_disk()
    arguments = sys.argv[1:]
    for name in [each for each in arguments if each != "--write"] or BENCHES:
        if "--write" in arguments:
            write(name, BENCHES[name])
        else:
            BENCHES[name]()
