"""Verbs: their help, where they find the database, and how they end."""

import re
import shlex
import socket
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from sottovoce.aggregator.settings import Settings
from sottovoce.cli.command import Command, command
from sottovoce.cli.database import open_storage
from sottovoce.cli.group import CommandGroup, line_of
from sottovoce.cli.main import main

from tests.commands import refused, run
from tests.journey.test_running_pages import command_of


def commands(group: CommandGroup, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name in group.list_commands(click.Context(group)):
        found = group.get_command(click.Context(group), name)
        assert found is not None
        yield (*path, name), found
        if isinstance(found, CommandGroup):
            yield from commands(found, (*path, name))


ALL = list(commands(main))


GROUPS = [((), main), *((words, found) for words, found in ALL if isinstance(found, CommandGroup))]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["respond", "https://a.example/nothing"], "Error: the link must look like"),
        (["survey", "list", "--data", "nowhere"], "Error: no database was found in nowhere/"),
        (["results", "export", "exam", "--data", "nowhere"], "Error: no database was found in nowhere/"),
    ],
)
def test_expected_error_is_told_and_ends_with_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    """No traceback; a program that calls a verb must not take a failure for a success."""
    monkeypatch.chdir(tmp_path)
    ended = refused(run(*words))
    assert ended.stderr.startswith(said)
    assert ended.stdout == ""


def test_survey_file_with_mistakes_is_told_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "survey.yaml").write_text("format: sottovoce-survey/1\nname: exam\nrevision: nought\n")
    ended = refused(run("lint", tmp_path / "survey.yaml"))
    assert any(line.startswith("revision, line 3: ") for line in ended.stderr.splitlines())
    assert "nought" not in ended.output


def test_no_folder_is_made_where_none_is_used(tmp_path: Path) -> None:
    """A node whose database lies elsewhere may write nowhere."""
    settings = Settings(data=tmp_path / "data", database=f"sqlite:///{tmp_path}/elsewhere.sqlite")
    open_storage(settings, create=True).close()

    assert not (tmp_path / "data").exists()


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


WRONG = [
    ("backup", '"sottovoce backup" is not a command. Did you mean "db backup"?'),
    ("surveys", '"sottovoce surveys" is not a command. Did you mean "survey"?'),
    ("survey lst", '"sottovoce survey lst" is not a command. Did you mean "list"?'),
    ("--verison", 'the option --verison does not exist. Did you mean "--version"?'),
    ("lint", "Missing argument 'PATH'. Run \"sottovoce lint --help\" to see how it is used."),
    ("lint exam.yml", 'the file "exam.yml" was not found. Did you mean "exam.yaml"?'),
    ("lint folder", 'the file "folder" cannot be read: it is a folder.'),
    ("lint empty.yaml", "empty.yaml: the file is empty."),
    ("lint bad.yaml", "bad.yaml: line 2, column 1: this is not valid YAML"),
    ("new exam.yaml", 'the file "exam.yaml" exists already; it was left as it is. To replace it, add --force.'),
    ("new no/exam.yaml", 'the file "no/exam.yaml" cannot be written: the folder "no" does not exist.'),
    ("new a.yaml --template exma", 'the template "exma" does not exist. Did you mean "exam"?'),
    ("plan exam.yaml --question cheeted --half-width 0.03", "cheated, reason, year. Did you mean"),
    ("plan -p 0.1 -p 0.2 --half-width 0.03", "option --prevalence is given 2 times, and takes one value."),
    ("plan -p 0.1 --half-width wide", "'wide' is not a valid number."),
    ("survey list --data nowhere", "no database was found in nowhere/. Name its folder with --data, or begin with"),
    ("survey list --data folder", "the database folder/sottovoce.sqlite is an empty file."),
    (
        "survey list --data text",
        "text/sottovoce.sqlite: the database is unavailable: its file is damaged, or no database; ",
    ),
    ("survey close exm --data open", 'survey "exm" was not found in open/. Did you mean "exam"? Run "sottovoce survey'),
    ("results export exm --data open", 'survey "exm" was not found in open/. Did you mean "exam"?'),
    ("results crosstab exam --data open --rows cheated --columns year", "the survey is open"),
    ("link create exam --count 3 --data open", '"exam" is open to all. Personal links need "access: token"'),
    ("staff disable maria --data open", 'account "maria" was not found. Run "sottovoce staff list"'),
    ("link revoke exam text/binary --data open", 'the file "text/binary" holds no text in UTF-8.'),
    ("db restore none.sqlite --data new", 'the file "none.sqlite" was not found.'),
    ("results estimate nowhere", 'there is no such folder: "nowhere".'),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wrong")
    for name, content in {"empty.yaml": "", "bad.yaml": "name: [exam\n"}.items():
        (folder / name).write_text(content)
    for name, content in {"folder": "", "text": "this is a text\n" * 99}.items():
        (folder / name).mkdir()
        (folder / name / "sottovoce.sqlite").write_text(content)
    (folder / "text" / "binary").write_bytes(b"\xff")
    for words in (
        ["new", f"{folder}/exam.yaml"],
        ["survey", "publish", f"{folder}/exam.yaml", "--data", f"{folder}/open"],
    ):
        assert run(*words).exit_code == 0
    return folder


@pytest.mark.parametrize(("words", "said"), WRONG, ids=[words for words, _ in WRONG])
def test_wrong_use_is_answered_in_one_form(place: Path, monkeypatch: pytest.MonkeyPatch, words: str, said: str) -> None:
    monkeypatch.chdir(place)
    ended = run(*words.split())

    assert isinstance(ended.exception, SystemExit)
    assert ended.exit_code in {1, 2}
    assert ended.stderr.splitlines()[-1].startswith("Error: ")
    assert said in ended.stderr
    assert ended.stdout == ""


def test_port_in_use_is_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ended = run("serve", "--data", "unmade", "--port", port)

    assert ended.stderr.startswith(f"Error: 127.0.0.1:{port}: another program uses this port.")
    assert not Path("unmade").exists()


@pytest.mark.parametrize("number", ["ln3", "ln 3", "1,098612288668110", "1.09861228866811", "109861228866811e-14"])
def test_numbers_are_read_as_people_write_them(number: str) -> None:
    for words in ([number], number.split()):
        ended = run("plan", "-p", ".1", "--half-width", "0,03", "--epsilon", *words)
        assert ended.stdout.startswith("3,586 reports, epsilon 1.10"), ended.stderr
