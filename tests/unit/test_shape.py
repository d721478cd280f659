"""The house style that can be measured."""

import ast
from collections.abc import Iterator
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
    """No file passes 400 lines, no function 40."""
    assert [module_of(path) for path in SOURCES if path.read_text(encoding="utf-8").count("\n") > 400] == []
    assert [(module_of(path), f.name) for path in SOURCES for f in functions(path) if length(f) > 40] == []


def test_most_functions_are_short() -> None:
    """Nine of ten functions have at most 20 lines."""
    lengths = [length(function) for path in SOURCES for function in functions(path)]
    assert sum(n <= 20 for n in lengths) >= 0.9 * len(lengths)


SAID_ONCE = ("client/randomizers.py", "shared/mechanisms/", "shared/types/")
"""One contract for all files of a folder, which its registry or its base tells."""


def untold_arguments(source: str) -> list[str]:
    """Public functions and methods with three or more parameters whose docstring does not say what they are."""
    return [
        node.name
        for node in _public(tree_of(source))
        if _parameters(node) >= 3 and "Args:" not in (ast.get_docstring(node) or "")
    ]


def _public(scope: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in scope.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("_"):
            continue
        if isinstance(node, ast.ClassDef):
            yield from _public(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not _is_command(node):
            yield node


def _is_command(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Its options say what they are, to its user."""
    return any(ast.unparse(decorator).startswith("command(") for decorator in node.decorator_list)


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    named = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return len(named) - (named[:1] in (["self"], ["cls"]))


def test_three_or_more_arguments_are_told() -> None:
    """A name and a type do not say units, ranges and what follows; the docstring does."""
    places = {path.relative_to(ROOT).as_posix().split("/sottovoce/")[1]: path for path in SOURCES}
    untold = {place: untold_arguments(path.read_text(encoding="utf-8"))
              for place, path in places.items() if not place.startswith(SAID_ONCE)}  # fmt: skip
    assert {place: names for place, names in untold.items() if names} == {}


def test_untold_arguments_would_be_noticed() -> None:
    """Of functions and of methods, but not of what is private, short or a command."""
    wrong = "def many(a, b, *, c): ...\nclass Room:\n    async def more(self, a, b, c): ...\n"
    right = (
        "def few(a, b): ...\ndef _own(a, b, c): ...\nclass _Own:\n    def many(self, a, b, c): ...\n"
        '@command(example="verb")\ndef verb(a, b, c): ...\ndef said(a, b, c):\n    """Do.\n\n    Args:\n    """\n'
    )

    assert untold_arguments(wrong + right) == ["many", "more"]


def test_every_folder_says_its_rule() -> None:
    """Every top-level folder has a short README."""
    pages = [ROOT / folder / "README.md" for folder in ("shared", "client", "aggregator", "tests", "deploy")]
    lengths = {page: len(page.read_text(encoding="utf-8").splitlines()) for page in pages}
    assert {page: lines for page, lines in lengths.items() if not 3 <= lines <= 40} == {}
