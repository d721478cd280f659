"""``question``: one private question for a page of another survey system."""

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar
from urllib.parse import urljoin

import click
import requests
from sottovoce.aggregator.authoring.question_snippets import HOSTS, ethics_text, has_columns, snippet
from sottovoce.aggregator.surveys.survey_file import FOLDER, parse_yaml, write_published
from sottovoce.cli.command import PATH, command, write_for_web, writing
from sottovoce.cli.database import data_option, data_settings, make_folder, served_settings
from sottovoce.cli.process import SECONDS
from sottovoce.client.question_page import PLACE, block_page, link_page, question_files, question_page, question_scripts
from sottovoce.client.words import odds_in_words
from sottovoce.shared.accounting import belief_after
from sottovoce.shared.by_link.link_question import LinkQuestion, is_link, parse_link, published_page
from sottovoce.shared.errors import SpecError, cannot_read
from sottovoce.shared.release import release
from sottovoce.shared.single_question import SingleBlock, SingleQuestion, is_frame_address, parse_asked

_SCRIPTS = re.compile(r"script-src ([^;\"]*)")

Asked = TypeVar("Asked", bound=SingleQuestion | SingleBlock | LinkQuestion)

_FILE = click.argument("path", metavar="FILE", type=PATH)

_NO_CONSENT = "Without `consent` people answer here before they consent: give its text, or its address"


def read_any(path: Path) -> SingleQuestion | SingleBlock | LinkQuestion:
    """Return what is in a file, whether it leads on or not; it raises what ``read_question`` does."""
    return read_question(path, lambda document: parse_link(document) if is_link(document) else parse_asked(document))


def read_question(path: Path, parse: Callable[[object], Asked]) -> Asked:
    """Return what ``parse`` makes of a file.

    Raises:
        SpecError: it is none; the message names the file, the key and what to change.
        ClickException: the file cannot be read.
    """
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


def warnings_at(address: str) -> Iterator[str]:
    """Yield what is missing at the address of a question's page or folder; a ClickException if nothing answers."""
    try:
        with requests.Session() as session:
            page = session.get(address, timeout=SECONDS)
            front = session.get(urljoin(address, "/"), timeout=SECONDS)
    except requests.RequestException:
        raise click.ClickException(f"{address} does not answer: is it the https address of the question?") from None
    if page.status_code != requests.codes.ok:
        yield f"{address} answers {page.status_code}, and not with the page of a question"
    if page.headers.get("Origin-Agent-Cluster") != "?1":
        yield "the header Origin-Agent-Cluster: ?1 is missing: pages of the same site may feel what this one computes"
    allowed = _SCRIPTS.findall(page.headers.get("Content-Security-Policy", "")) or _SCRIPTS.findall(page.text)
    ours = {_SCRIPTS.findall(file.policy)[0] for file in (question_page(), block_page(), link_page())}
    if allowed[:1] == [] or allowed[0] not in ours:
        yield "no policy allows the scripts of this release and no others"
    if front.ok and front.text.strip() != page.text.strip():
        yield f"{urljoin(address, '/')} is another page: give the question a host name that serves nothing else"


@command(example="sottovoce question lint cheated.yaml")
@_FILE
@click.option("--json", "as_json", is_flag=True, help="Print the canonical question, as pages take it.")
@click.option("--at", "address", help="Address of its page or folder: say what the host lets other pages do.")
def lint(path: Path, as_json: bool, address: str | None) -> None:
    """Check the question or block in FILE, written as in the list of a survey file, and show what an answer costs."""
    found = read_any(path)
    if as_json:
        click.echo(json.dumps(found.document, ensure_ascii=False, indent=2))
        return
    for asked in found.asked:
        for question in asked.questions:
            click.echo(f"{question.name}: {odds_in_words(question)}")
        click.echo(f"Channel: {asked.channel}")
    if isinstance(found, LinkQuestion):
        click.echo(f"Leads on to: {found.then}")
        if "consent" not in found.document:
            click.echo(_NO_CONSENT, err=True)
    click.echo(f"Digest: {found.digest}")
    if address:
        seen = [*warnings_at(address)]
        click.echo(
            "\n".join(f"Warning: {words}" for words in seen) or f"{address}: nothing is missing.", err=bool(seen)
        )


@command("snippet", example="sottovoce question snippet cheated.yaml --at https://q.example.org/q/1/")
@_FILE
@click.option("--host", type=click.Choice([*HOSTS]), help="System whose page asks the question.")
@click.option("--at", help="Address of the question: https, ending in /, on another host name than the survey.")
@click.option("--frame", hidden=True, help="The former name of --at.")
@click.option("--ethics", is_flag=True, help="Print a paragraph for an ethics board instead.")
@click.option(
    "--visits", type=click.IntRange(1, 100), help="Draws of a person that it counts, where a host knows visits."
)
def print_snippet(
    path: Path, host: str | None, at: str | None, frame: str | None, ethics: bool, visits: int | None
) -> None:
    """Print the lines that ask the question or block in FILE in another system."""
    asked, host, visits = read_any(path), host or "html", visits or 1
    if ethics:
        belief = math.ceil(100 * belief_after(0.1, visits * asked.epsilon) - 1e-9)
        odds = dict.fromkeys(odds_in_words(question).rpartition(" Epsilon ")[0] for question in asked.questions)
        click.echo(ethics_text(asked, " ".join(odds), belief, visits), nl=False)
        return
    if isinstance(asked, LinkQuestion):
        raise click.UsageError(
            "a question with `then` has a page of its own and no lines: write it with question static"
        )
    if not has_columns(host, asked):
        raise click.UsageError("LimeSurvey has no place for the columns of a block: ask each question alone")
    script = question_scripts()["element.js"].encode()
    click.echo(snippet(host, check_frame_address(at or frame, "--at"), asked, script), nl=False)


@command(
    example="sottovoce question static frame\nsottovoce question static links cheated.yaml --institution 'A University'"
)
@click.argument("folder", type=PATH)
@click.argument("paths", metavar="[FILE]...", nargs=-1, type=PATH)
@click.option("--institution", default="", help="Name of who publishes the questions of FILE, which their pages show.")
def static(folder: Path, paths: Sequence[Path], institution: str) -> None:
    """Write page, element and adapters into the new FOLDER, for a static host; ``npm pack FOLDER`` makes the package.

    Each FILE is a question that leads on to another survey (``then``): its page is DIGEST.html.

    The host must have a host name of its own, where no other page runs scripts. Let it send
    ``Content-Security-Policy: sandbox allow-scripts allow-same-origin allow-modals``, ``Origin-Agent-Cluster: ?1`` and
    ``Cross-Origin-Opener-Policy: unsafe-none`` with index.html and block.html, and ``Access-Control-Allow-Origin: *``
    with frame.js and the files whose names begin with element.
    """
    links = [read_question(path, parse_link) for path in paths]
    page = link_page().body
    pages = {f"{link.digest}.html": published_page(page, link.canonical, institution) for link in links}
    write_for_web(folder, question_files() | pages)
    click.echo(f"Sottovoce {release()}: put {folder} on a host name of its own.", err=True)


@command("publish", example="sottovoce question publish cheated.yaml")
@_FILE
@data_option
def publish_question(path: Path, data: Path | None) -> None:
    """Let the aggregator serve the page of the question in FILE, which leads on (``then``), and print its address."""
    link = read_question(path, parse_link)
    settings = data_settings(data)
    with writing(settings.data / FOLDER):
        make_folder(settings.data)
        write_published(settings.data, link)
    click.echo(f"{served_settings(settings).url}{PLACE}{link.digest}")
