"""``question``: one private question for a page of another survey system."""

import hashlib
import json
import math
from importlib.metadata import version
from pathlib import Path

import click
from sottovoce.aggregator.authoring.question_snippets import HOSTS, ethics_text, has_columns, snippet
from sottovoce.cli.command import command
from sottovoce.cli.question_file import check_frame_address, read_asked
from sottovoce.client.question_page import question_files
from sottovoce.client.words import odds_in_words
from sottovoce.shared.accounting import belief_after
from sottovoce.shared.file_errors import cannot_write

_FILE = click.argument("path", metavar="FILE", type=click.Path(path_type=Path))


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


@command("snippet", example="sottovoce question snippet cheated.yaml --frame https://q.example.org/q/1/")
@_FILE
@click.option("--host", type=click.Choice(list(HOSTS)), default="html", help="System whose page asks the question.")
@click.option("--frame", help="Address of the frame: https, ending in /, on another host name than the survey.")
@click.option("--ethics", is_flag=True, help="Print a paragraph for an ethics board instead.")
def print_snippet(path: Path, host: str, frame: str | None, ethics: bool) -> None:
    """Print the lines that ask the question or block in FILE in another system."""
    asked = read_asked(path)
    if ethics:
        belief = math.ceil(100 * belief_after(0.1, asked.epsilon) - 1e-9)
        odds = dict.fromkeys(odds_in_words(question).rpartition(" Epsilon ")[0] for question in asked.questions)
        click.echo(ethics_text(asked, " ".join(odds), belief), nl=False)
        return
    if not has_columns(host, asked):
        raise click.UsageError("LimeSurvey has no place for the columns of a block: ask each question alone")
    click.echo(snippet(host, check_frame_address(frame, "--frame"), asked), nl=False)


@command(example="sottovoce question static frame")
@click.argument("folder", type=click.Path(path_type=Path))
def static(folder: Path) -> None:
    """Write frame, element and adapters into the new FOLDER, for a static host; ``npm pack FOLDER`` makes the package.

    The host must have a host name of its own, where no other page runs scripts. Let it send
    ``Content-Security-Policy: sandbox allow-scripts allow-same-origin`` with index.html and block.html, and
    ``Access-Control-Allow-Origin: *`` with element.js.
    """
    try:
        folder.mkdir(parents=True)
        for name, body in question_files().items():
            (folder / name).write_bytes(body)
            click.echo(f"{hashlib.sha256(body).hexdigest()}  {folder / name}")
    except OSError as error:
        raise click.ClickException(cannot_write(folder, error).replace("the file", "the folder", 1)) from None
    click.echo(f"Sottovoce {version('sottovoce')}: put {folder} on a host name of its own.", err=True)
