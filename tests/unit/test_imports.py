"""Who may import whom: the dependency graph is the security argument."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for folder in ("shared", "client", "aggregator") for path in (ROOT / folder).rglob("*.py"))
TESTS = sorted(path for path in (ROOT / "tests").rglob("*.py") if "node_modules" not in path.parts)

BOTH_SIDES = {"sottovoce.shared", "sottovoce.client", "sottovoce.aggregator"}

RULES = [
    # (package, what it may import beside the standard library and itself)
    ("sottovoce.shared", set()),
    ("sottovoce.client.transport", {"sottovoce.shared", "sottovoce.client", "requests"}),
    ("sottovoce.client.terminal", {"sottovoce.shared", "sottovoce.client", "click"}),
    ("sottovoce.client", {"sottovoce.shared"}),
    ("sottovoce.aggregator.estimators", {"sottovoce.shared", "numpy"}),
    ("sottovoce.aggregator.storage", {"sottovoce.shared", "sqlite_utils", "psycopg", "psycopg_pool", "numpy"}),
    ("sottovoce.aggregator.curator", {"sottovoce.shared", "numpy"}),
    ("sottovoce.aggregator.joint", {"sottovoce.shared", "sottovoce.aggregator", "numpy"}),
    ("sottovoce.aggregator.collect.admission", {"sottovoce.shared", "sottovoce.aggregator", "msgspec"}),
    ("sottovoce.aggregator.collect.decode", {"sottovoce.shared", "sottovoce.aggregator", "msgspec"}),
    ("sottovoce.aggregator.web.packed", {"brotli"}),
    ("sottovoce.aggregator.web.compression", {"brotli"}),
    ("sottovoce.aggregator.web.metrics", {"sottovoce.aggregator", "prometheus_client"}),
    ("sottovoce.aggregator.web.health_routes", {"sottovoce.shared", "sottovoce.aggregator", "prometheus_client"}),
    ("sottovoce.aggregator.web", {"sottovoce.shared", "sottovoce.aggregator", "werkzeug"}),
    ("sottovoce.aggregator.blind.signing_key", {"sottovoce.shared", "gmpy2"}),
    ("sottovoce.aggregator.blind", {"sottovoce.shared", "sottovoce.aggregator"}),
    ("sottovoce.aggregator.planning.survey_file", {"sottovoce.shared", "sottovoce.aggregator", "yaml"}),
    ("sottovoce.aggregator.planning.sample_size", {"sottovoce.shared", "sottovoce.aggregator"}),
    ("sottovoce.aggregator.planning.batch_randomizers", {"sottovoce.shared", "numpy"}),
    ("sottovoce.aggregator.planning", {"sottovoce.shared", "sottovoce.aggregator", "numpy"}),
    ("sottovoce.aggregator.files.scripts", set()),
    ("sottovoce.aggregator.files.workbook", {"sottovoce.shared", "sottovoce.aggregator", "xlsxwriter"}),
    ("sottovoce.aggregator.files.survey_files", {"sottovoce.shared", "sottovoce.aggregator", "yaml"}),
    ("sottovoce.aggregator.offline", {"sottovoce.shared", "sottovoce.aggregator", "numpy", "msgspec"}),
    ("sottovoce.aggregator.files", {"sottovoce.shared", "sottovoce.aggregator", "numpy"}),
    (
        "sottovoce.aggregator.access.oidc",
        {"sottovoce.shared", "sottovoce.aggregator", "authlib", "joserfc", "requests"},
    ),
    ("sottovoce.aggregator.access.passkeys", {"sottovoce.shared", "sottovoce.aggregator", "webauthn"}),
    ("sottovoce.aggregator.opened.address", {"sottovoce.shared", "sottovoce.aggregator", "numpy", "requests"}),
    ("sottovoce.aggregator.opened", {"sottovoce.shared", "sottovoce.aggregator", "numpy"}),
    ("sottovoce.aggregator.inviting.qr_codes", {"segno"}),
    ("sottovoce.aggregator.authoring.workbook", {"sottovoce.shared", "sottovoce.aggregator", "python_calamine"}),
    ("sottovoce.aggregator.authoring", {"sottovoce.shared", "sottovoce.aggregator"}),
    ("sottovoce.aggregator.studio.words", {"sottovoce.shared", "sottovoce.aggregator", "babel"}),
    ("sottovoce.aggregator", {"sottovoce.shared", "sottovoce.aggregator"}),
    ("sottovoce.audit.served.chromium", {"sottovoce.shared", "sottovoce.audit", "playwright"}),
    ("sottovoce.audit.served.served_page", {*BOTH_SIDES, "sottovoce.audit", "playwright", "requests"}),
    ("sottovoce.audit.watched_wire", {"sottovoce.audit", "requests"}),
    ("sottovoce.audit.watched_device", {*BOTH_SIDES, "sottovoce.audit", "requests"}),
    ("sottovoce.audit.served.browser_visit", {*BOTH_SIDES, "sottovoce.audit", "playwright"}),
    ("sottovoce.audit.pretended_aggregator", {*BOTH_SIDES, "sottovoce.audit", "requests"}),
    ("sottovoce.audit.served.browser_runs", {*BOTH_SIDES, "sottovoce.audit", "playwright"}),
    ("sottovoce.audit.curator.curator_checks", {*BOTH_SIDES, "sottovoce.audit", "numpy"}),
    ("sottovoce.audit", BOTH_SIDES),
    ("sottovoce.demo", BOTH_SIDES),
    # Verbs of the plain install, which is the respondent's client.
    ("sottovoce.cli.respond", {"sottovoce.shared", "sottovoce.client", "click"}),
    ("sottovoce.cli.ledger", {"sottovoce.shared", "sottovoce.client", "click"}),
    ("sottovoce.cli.page", {"sottovoce.shared", "sottovoce.client", "click"}),
    ("sottovoce.cli.main", {"sottovoce.shared", "click"}),
    ("sottovoce.cli", {"sottovoce", "click", "rich", "granian", "requests"}),
]
MAY_IMPORT_FLASK = re.compile(
    r"sottovoce\.aggregator\.(app|web(\..+)?|studio(\..+)?|.+\.routes|.+_routes|routes)"
).fullmatch
ENDS = {
    # (room: who may import it beside itself); nothing is built on these
    "sottovoce.cli": set(),
    "sottovoce.demo": {"sottovoce.cli"},
    "sottovoce.audit": {"sottovoce.cli"},
    "sottovoce.client.terminal": {"sottovoce.cli"},
}
FORBIDDEN = {"random", "numpy.random", "pickle", "marshal", "shelve"}
ONLY_IN = {
    "secrets": {
        "sottovoce.client.draws",
        "sottovoce.audit.randomness",
        "sottovoce.aggregator.access.keys",
        "sottovoce.aggregator.access.passkeys",
        "sottovoce.aggregator.blind.signing_key",
        "sottovoce.aggregator.collect.rate_limit",
        "sottovoce.aggregator.collect.tokens",
        "sottovoce.aggregator.curator.draws",
    }
}


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


def _is_in(module: str, package: str) -> bool:
    return (module + ".").startswith(package + ".")


def violations(module: str, source: str) -> list[str]:
    """The imports of a module that its rule does not allow."""
    package, allowed = next(rule for rule in RULES if _is_in(module, rule[0]))
    if MAY_IMPORT_FLASK(module):
        allowed = allowed | {"flask"}
    found = []
    for name in imports_of(source):
        inside = any(_is_in(name, prefix) for prefix in {package, *allowed})
        intruding = any(
            _is_in(name, room) and not any(_is_in(module, guest) for guest in {room, *guests})
            for room, guests in ENDS.items()
        )
        standard = name.split(".")[0] in sys.stdlib_module_names
        misplaced = name in ONLY_IN and module not in ONLY_IN[name]
        if name in FORBIDDEN or misplaced or intruding or not (inside or standard):
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
        ("sottovoce.aggregator.results.analysis", "from flask import current_app"),
        ("sottovoce.aggregator.collect.admission", "from flask import request"),
        ("sottovoce.aggregator.collect.server_gate", "import flask"),
        ("sottovoce.aggregator.health", "from flask import Response"),
        ("sottovoce.aggregator.surveys", "from flask import current_app"),
        ("sottovoce.aggregator.storage.verify_counts", "from sottovoce.aggregator.surveys import survey_of"),
        ("sottovoce.aggregator.storage.sqlite", "from sottovoce.aggregator.collect import survey_rules"),
        ("sottovoce.aggregator.joint.columns", "import sqlite_utils"),
        ("sottovoce.aggregator.joint.tables", "from flask import request"),
        ("sottovoce.aggregator.curator.count", "from flask import request"),
        ("sottovoce.aggregator.curator.count", "from sottovoce.aggregator.storage.base import Storage"),
        ("sottovoce.aggregator.curator.count", "import secrets"),
        ("sottovoce.aggregator.opened.results", "import requests"),
        ("sottovoce.aggregator.opened.figures", "import matplotlib"),
        ("sottovoce.aggregator.files.tables", "import duckdb"),
        ("sottovoce.aggregator.files.scripts.analysis", "from sottovoce.shared.spec import Survey"),
        ("sottovoce.aggregator.authoring.xlsform", "import python_calamine"),
        ("sottovoce.aggregator.authoring.letters", "from flask import request"),
        ("sottovoce.aggregator.app", "from sottovoce.client import page"),
        ("sottovoce.aggregator.app", "from sottovoce.cli import main"),
        ("sottovoce.client.respondent", "from sottovoce.client.terminal.screen import tell"),
        ("sottovoce.client.terminal.interview", "import requests"),
        ("sottovoce.client.terminal.interview", "from sottovoce.aggregator.settings import Settings"),
        ("sottovoce.aggregator.privacy_account.text", "import click"),
        ("sottovoce.aggregator.privacy_account.text", "from sottovoce.client.words import catalogue"),
        ("sottovoce.audit.check", "import click"),
        ("sottovoce.audit.run", "from sottovoce.cli.process import aggregator"),
        ("sottovoce.audit.run", "from sottovoce.demo.data import demo_survey"),
        ("sottovoce.audit.exact_channel", "import playwright"),
        ("sottovoce.aggregator.planning.lint", "from sottovoce.audit.check import Check"),
        ("sottovoce.demo.run", "from sottovoce.cli.process import aggregator"),
        ("sottovoce.demo.run", "import rich"),
        ("sottovoce.client.respondent", "from sottovoce.demo.data import demo_answers"),
        ("sottovoce.cli.respond", "from sottovoce.cli.database import open_storage"),
        ("sottovoce.cli.ledger", "import rich"),
        ("sottovoce.cli.page", "from sottovoce.aggregator.settings import Settings"),
        ("sottovoce.cli.main", "import requests"),
    ],
)
def test_rule_catches_a_forbidden_import(module: str, source: str) -> None:
    """The rules would catch these."""
    assert violations(module, source) != []


def private_names_of_the_command_line(source: str) -> list[str]:
    """What a source imports from the command line though its name says that it is nobody else's."""
    return [
        alias.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and _is_in(node.module or "", "sottovoce.cli")
        for alias in node.names
        if alias.name.startswith("_")
    ]


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_tests_use_no_private_name_of_the_command_line(path: Path) -> None:
    """What they need of it, such as starting a server, is public in ``process``."""
    assert private_names_of_the_command_line(path.read_text(encoding="utf-8")) == []


