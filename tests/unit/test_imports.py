"""Who may import whom: the dependency graph is the security argument."""

import ast
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for side in ("shared", "client", "aggregator") for path in (ROOT / side).rglob("*.py"))
TESTS = sorted(path for path in (ROOT / "tests").rglob("*.py") if "node_modules" not in path.parts)

SIDES = (
    # (package, packages of this project that it may import beside itself); the first that fits a module holds.
    ("sottovoce.shared", ()),
    ("sottovoce.client", ("sottovoce.shared",)),
    ("sottovoce.records", ("sottovoce.shared", "sottovoce.client")),
    ("sottovoce.aggregator.estimators", ("sottovoce.shared",)),
    ("sottovoce.aggregator.storage", ("sottovoce.shared",)),
    ("sottovoce.aggregator.curator.data", ("sottovoce.shared", "sottovoce.aggregator")),
    ("sottovoce.aggregator.curator", ("sottovoce.shared",)),
    ("sottovoce.aggregator.export.scripts", ()),
    ("sottovoce.aggregator", ("sottovoce.shared",)),
    ("sottovoce.curator", ("sottovoce.shared", "sottovoce.aggregator")),
    ("sottovoce.audit", ("sottovoce.shared", "sottovoce.client", "sottovoce.records", "sottovoce.aggregator")),
    ("sottovoce.demo", ("sottovoce.shared", "sottovoce.client", "sottovoce.aggregator")),
    # Commands of the plain install, which is the respondent's client.
    ("sottovoce.cli.device", ("sottovoce.shared", "sottovoce.client", "sottovoce.cli.command")),
    ("sottovoce.cli.respond", ("sottovoce.shared", "sottovoce.client", "sottovoce.cli.command")),
    ("sottovoce.cli.survey.page", ("sottovoce.shared", "sottovoce.client", "sottovoce.cli.command")),
    # Loaded for each command, and with every install.
    ("sottovoce.cli.group", ("sottovoce.shared",)),
    ("sottovoce.cli.tree", ("sottovoce.cli.group",)),
    ("sottovoce.cli.main", ("sottovoce.shared", *(f"sottovoce.cli.{each}" for each in ("group", "tree")))),
    ("sottovoce.cli", ("sottovoce",)),
)
ENDS = {
    # Nothing is built on these but what is named beside them.
    "sottovoce.cli": (),
    "sottovoce.demo": ("sottovoce.cli",),
    "sottovoce.audit": ("sottovoce.cli",),
    "sottovoce.curator": (),
    "sottovoce.client.terminal": ("sottovoce.cli",),
}
A = "sottovoce.aggregator"
LIBRARIES = {
    # Each library is imported where it is wrapped, and nowhere else.
    "authlib": (f"{A}.accounts.oidc",),
    "babel": (f"{A}.i18n",),
    "brotli": (f"{A}.http.headers", f"{A}.http.static_assets"),
    "click": ("sottovoce.cli", "sottovoce.client.terminal"),
    "flask": (f"{A}.accounts", f"{A}.api", f"{A}.app", f"{A}.http", f"{A}.studio"),
    "gmpy2": (f"{A}.invitations.rsa_blind_signer",),
    "h11": ("sottovoce.aggregator.intake",),
    "jinja2": (f"{A}.export.codebook", f"{A}.invitations.posters", f"{A}.privacy_account.page"),
    "joserfc": (f"{A}.accounts.oidc",),
    "msgspec": (f"{A}.export.offline", f"{A}.intake.admission", f"{A}.intake.decode"),
    "numpy": (f"{A}.analysis", f"{A}.curator", f"{A}.estimators", f"{A}.export", f"{A}.file_formats", f"{A}.planning",
              f"{A}.storage", "sottovoce.audit"),
    "playwright": ("sottovoce.audit.served",),
    "prometheus_client": (f"{A}.api",),
    "psycopg": (f"{A}.storage",),
    "psycopg_pool": (f"{A}.storage",),
    "python_calamine": (f"{A}.analysis.data_file.read_table", f"{A}.authoring.workbook"),
    "requests": (f"{A}.accounts.oidc", f"{A}.export.results_client.http_source", "sottovoce.audit",
                 "sottovoce.cli.process", "sottovoce.cli.question", "sottovoce.client.transport"),
    "rich": ("sottovoce.cli.audit", "sottovoce.cli.demo", "sottovoce.cli.plan_output",
             "sottovoce.cli.results.run_analysis", "sottovoce.cli.survey.simulate", "sottovoce.cli.command"),
    "segno": (f"{A}.invitations.qr_codes",),
    "sqlite_utils": (f"{A}.storage",),
    "webauthn": (f"{A}.accounts.passkeys",),
    "werkzeug": (f"{A}.http", f"{A}.studio", f"{A}.api", f"{A}.accounts"),
    "xlsxwriter": (f"{A}.export.workbook",),
    "yaml": (f"{A}.surveys.survey_file",),
}  # fmt: skip
FORBIDDEN = {"random", "numpy.random", "pickle", "marshal", "shelve"}
ONLY_IN = {
    "secrets": {
        "sottovoce.client.draws",
        "sottovoce.audit.randomness",
        f"{A}.accounts.authentication",
        f"{A}.accounts.passkeys",
        f"{A}.invitations.rsa_blind_signer",
        f"{A}.intake.request_limits",
        f"{A}.invitations.tokens",
        f"{A}.curator.draws",
    }
}

