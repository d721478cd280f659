"""Who may import whom: the dependency graph is the security argument."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for folder in ("shared", "client", "aggregator") for path in (ROOT / folder).rglob("*.py"))

BOTH_SIDES = {"sottovoce.shared", "sottovoce.client", "sottovoce.aggregator"}

RULES = [
    # (package, what it may import beside the standard library and itself)
    ("sottovoce.shared", set()),
    ("sottovoce.client.transport", {"sottovoce.shared", "sottovoce.client", "requests"}),
    ("sottovoce.client.terminal", {"sottovoce.shared", "sottovoce.client", "click"}),
    ("sottovoce.client", {"sottovoce.shared"}),
    ("sottovoce.aggregator.estimators", {"sottovoce.shared", "numpy"}),
    (
        "sottovoce.aggregator.storage.verify_counts",
        {"sottovoce.shared", "sottovoce.aggregator.storage", "sottovoce.aggregator.collect.survey_rules"},
    ),
    ("sottovoce.aggregator.storage", {"sottovoce.shared", "sqlite_utils", "psycopg", "psycopg_pool", "numpy"}),
    ("sottovoce.aggregator.collect.server_gate", {"sottovoce.shared", "sottovoce.aggregator", "asgiref"}),
    ("sottovoce.aggregator.collect.routes", {"sottovoce.shared", "sottovoce.aggregator", "flask"}),
    ("sottovoce.aggregator.collect.token_routes", {"sottovoce.shared", "sottovoce.aggregator", "flask"}),
    ("sottovoce.aggregator.collect.admission", {"sottovoce.shared", "sottovoce.aggregator", "msgspec"}),
    ("sottovoce.aggregator.collect.decode", {"sottovoce.shared", "sottovoce.aggregator", "msgspec"}),
    ("sottovoce.aggregator.results.routes", {"sottovoce.shared", "sottovoce.aggregator", "flask"}),
    ("sottovoce.aggregator.studio", {"sottovoce.shared", "sottovoce.aggregator", "flask"}),
    ("sottovoce.aggregator.web.packed", {"brotli"}),
    ("sottovoce.aggregator.web", {"sottovoce.shared", "sottovoce.aggregator", "flask", "werkzeug"}),
    ("sottovoce.aggregator.app", {"sottovoce.shared", "sottovoce.aggregator", "flask"}),
    ("sottovoce.aggregator.health", {"sottovoce.shared", "sottovoce.aggregator", "flask"}),
    ("sottovoce.aggregator.planning.survey_file", {"sottovoce.shared", "sottovoce.aggregator", "yaml"}),
    ("sottovoce.aggregator.planning.sample_size", {"sottovoce.shared", "sottovoce.aggregator"}),
    ("sottovoce.aggregator.planning.batch_randomizers", {"sottovoce.shared", "numpy"}),
    ("sottovoce.aggregator.planning", {"sottovoce.shared", "sottovoce.aggregator", "numpy"}),
    ("sottovoce.aggregator", {"sottovoce.shared", "sottovoce.aggregator"}),
    ("sottovoce.audit.chromium", {"sottovoce.shared", "sottovoce.audit", "playwright"}),
    ("sottovoce.audit.served_page", {*BOTH_SIDES, "sottovoce.audit", "playwright", "requests"}),
    ("sottovoce.audit.browser_visit", {*BOTH_SIDES, "sottovoce.audit", "playwright"}),
    ("sottovoce.audit", BOTH_SIDES),
    ("sottovoce.demo", BOTH_SIDES),
    ("sottovoce.cli", {"sottovoce", "click", "rich", "granian", "requests"}),
]
FORBIDDEN = {"random", "numpy.random", "pickle", "marshal", "shelve"}
ONLY_IN = {"secrets": {
        "sottovoce.client.draws",
        "sottovoce.aggregator.web.auth",
        "sottovoce.aggregator.collect.rate_limit",
        "sottovoce.aggregator.collect.tokens",
    }}


def module_of(path: Path) -> str:
    """The dotted name of a source file."""
    parts = path.relative_to(ROOT).with_suffix("").parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(source: str) -> Iterator[str]:
    """Every module that a source names in an import."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""


def violations(module: str, source: str) -> list[str]:
    """The imports of a module that its rule does not allow."""
    package, allowed = next(rule for rule in RULES if (module + ".").startswith(rule[0] + "."))
    found = []
    for name in imports_of(source):
        inside = any((name + ".").startswith(prefix + ".") for prefix in {package, *allowed})
        standard = name.split(".")[0] in sys.stdlib_module_names
        misplaced = name in ONLY_IN and module not in ONLY_IN[name]
        if name in FORBIDDEN or misplaced or not (inside or standard):
            found.append(name)
    return found


@pytest.mark.parametrize("path", SOURCES, ids=module_of)
def test_module_imports_only_what_its_rule_allows(path: Path) -> None:
    """Each module keeps to the import rules."""
    assert violations(module_of(path), path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("sottovoce.shared.spec", "import numpy"),
        ("sottovoce.shared.spec", "from sottovoce.client import draws"),
        ("sottovoce.client.ledger", "import requests"),
        ("sottovoce.client.ledger", "import random"),
        ("sottovoce.client.respondent", "import secrets"),
        ("sottovoce.client.respondent", "from sottovoce.aggregator import settings"),
        ("sottovoce.aggregator.estimators.support", "import flask"),
        ("sottovoce.aggregator.results.analysis", "import sqlite_utils"),
        ("sottovoce.aggregator.app", "from sottovoce.client import page"),
        ("sottovoce.aggregator.app", "from sottovoce.cli import main"),
    ],
)
def test_rule_catches_a_forbidden_import(module: str, source: str) -> None:
    """The rules would catch these."""
    assert violations(module, source) != []


def test_aggregator_package_stays_empty() -> None:
    """Importing an estimator must not load Flask."""
    assert (ROOT / "aggregator/sottovoce/aggregator/__init__.py").read_text() == ""


def test_sql_is_written_in_storage_only() -> None:
    """No other folder of the aggregator executes SQL, and no statement is put together from data."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in {"execute", "executemany"}:
                assert "/storage/" in str(path)
                formatted = isinstance(node.args[0], ast.JoinedStr)
                assert not formatted or "PRAGMA" in ast.unparse(node.args[0])
