"""SQL is said in one place, and nothing that came from outside becomes part of a statement."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[4]
STORAGE = ROOT / "aggregator" / "sottovoce" / "aggregator" / "storage"
SQL = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|PRAGMA|VACUUM|TRUNCATE|COPY)\b")
LISTED = {"_columns(table)", "table", "marks", "pragma", "into", "', '.join(read)", "names", "', '.join(keys)"}
LISTED |= {"name or table", "conflict", "', '.join(lines)", "dialect.ends.get(table, dialect.end)", "self.NEW_ID"}
"""What stands for one of a few constants: looked at by a person, once."""
EXECUTED = {"execute", "executemany", "executescript", "stream", "copy"}
PARQUET = {("export", "tables.py"), ("file_formats", "table_source.py"), ("offline", "write_parquet.py")}
"""What a library for files reads takes the names of columns in no other way."""
OTHERS = sorted(
    path for side in ("aggregator", "client", "shared") for path in (ROOT / side).rglob("*.py")
    if STORAGE not in path.parents
)  # fmt: skip


def woven(node: ast.JoinedStr) -> list[ast.expr]:
    """What a text weaves in besides constants, whole numbers, and the names of known tables' columns."""
    found = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            value, spec = part.value, ast.unparse(part.format_spec) if part.format_spec else ""
            constant = isinstance(value, ast.Name) and value.id.isupper()
            if not constant and ast.unparse(value) not in LISTED and spec != "f'd'":
                found.append(value)
    return found


def statements(path: Path) -> list[tuple[int, str]]:
    """Line and text of every weaving or concatenation of SQL that might carry something from outside."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr) and SQL.search(ast.unparse(node)) and woven(node):
            found.append((node.lineno, ast.unparse(node)))
        called = getattr(node.func, "attr", "") if isinstance(node, ast.Call) and node.args else ""
        first = node.args[0] if isinstance(node, ast.Call) and called in EXECUTED else None
        is_formatted = isinstance(first, ast.BinOp) and isinstance(first.op, ast.Mod)
        is_woven = isinstance(first, ast.JoinedStr) and called != "stream" and "PRAGMA" not in ast.unparse(first)
        if is_formatted or is_woven:
            found.append((node.lineno, ast.unparse(node)))
    return found


def test_statements_are_constant() -> None:
    found = {str(path.relative_to(STORAGE)): statements(path) for path in STORAGE.rglob("*.py")}
    assert found
    assert {name: woven_in for name, woven_in in found.items() if woven_in} == {}


def test_sql_is_said_in_storage_only() -> None:
    """No other file executes anything, but for the library of Parquet."""
    for path in OTHERS:
        text = path.read_text(encoding="utf-8")
        # Most files need no reading: what is not in the text is not called.
        tree = ast.parse(text if "execute" in text or ".sql(" in text else "")
        called = {node.func.attr for node in ast.walk(tree)
                  if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)}  # fmt: skip
        forbidden = {"execute", "executemany", "executescript"} | (set() if path.parts[-2:] in PARQUET else {"sql"})
        assert called.isdisjoint(forbidden), path


def test_woven_statement_is_found(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text('db.execute(f"SELECT * FROM reports WHERE wave = {wave}")\ndb.execute("SELECT %s" % wave)\n')

    assert {line for line, _ in statements(path)} == {1, 2}
