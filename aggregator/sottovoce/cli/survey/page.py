"""``survey page``: the respondents' form for another web host, or as one file."""

import hashlib
from pathlib import Path
from urllib.parse import urlsplit

import click
from sottovoce.cli.command import PATH, command, create_file, write_for_web
from sottovoce.client.link import fragment_of, parse_link
from sottovoce.client.page import saved_page, static_page
from sottovoce.client.revisions import survey_for
from sottovoce.client.terminal.screen import print_line
from sottovoce.client.transport import Transport


@command(example="sottovoce survey page https://survey.example.org --folder form")
@click.argument("address", metavar="LINK|AGGREGATOR")
@click.option("--folder", type=PATH, help="Write the files for a static host into this new folder.")
@click.option("--file", "file", type=PATH, help="Write the page as one new file, to keep or to pass on.")
def page(address: str, folder: Path | None, file: Path | None) -> None:
    """Make the respondent's page for another place than the aggregator.

    People who open the aggregator's own page must trust what it serves at that moment. A page on another host or in a
    file does not change; it still sends to the aggregator. With a survey's link, the file holds the survey. Standard
    output gets the files' SHA-256.
    """
    if (folder is None) == (file is None):
        raise click.UsageError("name either --folder or --file")
    link = parse_link(address) if "/s/" in urlsplit(address).path else None
    aggregator = address if link is None else link.origin
    if folder is not None:
        write_for_web(folder, static_page(aggregator))
        print_line(f"Put {folder} on any host that serves https. Its links end in #s=SURVEY&d=DIGEST, such as:")
        print_line(f"https://host/{fragment_of(link)}")
        return
    if file is not None:
        body = saved_page(aggregator, None if link is None else survey_for(Transport(link.origin), link))
        create_file(file, body)
        click.echo(f"{hashlib.sha256(body).hexdigest()}  {file}")
        properties = "holds its survey" if link else "is opened with #s=SURVEY&d=DIGEST after its name"
        print_line(f"{file} {properties} and needs a connection only to send.")