LAYERS = (
    ("clock", "estimators", "file_formats", "health", "i18n", "institution", "storage", "walls"),
    ("http", "settings", "surveys"),
    ("accounts", "analysis", "invitations"),
    ("curator", "intake"),
    ("api", "export", "planning"),
    ("authoring", "privacy_account"),
    ("studio",),
    ("app",),
)
"""Folders and single files of the aggregator, lowest of eight floors first; each imports from lines above its own."""

MOST_FILES = 30
CODE = {".py", ".js", ".mjs"}


@cache
def tree_of(source: str) -> ast.Module:
    """Return the syntax tree of a source, parsed once for all rules."""
    return ast.parse(source)


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in SOURCES}


@cache
def imported(source: str) -> set[str]:
    """Return the names that a source imports, as modules where they are modules."""
    return set(_imported(source))


def _imported(source: str) -> Iterator[str]:
    for node in ast.walk(tree_of(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else str(node.module)


@cache
def imports() -> dict[str, set[str]]:
    """Return what each module imports; read at the first use, since each process collects this file."""
    return {module: imported(path.read_text(encoding="utf-8")) for module, path in MODULES.items()}


def part_of(module: str) -> str:
    """Return the folder or single file of the aggregator that a module belongs to; "" for all others."""
    names = module.split(".")
    return names[2] if names[:2] == ["sottovoce", "aggregator"] and len(names) > 2 else ""


def upward(imports: Mapping[str, set[str]]) -> list[str]:
    """Imports within the aggregator that do not lead to a lower layer."""
    level = {part: number for number, layer in enumerate(LAYERS) for part in layer}
    return [
        f"{module} imports {name}"
        for module, names in imports.items()
        for name in sorted(names)
        if part_of(module) and part_of(name) and part_of(module) != part_of(name)
        if level[part_of(module)] <= level[part_of(name)]
    ]


def circle(imports: Mapping[str, set[str]]) -> list[str]:
    """Return the modules of one import circle, types included; empty if there is none."""
    graph = {module: names & imports.keys() - {module} for module, names in imports.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def between_folders(imports: Mapping[str, set[str]]) -> list[str]:
    """Pairs of folders that import each other, other than a folder and its own parent."""
    arrows = defaultdict(set)
    for module, names in imports.items():
        for name in names & MODULES.keys():
            arrows[MODULES[module].parent].add(MODULES[name].parent)
    # What stands directly in the aggregator's folder are single files, each in the table of layers.
    single = ROOT / "aggregator" / "sottovoce" / "aggregator"
    return [
        f"{one.relative_to(ROOT)} and {other.relative_to(ROOT)}"
        for one in sorted(arrows)
        for other in sorted(arrows[one])
        if one < other and one in arrows.get(other, ()) and one != other.parent and single not in (one, other)
    ]


def _is_in(module: str, package: str) -> bool:
    return (module + ".").startswith(package + ".")


def violations(module: str, source: str) -> list[str]:
    """Names that a module imports though no rule allows it."""
    return [name for name in imported(source) if not _is_allowed(module, name)]


def _is_allowed(module: str, name: str) -> bool:
    first = name.split(".", maxsplit=1)[0]
    if name in FORBIDDEN or module not in ONLY_IN.get(name, {module}):
        return False
    if first == "sottovoce":
        own, others = next(side for side in SIDES if _is_in(module, side[0]))
        guests = [guests for end, guests in ENDS.items() if _is_in(name, end) and not _is_in(module, end)]
        return any(_is_in(name, each) for each in (own, *others)) and all(
            any(_is_in(module, guest) for guest in each) for each in guests
        )
    return first in sys.stdlib_module_names or any(_is_in(module, each) for each in LIBRARIES.get(first, ()))


def test_every_module_imports_only_what_its_rules_allow() -> None:
    found = {module: violations(module, path.read_text(encoding="utf-8")) for module, path in MODULES.items()}

    assert {module: names for module, names in found.items() if names} == {}


def test_each_folder_imports_lower_layers_only() -> None:
    """The table names every part, and no arrow runs back up."""
    parts = {part_of(module) for module in MODULES} - {""}

    assert sorted(parts) == sorted(part for layer in LAYERS for part in layer)
    assert upward(imports()) == []


def test_no_circle_between_files_or_folders() -> None:
    """Imports for types count as well."""
    assert circle(imports()) == []
    assert between_folders(imports()) == []


def bound_types(source: str) -> Iterator[tuple[str, bool]]:
    """Names of classes, each with True, and of module-level aliases of types, such as ``Name = ...``, with False."""
    tree = tree_of(source)
    yield from ((node.name, True) for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(target, ast.Name) and target.id[:1].isupper() and not target.id.isupper():
            yield target.id, False


def test_no_class_name_stands_twice() -> None:
    """A name that is searched for leads to one place; aliases alone may have one name in several modules."""
    bound = [each for path in SOURCES for each in bound_types(path.read_text(encoding="utf-8"))]
    numbers, classes = Counter(name for name, _ in bound), [name for name, is_class in bound if is_class]

    assert sorted({name for name in classes if numbers[name] > 1}) == []
    assert list(bound_types("class Key: ...\nKeys = list[Key]\nMOST = 3\n")) == [("Key", True), ("Keys", False)]


def test_no_folder_holds_too_many_files() -> None:
    """A folder that can be read at a glance: at most 30 files of Python or JavaScript."""
    code = [p for side in ("shared", "client", "aggregator") for p in (ROOT / side).rglob("*") if p.suffix in CODE]
    folders = Counter(path.parent for path in code)

    assert [str(folder) for folder, number in folders.items() if number > MOST_FILES] == []


def test_rules_catch_what_they_forbid() -> None:
    storage = "sottovoce.aggregator.storage.sql_storage"

    assert upward({**imports(), storage: {"sottovoce.aggregator.surveys.lifecycle"}}) != []
    assert circle({**imports(), storage: {"sottovoce.aggregator.storage.sqlite.storage"}}) != []
    assert between_folders({**imports(), storage: {"sottovoce.aggregator.surveys.lifecycle"}}) != []

    assert [(module, source) for module, source in FORBIDDEN_EXAMPLES if violations(module, source) == []] == []


FORBIDDEN_EXAMPLES = [
    ("sottovoce.shared.spec", "import numpy"),
    ("sottovoce.shared.spec", "from sottovoce.client import draws"),
    ("sottovoce.client.ledger", "import requests"),
    ("sottovoce.client.ledger", "import random"),
    ("sottovoce.client.respondent", "import secrets"),
    ("sottovoce.client.respondent", "from sottovoce.aggregator import settings"),
    ("sottovoce.aggregator.estimators.support", "import flask"),
    ("sottovoce.aggregator.analysis.estimates", "import sqlite_utils"),
    ("sottovoce.aggregator.analysis.estimates", "from flask import current_app"),
    ("sottovoce.aggregator.intake.admission", "from flask import request"),
    ("sottovoce.aggregator.intake.asgi_gate", "import flask"),
    ("sottovoce.aggregator.health", "from flask import Response"),
    ("sottovoce.aggregator.surveys.lifecycle", "from flask import current_app"),
    ("sottovoce.aggregator.storage.verify_counts", "from sottovoce.aggregator.surveys.lifecycle import survey_of"),
    ("sottovoce.aggregator.storage.sqlite.storage", "from sottovoce.aggregator.collect import survey_rules"),
    ("sottovoce.aggregator.analysis.report_columns", "import sqlite_utils"),
    ("sottovoce.aggregator.joint.tables", "from flask import request"),
    ("sottovoce.aggregator.curator.count", "from flask import request"),
    ("sottovoce.aggregator.curator.count", "from sottovoce.aggregator.storage.sql_storage import Storage"),
    ("sottovoce.aggregator.curator.count", "import secrets"),
    ("sottovoce.aggregator.export.results_client.open_results", "import requests"),
    ("sottovoce.aggregator.export.results_client.plots", "import matplotlib"),
    ("sottovoce.aggregator.export.tables", "import duckdb"),
    ("sottovoce.aggregator.export.scripts.analysis", "from sottovoce.shared.spec import Survey"),
    ("sottovoce.aggregator.authoring.xlsform", "import python_calamine"),
    ("sottovoce.aggregator.authoring.invitation_texts", "from flask import request"),
    ("sottovoce.aggregator.app", "from sottovoce.client import page"),
    ("sottovoce.aggregator.app", "from sottovoce.cli import main"),
    ("sottovoce.client.respondent", "from sottovoce.client.terminal.screen import print_line"),
    ("sottovoce.client.terminal.interview", "import requests"),
    ("sottovoce.client.terminal.interview", "from sottovoce.aggregator.settings import Settings"),
    ("sottovoce.aggregator.privacy_account.text", "import click"),
    ("sottovoce.aggregator.privacy_account.text", "from sottovoce.client.words import catalogue"),
    ("sottovoce.audit.check", "import click"),
    ("sottovoce.audit.run", "from sottovoce.cli.process import aggregator"),
    ("sottovoce.audit.run", "from sottovoce.demo.run import demo_survey"),
    ("sottovoce.audit.exact_channel", "import playwright"),
    ("sottovoce.aggregator.planning.lint", "from sottovoce.audit.check import Check"),
    ("sottovoce.demo.run", "from sottovoce.cli.process import aggregator"),
    ("sottovoce.demo.run", "import rich"),
    ("sottovoce.client.respondent", "from sottovoce.demo.run import demo_answers"),
    ("sottovoce.cli.respond", "from sottovoce.cli.database import open_storage"),
    ("sottovoce.cli.device", "import rich"),
    ("sottovoce.cli.device", "from sottovoce.aggregator.settings import Settings"),
    ("sottovoce.cli.main", "import requests"),
]


def drawing(source: str) -> set[str]:
    """Names of functions that use ``secrets``, and all that imports it."""
    return {
        getattr(node, "name", ast.unparse(node))
        for node in tree_of(source).body
        for part in ast.walk(node)
        if "secrets" in {getattr(part, "id", ""), getattr(part, "module", ""), getattr(part, "name", "")}
    }


def test_secrets_of_staff_are_drawn_by_four_functions() -> None:
    """The rest of their file reads and compares keys, links and cookies, as when these had a file of their own."""
    source = MODULES[f"{A}.accounts.authentication"].read_text(encoding="utf-8")

    assert drawing(source) == {"import secrets", "new_key", "new_link", "new_cookie", "new_id"}
    assert drawing("from secrets import token_hex as made") == {"from secrets import token_hex as made"}
    assert drawing("def leave():\n    return [secrets.token_hex()]") == {"leave"}


def private_names_of_the_command_line(source: str) -> list[str]:
    """What a source imports from the command line though its name says that it is nobody else's."""
    # Parsing every test takes a second for each run of this one.
    imported = re.findall(r"^ *from sottovoce\.cli[\w.]* import (\([^)]*\)|.*)$", source, re.MULTILINE)
    return re.findall(r"\b_\w+", " ".join(imported))


def test_tests_use_no_private_name_of_the_command_line() -> None:
    """And one would be noticed."""
    named = {path: private_names_of_the_command_line(path.read_text(encoding="utf-8")) for path in TESTS}
    assert {path: names for path, names in named.items() if names} == {}

    assert private_names_of_the_command_line("from sottovoce.cli.demo import _free_port, demo") == ["_free_port"]
    assert private_names_of_the_command_line("from sottovoce.cli import (\n    a,\n    _b,\n)") == ["_b"]


def test_importing_the_aggregator_package_loads_nothing_of_it() -> None:
    """Importing an estimator must not load Flask; ``open_results`` comes when it is asked for, without it."""
    bare = "import sys, sottovoce.aggregator as a; rooms = [m for m in sys.modules if 'sottovoce.aggregator.' in m]"
    loaded = "a.open_results; assert 'flask' not in sys.modules; print(rooms, 'numpy' in dir(a))"
    code = f"{bare}; {loaded}"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ended.stdout == "[] False\n"


def test_a_node_loads_no_library_for_files_at_its_start() -> None:
    """Frames and workbooks are of those who ask for such a file: 40 MB and .4 s of each start else."""
    loaded = "import sys, sottovoce.cli.worker; print({'pandas', 'pyarrow', 'duckdb', 'xlsxwriter'} & {*sys.modules})"
    ended = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert ended.stdout == "set()\n"


def drawn_at_import(source: str) -> list[str]:
    """Random draws outside functions: two workers that are forked from one process would have the same."""
    found, waiting = [], [*tree_of(source).body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call) and re.match(r"(secrets|random|uuid)\.|os\.urandom|Draws\(", ast.unparse(node)):
            found.append(ast.unparse(node))
        if isinstance(node, ast.FunctionDef):
            waiting += [one for one in (*node.args.defaults, *node.args.kw_defaults, *node.decorator_list) if one]
        elif not isinstance(node, ast.Lambda | ast.AsyncFunctionDef):
            waiting += ast.iter_child_nodes(node)
    return found


def test_nothing_is_drawn_before_a_worker_is_forked() -> None:
    """Modules are loaded once for all workers, so that a key drawn by one of them would outlive its worker."""
    assert drawn_at_import("KEY = secrets.token_bytes(32)") == ["secrets.token_bytes(32)"]
    assert drawn_at_import("def key(draws=Draws(os.urandom)):\n    return secrets.token_bytes(32)") != []
    assert drawn_at_import("def key():\n    return secrets.token_bytes(32)") == []
    assert {path: found for path in SOURCES if (found := drawn_at_import(path.read_text(encoding="utf-8")))} == {}
