"""Every block of code in the pages is read as what it says it is; ``test_documentation`` runs what can be run."""

import ast
import re
import shutil
import subprocess
import textwrap
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.shared.errors import SpecError

from tests.journey.test_running_pages import command_of
from tests.unit.test_documentation import BLOCK, PAGES, ROOT

LANGUAGES = {"csv", "html", "http", "js", "py", "python", "sh", "text", "yaml"}
PARTS_OF_FILES = {"adding_a_mechanism.md", "adding_a_question_type.md"}
"""Pages that show lines of our own files; ``test_completeness`` holds them against the files."""
INDENTED = re.compile(r"(?:^    [^\n]*\n)+", re.MULTILINE)
MAPPING = re.compile(r"[\w-]+:(?: |$)[^\n]*\n")
WORDS_THAT_END = re.compile(r"[|&;<>#]")


def found_in(page: str, language: str) -> Iterator[str]:
    """The blocks of a page in a language; an indented one is YAML or a command by its first line."""
    yield from (textwrap.dedent(text) for name, text in BLOCK.findall(page) if name == language)
    for block in map(textwrap.dedent, INDENTED.findall(re.sub(r"```.*?```", "", page, flags=re.DOTALL))):
        if (language == "yaml" and MAPPING.match(block)) or (language == "sh" and block.startswith("sottovoce ")):
            yield block


def pages(language: str) -> list[tuple[str, str]]:
    """Every block of every page in a language, with the page's name."""
    every = [*PAGES, ROOT / "README.md"]
    return [(page.name, text) for page in every for text in found_in(page.read_text(encoding="utf-8"), language)]


def scripts() -> list[tuple[str, str]]:
    """Every script that is a whole one: of its own, or within HTML."""
    within = [
        (name, script)
        for name, text in pages("html")
        for script in re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL)
    ]
    return [(name, text) for name, text in pages("js") if name not in PARTS_OF_FILES] + within


def test_every_block_names_a_language_that_is_read() -> None:
    """No block is left out because it says nothing, or something new."""
    for page in [*PAGES, ROOT / "README.md"]:
        fences = re.findall(r"^ *```(.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert len(fences) % 2 == 0, page.name
        assert set(fences[::2]) <= LANGUAGES, page.name
        assert set(fences[1::2]) <= {""}, page.name


def test_yaml_of_every_page_is_read_by_the_program() -> None:
    """By the reader that a survey's author meets, in fenced blocks and in indented ones."""
    blocks = pages("yaml")
    assert len(blocks) > 90
    for name, text in blocks:
        try:
            parse_yaml(text.encode())
        except SpecError as error:
            pytest.fail(f"{name}: {error}\n{text}")


@pytest.mark.parametrize("page", ["```yaml\n{}```\n", "Write:\n\n    type: boolean\n    {}\nNext.\n"])
def test_label_without_quotes_would_be_noticed(page: str) -> None:
    """A question mark within braces, as a page once had it."""
    [block] = found_in(page.format("label: {en: Have you ever cheated in an exam?}\n"), "yaml")
    with pytest.raises(SpecError, match="not valid YAML"):
        parse_yaml(block.encode())


def test_scripts_of_every_page_are_read_by_node(tmp_path: Path) -> None:
    whole = scripts()
    assert len(whole) >= 6
    paths = [tmp_path / f"{place}_{name}.mjs" for place, (name, _) in enumerate(whole)]
    for path, (_, text) in zip(paths, whole, strict=True):
        path.write_text(text, encoding="utf-8")
    for path in paths:
        subprocess.run([shutil.which("node") or "node", "--check", path], check=True)


def test_parts_of_python_are_read() -> None:
    """A part of another program's file needs no more than to be Python."""
    parts = pages("py")
    assert parts
    for _, text in parts:
        ast.parse(text)


def test_commands_of_every_page_are_read_by_the_shell() -> None:
    blocks = pages("sh")
    assert len(blocks) > 60
    every = "\n".join(text.replace("\\\n", "") for _, text in blocks)
    read = subprocess.run(["bash", "-n"], input=every, text=True, capture_output=True, check=False)
    assert (read.returncode, read.stderr) == (0, "")
    for line in (line.strip() for line in every.splitlines() if line.strip().startswith("sottovoce ")):
        command, rest = command_of(WORDS_THAT_END.split(line)[0].split()[1:])
        options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert {word.partition("=")[0] for word in rest if word.startswith("--")} <= options, line
        assert not isinstance(command, click.Group), line


def test_headers_that_a_page_shows_are_those_of_a_static_host() -> None:
    told = " ".join((ROOT / "aggregator/sottovoce/cli/question.py").read_text(encoding="utf-8").split())
    lines = [line for _, text in pages("http") for line in text.splitlines()]
    assert len(lines) == 3
    for line in lines:
        assert line in told
