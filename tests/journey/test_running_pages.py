"""The pages of ``docs/running/``: a class is run by its page, and the others name only what there is."""

import re
import shlex
import subprocess
from itertools import chain
from pathlib import Path

import click
import pytest
from sottovoce.cli.main import main
from sottovoce.client import MemoryLedger, Respondent

from tests.journey.test_own_survey import invoke, serving
from tests.unit.test_deploy import directives, read_block

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "running").glob("*.md"))
NAMED = re.compile(r"(?<![\w/-])(?:deploy|docs)/[\w./-]*[\w]")
MADE = {
    "deploy/env",
    "deploy/secrets",
    "deploy/secrets/database_password",
    "deploy/secrets/database_url",
    "deploy/backups",
}
"""What an administrator makes, and what is never in the repository."""


def commands(page: Path) -> list[str]:
    """The indented lines, those that go on joined."""
    text = page.read_text(encoding="utf-8").replace("\\\n", "")
    return [line.strip() for line in text.splitlines() if line.startswith("    ")]


def verbs(line: str) -> list[list[str]]:
    found = re.findall(r"(?:bin/|^|-- |\| )sottovoce ([^|'<]+)|run --rm (?:-v \S+ )?one ([^|'<]+)", line)
    return [shlex.split(outside or inside) for outside, inside in found]


ALL = [(page.name, words) for page in PAGES for line in commands(page) for words in verbs(line)]


def command_of(words: list[str]) -> tuple[click.Command, list[str]]:
    """The verb, or the verb's own verb, and what is left of the words."""
    command: click.Command = main
    context = click.Context(main)
    while isinstance(command, click.Group):
        name, *words = words
        found = command.get_command(context, name)
        assert found is not None, name
        command = found
    return command, words


@pytest.mark.parametrize(("page", "words"), ALL, ids=lambda each: each if isinstance(each, str) else " ".join(each))
def test_every_command_has_the_options_that_a_page_names(page: str, words: list[str]) -> None:
    """Its parser takes the line; what is not there is files only."""
    del page
    command, rest = command_of(words)
    options = {option for parameter in command.params for option in parameter.opts}

    assert {word for word in rest if word.startswith("-") and word != "-"} <= options
    given = [word for word in rest if not word.startswith("-")]
    assert len(given) >= sum(isinstance(each, click.Argument) and each.required for each in command.params)


def test_pages_name_only_files_that_are_there() -> None:
    """But for those that an administrator makes by the same page."""
    named = set(chain.from_iterable(NAMED.findall("\n".join(commands(page))) for page in PAGES))

    assert len(named) > 8
    assert {name for name in named if not (ROOT / name).exists()} <= MADE


def test_proxy_of_one_machine_is_made_of_the_sample(tmp_path: Path) -> None:
    (line,) = [line for line in commands(ROOT / "docs" / "running" / "university.md") if line.startswith("sed ")]
    out = tmp_path / "nginx.conf"
    subprocess.run(["sh", "-c", line.replace("/etc/nginx/nginx.conf", str(out))], cwd=ROOT, check=True)
    words = [line for line in out.read_text().splitlines() if not line.lstrip().startswith("#")]
    block = read_block(iter(re.findall(r'"[^"]*"|[{};](?=\s|$)|[^\s;{}]+', "\n".join(words))))

    # Once for all pages, and once for those that stay with a node.
    assert [words for words in directives(block, "server") if words] == [["127.0.0.1:8000"]] * 2
    assert directives(block, "ssl_certificate") == [["/etc/nginx/secrets/certificate"]]
    assert directives(block, "server_name") == [["_"], ["YOUR.NAME"]]
    assert (directives(block, "access_log"), directives(block, "error_log")) == ([["off"]], [["/dev/null", "emerg"]])


def test_a_class_is_run_by_its_page(tmp_path: Path) -> None:
    lines = [line for line in commands(ROOT / "docs" / "running" / "class.md") if line.startswith("sottovoce ")]
    place = next(number for number, line in enumerate(lines) if line.startswith("sottovoce serve"))
    for line in lines[:place]:
        assert invoke(tmp_path, *line.split()[1:]).returncode == 0, line
    shown = lines[place].removesuffix(" --token-file token").split()[2:]
    with serving(tmp_path, *shown) as (printed, link, _):
        assert "The first account's key: in " in printed
        Respondent.connect(link, MemoryLedger()).answer({"cheated": "yes", "reason": "time", "year": "first"})
    for line in lines[place + 1 :]:
        done = invoke(tmp_path, *line.split()[1:])
        assert done.returncode == 0, (line, done.stderr)

    assert "cheated" in (tmp_path / "estimates.csv").read_text()
    assert (tmp_path / "class.sqlite").stat().st_mode & 0o777 == 0o600
