"""``question``: one private question for a page of another survey system, its file and the address of its frame."""

import json
import math
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

import click
from sottovoce.aggregator.authoring.question_snippets import HOSTS, ethics_text, has_columns, snippet
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.cli.command import command
from sottovoce.cli.output import write_for_web
from sottovoce.client.question_page import question_files
from sottovoce.client.words import odds_in_words
from sottovoce.shared.accounting import belief_after
from sottovoce.shared.errors import SpecError
from sottovoce.shared.file_errors import cannot_read
from sottovoce.shared.single_question import SingleBlock, SingleQuestion, is_frame_address, parse_asked, parse_question

Asked = TypeVar("Asked", SingleQuestion, SingleQuestion | SingleBlock)

_FILE = click.argument("path", metavar="FILE", type=click.Path(path_type=Path))


def read_question(path: Path) -> SingleQuestion:
    """Return the question in a file.

    Raises:
        SpecError: it is no question; the message names the file, the key and what to change.
        ClickException: the file cannot be read.
    """
    return _read(path, parse_question)


def read_asked(path: Path) -> SingleQuestion | SingleBlock:
    """Return the question or block in a file; it raises what ``read_question`` does."""
    return _read(path, parse_asked)


def _read(path: Path, parse: Callable[[object], Asked]) -> Asked:
    try:
        return parse(parse_yaml(path.read_bytes()))
    except OSError as error:
        raise click.ClickException(cannot_read(path, error)) from None
    except SpecError as error:
        error.file = path.name
        raise


def check_frame_address(address: str | None, option: str) -> str:
    """Return the address of a frame's folder; raise a ``UsageError`` that names the option if it is none."""
    if address and is_frame_address(address):
        return address
    raise click.UsageError(f"{option} is the question's address, such as https://q.example.org/q/1/")


@command(example="sottovoce question lint cheated.yaml")
@_FILE
@click.option("--json", "as_json", is_flag=True, help="Print the canonical question, as pages take it.")
def lint(path: Path, as_json: bool) -> None:
    """Check the question or block in FILE, written as in the list of a survey file, and show what an answer costs."""
    asked = read_asked(path)
    if as_json:
        click.echo(json.dumps(asked.document, ensure_ascii=False, indent=2))
        return
    for question in asked.questions:
        click.echo(f"{question.name}: {odds_in_words(question)}")
    click.echo(f"Channel: {asked.channel}")
    click.echo(f"Digest: {asked.digest}")


@command("snippet", example="sottovoce question snippet cheated.yaml --at https://q.example.org/q/1/")
@_FILE
@click.option("--host", type=click.Choice(list(HOSTS)), default="html", help="System whose page asks the question.")
@click.option("--at", help="Address of the question: https, ending in /, on another host name than the survey.")
@click.option("--frame", hidden=True, help="The former name of --at.")
@click.option("--ethics", is_flag=True, help="Print a paragraph for an ethics board instead.")
def print_snippet(path: Path, host: str, at: str | None, frame: str | None, ethics: bool) -> None:
    """Print the lines that ask the question or block in FILE in another system."""
    asked = read_asked(path)
    if ethics:
        belief = math.ceil(100 * belief_after(0.1, asked.epsilon) - 1e-9)
        odds = dict.fromkeys(odds_in_words(question).rpartition(" Epsilon ")[0] for question in asked.questions)
        click.echo(ethics_text(asked, " ".join(odds), belief), nl=False)
        return
    if not has_columns(host, asked):
        raise click.UsageError("LimeSurvey has no place for the columns of a block: ask each question alone")
    click.echo(snippet(host, check_frame_address(at or frame, "--at"), asked), nl=False)


@command(example="sottovoce question static frame")
@click.argument("folder", type=click.Path(path_type=Path))
def static(folder: Path) -> None:
    """Write page, element and adapters into the new FOLDER, for a static host; ``npm pack FOLDER`` makes the package.

    The host must have a host name of its own, where no other page runs scripts. Let it send
    ``Content-Security-Policy: sandbox allow-scripts allow-same-origin allow-modals``, ``Origin-Agent-Cluster: ?1`` and
    ``Cross-Origin-Opener-Policy: unsafe-none`` with index.html and block.html, and ``Access-Control-Allow-Origin: *``
    with element.js and frame.js.
    """
    write_for_web(folder, question_files())
    click.echo(f"Sottovoce {version('sottovoce')}: put {folder} on a host name of its own.", err=True)
