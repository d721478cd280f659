"""Node, which runs the browser's scripts as they are assembled for browsers, and the audit's own scripts with them."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

_FRUGAL = ("--single-threaded", "--max-semi-space-size=64", "--always-sparkplug", "--interrupt-budget=200000")
"""The other core has work of its own: garbage is collected by no further threads, and more rarely. What runs is
compiled as it stands; only what runs very often with all care, which takes longer than much of what is run here."""


@contextmanager
def laid_out(node: str, scripts: Mapping[str, str], driver: str) -> Iterator[list[str]]:
    """
    The command that runs one of the audit's scripts beside the browser's.

    Args:
        node: the program.
        scripts: from ``page.opened()``.
        driver: the name of the script to run.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
        for part in files("sottovoce.audit").joinpath("javascript").iterdir():
            if part.name.endswith(".mjs"):
                (folder / part.name).write_bytes(part.read_bytes())
        for script, text in scripts.items():
            (folder / script).write_text(text, encoding="utf-8")
        yield [node, *_FRUGAL, str(folder / driver)]
