"""A module of the command line holds commands and calls; whatever else it would need has a room of its own."""

import ast
from collections.abc import Collection
from pathlib import Path

import pytest
import sottovoce.cli

from tests.unit.test_size import length

FOLDER = Path(sottovoce.cli.__file__).parent
TABLE = "tree"
"""The table of all commands, as long as there are commands."""

NO_VERBS = {
    "__init__": "says what the folder is",
    "__main__": "is python -m sottovoce.cli",
    "main": "the program, and the form of its errors",
    "command": "the class of commands, and of their numbers",
    "group": "the class of groups",
    "results/run_analysis": "what the verbs of joint results share: SURVEY, --from, --url, --data, data files, answers",
    "curator_request": "FILE, --declaration, --epsilon, --json and --yes of a curator's commands",
    "database": "the option --data, and what follows from it, such as a survey that is named",
    "process": "an aggregator as a process: for the demonstration, for tests and healthcheck",
    "plan_output": "what plan prints",
    "results/place": "folders of reports that are named, on a disk or in a bucket",
    "results/release": "what export and crosstab do with --release-epsilon",
    "server": "the process that looks after the worker, and signals that come while it starts",
    "worker": "what the process that serves is made of, the one place that joins both sides",
}
SHARED = {
    # By audit, by results and by the tests of hosts.
    "question": ("read_question", "read_any", "check_frame_address", "warnings_at"),
    "serve": ("notes",),  # by the tests of settings
    "publish": ("print_links",),  # by publish and trial
    "staff": ("let_first_researcher_in",),  # by serve, on a fresh database
}
"""Public functions beside commands, which other modules call; each is as short as a command."""
VERBS = sorted(
    path
    for path in FOLDER.rglob("*.py")
    if path.stem != "__init__" and path.relative_to(FOLDER).with_suffix("").as_posix() not in {*NO_VERBS, TABLE}
)

MOST_LINES = 400
COMMAND_LINES = 30
GLUE_LINES = 15

VERB = """
import click

MOST = 3

@command(example="verb")
@click.option("--n")
def verb(n: int) -> None:
    \"\"\"Do it.\"\"\"
    _show(n)

def _show(n: int) -> None:
    click.echo(n)
"""


def out_of_place(source: str, shared: Collection[str] = ()) -> list[str]:
    """What of a module is neither a command, nor a little glue between a command and what it calls, nor a constant."""
    found = [] if source.count("\n") <= MOST_LINES else [f"more than {MOST_LINES} lines"]
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            is_public = _is_command(node) or node.name in shared
            if length(node) > (COMMAND_LINES if is_public else GLUE_LINES) or is_public == node.name.startswith("_"):
                found.append(node.name)
        elif not isinstance(node, ast.Import | ast.ImportFrom | ast.Assign | ast.Expr):
            found.append(ast.unparse(node).split("\n")[0])
    return found


def _is_command(node: ast.FunctionDef) -> bool:
    called = [each.func for each in node.decorator_list if isinstance(each, ast.Call)]
    return any(isinstance(each, ast.Name) and each.id == "command" for each in called)


def test_modules_of_verbs_hold_commands_and_calls() -> None:
    """No class, no public function but those that are named, nothing long."""
    found = {path.stem: out_of_place(path.read_text(encoding="utf-8"), SHARED.get(path.stem, ())) for path in VERBS}
    assert {name: nodes for name, nodes in found.items() if nodes} == {}


def test_what_verbs_share_is_short_too() -> None:
    """The closed list of what is no verb; each exists and is at most as long."""
    lengths = {name: (FOLDER / f"{name}.py").read_text(encoding="utf-8").count("\n") for name in NO_VERBS}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


@pytest.mark.parametrize(
    "more",
    [
        "def estimate(n: int) -> int:\n    return n\n",
        "def _long(n: int) -> None:\n" + "    print(n)\n" * 16,
        "@command(example='')\ndef another() -> None:\n" + "    print(1)\n" * 31,
        "class Row:\n    n = 1\n",
        "if MOST:\n    MOST = 4\n",
        "async def _waiting() -> None:\n    pass\n",
        "#\n" * MOST_LINES,
    ],
)
def test_rule_catches_what_is_out_of_place(more: str) -> None:
    """Each of these would be noticed, and the module without it is as it should be."""
    assert out_of_place(VERB) == []
    assert len(out_of_place(VERB + more)) == 1
