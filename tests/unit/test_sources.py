"""The page of sources is true: every file, test and command that it names is there."""

import ast
import re
from pathlib import Path

from sottovoce.cli.main import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")


def functions(path: str) -> set[str]:
    nodes = ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8")))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


def test_every_file_and_test_that_the_page_names_exists() -> None:
    """A statement that moved, or whose test was renamed, would stand there unshown."""
    files = set(re.findall(r"`((?:shared|client|aggregator|tests)/[\w/]+\.\w+)", PAGE))
    tests = set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE))

    assert [path for path in files if not (ROOT / path).is_file()] == []
    assert [name for path, name in tests if name not in functions(path)] == []
    assert (len(files), len(tests)) > (15, 25)
    assert [verb for verb in re.findall(r"`sottovoce (\w+)", PAGE) if verb not in main.places] == []


def test_every_row_has_its_test_or_says_that_there_is_nothing() -> None:
    """No statement without what shows it, and fifteen errors with what guards against them."""
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and "---" not in line]
    told = [row for row in rows if not row.startswith(("| statement", "| error"))]

    assert [row for row in told if "::test_" not in row and "nothing to guard" not in row] == []
    assert re.findall(r"^\| (\d+)\. ", PAGE, re.MULTILINE) == [str(number) for number in range(1, 16)]
