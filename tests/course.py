"""The pages of ``docs/course/``: run from top to bottom, with what they print and draw.

``python -m tests.course`` writes what the code prints into the pages, their pictures beside them, and all pages as one
notebook; a test runs the pages again and compares.
"""

import contextlib
import io
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

COURSE = Path(__file__).parents[1] / "docs" / "course"
PAGES = sorted(COURSE.glob("[0-9]*.md"))
NOTEBOOK = COURSE / "course.ipynb"

DRAWN_BY_CHANCE = {"10_clusters"}
"""Pages whose pictures show real noise, so that each run draws another one."""

CODE = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def run(page: Path) -> tuple[list[tuple[str, str]], dict[str, bytes]]:
    """Run the code of a page in an empty folder. Return (code, what it prints) of each block, and the files made."""
    import matplotlib as mpl

    blocks = [code for code, _ in CODE.findall(page.read_text(encoding="utf-8"))]
    names: dict[str, Any] = {}
    printed = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), mpl.rc_context():
        mpl.use("agg")
        mpl.rcParams.update({"svg.hashsalt": page.stem, "svg.fonttype": "none"})
        os.environ["SOURCE_DATE_EPOCH"] = "0"
        for code in blocks:
            with contextlib.redirect_stdout(io.StringIO()) as told:
                exec(code, names)  # noqa: S102 - our own page
            printed.append(told.getvalue())
        pictures = {path.name: path.read_bytes() for path in Path().glob("*.svg")}
    return list(zip(blocks, printed, strict=True)), pictures


def with_outputs(text: str, printed: list[tuple[str, str]]) -> str:
    """Return a page's text with what each block prints below it."""
    found = iter(printed)

    def block(_: re.Match[str]) -> str:
        code, told = next(found)
        return f"```python\n{code}```\n" + (f"\n```text\n{told}```\n" if told else "")

    return CODE.sub(block, text)


def notebook(pages: dict[Path, list[tuple[str, str]]]) -> str:
    """Return all pages as one notebook (nbformat 4.5) with the outputs of their code."""
    cells: list[dict[str, Any]] = []
    for page, printed in pages.items():
        prose = CODE.split(page.read_text(encoding="utf-8"))[::3]
        for place, text in enumerate(prose):
            cells.append(_cell(len(cells), "markdown", text.strip()))
            if place < len(printed):
                code, told = printed[place]
                streams = [{"name": "stdout", "output_type": "stream", "text": told}] if told else []
                cells.append(_cell(len(cells), "code", code.rstrip(), execution_count=None, outputs=streams))
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    kept = [cell for cell in cells if cell["source"]]
    return json.dumps({"cells": kept, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def _cell(number: int, kind: str, source: str, **more: Any) -> dict[str, Any]:
    return {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": source, **more}


def main() -> None:
    done = {}
    for page in PAGES:
        done[page], pictures = run(page)
        page.write_text(with_outputs(page.read_text(encoding="utf-8"), done[page]), encoding="utf-8")
        for name, picture in pictures.items():
            (COURSE / name).write_bytes(picture)
        sys.stdout.write(f"{page.name}\n")
    NOTEBOOK.write_text(notebook(done), encoding="utf-8")


if __name__ == "__main__":
    main()
