"""The size of the program: three numbers that fall; one rises only by a commit whose body says what allows it.

And of its files, its functions and the pages of its folders.
"""

import ast
import io
import re
import tokenize
from pathlib import Path

from tests.unit.test_imports import ROOT, SOURCES, module_of, tree_of

CODE_LINES = 53_474
"""Lines of Python that hold code: neither blank, nor comment, nor docstring."""
STATEMENTS = 50_225
"""Statements of Python: nodes of the kind ``ast.stmt``."""
SCRIPT_LINES = 7_325
"""Lines of JavaScript that hold code."""

SCRIPTS = [path for side in ("shared", "client", "aggregator") for path in (ROOT / side).rglob("*.*js")]
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def is_text(node: ast.stmt) -> bool:
    """Whether a statement is a docstring, a constant's included."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def code_lines(source: str) -> int:
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    texts = [node for node in ast.walk(tree_of(source)) if isinstance(node, ast.stmt) and is_text(node)]
    return len(lines.difference(*(range(node.lineno, (node.end_lineno or 0) + 1) for node in texts)))


def statements(source: str) -> int:
    return sum(isinstance(node, ast.stmt) for node in ast.walk(tree_of(source)))


def script_lines(source: str) -> int:
    bare = re.sub(r"^\s*/\*.*?\*/", "", source, flags=re.MULTILINE | re.DOTALL)
    return sum(bool(line.strip()) and not line.strip().startswith("//") for line in bare.splitlines())


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_program_is_within_its_size() -> None:
    """By three counts, so that none is lowered by paper or by long lines."""
    counted = {
        "code lines": sum(code_lines(read(path)) for path in SOURCES),
        "statements": sum(statements(read(path)) for path in SOURCES),
        "lines of JavaScript": sum(script_lines(read(path)) for path in SCRIPTS),
    }
    allowed = {"code lines": CODE_LINES, "statements": STATEMENTS, "lines of JavaScript": SCRIPT_LINES}

    assert {name: number for name, number in counted.items() if number > allowed[name]} == {}


def test_only_code_is_counted() -> None:
    """Blank lines, comments and docstrings are not."""
    python = '"""A\n\nb."""\n\n# c\nD = 1\n"""E."""\n\n\ndef f() -> str:\n    """G."""\n    return """\n"""\n'
    script = "/**\n * What.\n */\nconst a = 1;\n\n// why\nf(a, /* b */ 2);\n"

    assert (code_lines(python), statements(python), script_lines(script)) == (4, 6, 2)


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
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
