"""Help: every command has a whole line in its list and an example that its own parser takes."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from sottovoce.cli.command import Command, command
from sottovoce.cli.group import CommandGroup, line_of
from sottovoce.cli.main import main

from tests.journey.test_running_pages import command_of


def commands(group: CommandGroup, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every group and command by its words."""
    for name in group.list_commands(click.Context(group)):
        found = group.get_command(click.Context(group), name)
        assert found is not None
        yield (*path, name), found
        if isinstance(found, CommandGroup):
            yield from commands(found, (*path, name))


ALL = list(commands(main))


GROUPS = [((), main), *((words, found) for words, found in ALL if isinstance(found, CommandGroup))]


@pytest.mark.parametrize(("words", "group"), GROUPS, ids=lambda each: " ".join(each) if isinstance(each, tuple) else "")
def test_list_of_a_group_cuts_off_no_line(words: tuple[str, ...], group: CommandGroup) -> None:
    """On a terminal of 80 columns; a group without a command shows it."""
    ended = CliRunner().invoke(main, words, terminal_width=80)
    shown = group.list_commands(click.Context(group))

    assert all(f"  {line_of(group.places[name])}\n" in ended.output for name in shown)


@pytest.mark.parametrize("words", [words for words, found in ALL if isinstance(found, Command)])
def test_example_of_a_command_is_taken_by_its_parser(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line of it calls this command with arguments, options and values that it has."""
    monkeypatch.chdir(tmp_path)
    for opened in ("links.csv", "address"):
        Path(opened).touch()
    tested, _ = command_of(list(words))
    assert isinstance(tested, Command)
    assert tested.example
    for line in tested.example.splitlines():
        found, rest = command_of(shlex.split(line)[1:])
        assert found is tested
        found.make_context(found.name, rest).close()
        assert len(line) < 78


def test_default_that_the_help_does_not_name_is_shown() -> None:
    """Once for each option; none of an option that has none, or leaves it out on purpose."""

    @command(example="sottovoce try")
    @click.option("--k", default=5, help="People in a group.")
    @click.option("--wave", default=0, help="Of the survey.")
    @click.option("--word", default="*", help="Names. [default: every one]")
    @click.option("--host", default="html", show_default=False, help="System.")
    @click.option("--out", help="File.")
    @click.option("--yes", is_flag=True, help="Do not ask.")
    def tried(**_: object) -> None:
        """Try it."""

    shown = CliRunner().invoke(tried, ["--help"]).output
    assert re.findall(r"\[default: (.+?)\]", shown) == ["5", "0", "every one"]