def test_private_name_of_the_command_line_would_be_noticed() -> None:
    """As they used to be imported."""
    assert private_names_of_the_command_line("from sottovoce.cli.demo import _free_port, demo") == ["_free_port"]


def test_importing_the_aggregator_package_loads_nothing_of_it() -> None:
    """Importing an estimator must not load Flask; ``open_results`` comes when it is asked for, without it."""
    bare = "import sys, sottovoce.aggregator as a; rooms = [m for m in sys.modules if 'sottovoce.aggregator.' in m]"
    loaded = "a.open_results; assert 'flask' not in sys.modules; print(rooms, 'numpy' in dir(a))"
    code = f"{bare}; {loaded}"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ended.stdout == "[] False\n"


def test_sql_is_written_in_storage_only() -> None:
    """No other folder of the aggregator executes SQL, and no statement is put together from data; Parquet apart, whose
    library takes the names of columns in no other way.
    """
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in {"execute", "executemany"}:
                assert "/storage/" in str(path)
                formatted = isinstance(node.args[0], ast.JoinedStr)
                assert not formatted or "PRAGMA" in ast.unparse(node.args[0])
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "sql":
                assert path.parts[-2:] in {
                    ("files", "tables.py"),
                    ("files", "reading_parquet.py"),
                    ("offline", "writing.py"),
                }
