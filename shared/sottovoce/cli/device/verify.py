"""``page`` and ``verify``: the respondent's page for another place, and whether a page is this release's."""

import hashlib
import json
from pathlib import Path
from urllib.parse import urlsplit

import click
from sottovoce.client.link import fragment_of, parse_link
from sottovoce.client.page import saved_page, static_page
from sottovoce.client.revisions import survey_for
from sottovoce.client.transport import Transport
from sottovoce.client.verify import PageVerification, verify_any


@click.command()
@click.argument("address", metavar="LINK|AGGREGATOR")
@click.option(
    "--folder", type=click.Path(path_type=Path), help="Write the files for a static host into this new folder."
)
@click.option(
    "--file", "file", type=click.Path(path_type=Path), help="Write the page as one new file, to keep or to pass on."
)
def page(address: str, folder: Path | None, file: Path | None) -> None:
    """
    Make the respondent's page for another place than the aggregator.

    People who open the aggregator's own page must trust what it serves at that moment. A page on another host or in a
    file does not change; it still sends to the aggregator. With a survey's link, the file
    holds the survey. Standard output gets the files' SHA-256.
    """
    if (folder is None) == (file is None):
        raise click.UsageError("name either --folder or --file")
    link = parse_link(address) if "/s/" in urlsplit(address).path else None
    aggregator = address if link is None else link.origin
    if folder is not None:
        _write_folder(folder, static_page(aggregator))
        _tell(f"Put {folder} on any host that serves https. Its links end in #s=SURVEY&d=DIGEST, such as:")
        _tell(f"https://host/{fragment_of(link)}")
        return
    if file is not None:
        _write(file, saved_page(aggregator, None if link is None else survey_for(Transport(link.origin), link)))
        held = "holds its survey" if link else "is opened with #s=SURVEY&d=DIGEST after its name"
        _tell(f"{file} {held} and needs a connection only to send.")


@click.command()
@click.argument("addresses", metavar="LINK..|HOST|FILE", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def verify(addresses: tuple[str, ...], as_json: bool) -> None:
    """
    Compare a respondent's page with this release's, byte by byte.

    LINK is a survey's link at an aggregator, HOST the address of a static host, FILE a saved page. Several links to one
    survey, such as a friend's beside one's own, also tell whether everybody is shown the same versions of it. Exit 1 if
    anything differs. What is found is true of what was served to this program now: another person may be served
    another page.
    """
    verdict = verify_any(*addresses)
    if as_json:
        click.echo(json.dumps(verdict.as_dict(), indent=2))
    else:
        _list(verdict)
    wrong = sum(not finding.is_same for finding in verdict.findings)
    if wrong:
        _tell(f"{wrong} of {len(verdict.findings)} files are not this release's. Do not answer through this page.")
    else:
        _tell(f"All {len(verdict.findings)} files are this release's, as they were served just now.")
    if verdict.contradictions:
        _tell("The versions of this survey contradict each other. Do not answer, and tell the others who have a link.")
    if not verdict.is_good:
        raise click.exceptions.Exit(1)


def _list(verdict: PageVerification) -> None:
    for path, expected, found in verdict.findings:
        outcome = "missing" if found is None else "same" if found == expected else "DIFFERENT"
        click.echo(f"{outcome:<10} {path}")
    for contradiction in verdict.contradictions:
        click.echo(f"CONTRADICTION: {contradiction}.")
    click.echo(f"This page reports to {verdict.aggregator}.")


def _write_folder(folder: Path, files: dict[str, bytes]) -> None:
    try:
        folder.mkdir(parents=True)
    except OSError:
        raise click.ClickException("the folder is already there, or cannot be made") from None
    for name, body in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        _write(folder / name, body)


def _write(file: Path, body: bytes) -> None:
    try:
        with file.open("xb") as target:
            target.write(body)
    except OSError:
        raise click.ClickException("the file is already there, or cannot be written") from None
    click.echo(f"{hashlib.sha256(body).hexdigest()}  {file}")


def _tell(text: str) -> None:
    click.echo(text, err=True)
