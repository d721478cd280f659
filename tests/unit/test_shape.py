"""The house style that can be measured."""

import ast
from pathlib import Path

from tests.unit.test_imports import ROOT, SOURCES, module_of, tree_of


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All functions of a file."""
    tree = tree_of(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_every_file_is_small_enough_to_audit() -> None:
    """No file passes 800 lines, no function 60."""
    assert [module_of(path) for path in SOURCES if path.read_text(encoding="utf-8").count("\n") > 800] == []
    assert [(module_of(path), f.name) for path in SOURCES for f in functions(path) if length(f) > 60] == []


def test_every_folder_says_its_rule() -> None:
    """Every top-level folder has a short README."""
    pages = [ROOT / folder / "README.md" for folder in ("shared", "client", "aggregator", "tests", "deploy")]
    lengths = {page: len(page.read_text(encoding="utf-8").splitlines()) for page in pages}
    assert {page: lines for page, lines in lengths.items() if not 3 <= lines <= 40} == {}
