"""The house style that can be measured."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for folder in ("shared", "client", "aggregator") for path in (ROOT / folder).rglob("*.py"))


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All functions of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_file_is_small_enough_to_audit(path: Path) -> None:
    """No file passes 400 lines, no function 40."""
    assert path.read_text(encoding="utf-8").count("\n") <= 400
    assert [f.name for f in functions(path) if length(f) > 40] == []


def test_most_functions_are_short() -> None:
    """Nine of ten functions have at most 20 lines."""
    lengths = [length(function) for path in SOURCES for function in functions(path)]
    assert sum(n <= 20 for n in lengths) >= 0.9 * len(lengths)


@pytest.mark.parametrize("folder", ["shared", "client", "aggregator", "tests", "deploy"])
def test_folder_says_its_rule(folder: str) -> None:
    """Every top-level folder has a short README."""
    assert 3 <= len((ROOT / folder / "README.md").read_text(encoding="utf-8").splitlines()) <= 40
