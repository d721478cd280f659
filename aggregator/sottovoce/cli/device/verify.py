"""``device verify``: compare a respondents' form with this release's."""

import json

import click
from sottovoce.cli.command import command
from sottovoce.client.terminal.screen import print_line
from sottovoce.client.verify import PageVerification, verify_any


@command(example="sottovoce device verify 'https://survey.example.org/s/exam#d=...'")
@click.argument("addresses", metavar="LINK..|HOST|FILE", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def verify(addresses: tuple[str, ...], as_json: bool) -> None:
    """Compare a respondent's page with this release's, byte by byte.

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
        print_line(f"{wrong} of {len(verdict.findings)} files are not this release's. Do not answer through this page.")
    else:
        print_line(f"All {len(verdict.findings)} files are this release's, as they were served just now.")
    if verdict.contradictions:
        print_line(
            "The versions of this survey contradict each other. Do not answer, and tell the others who have a link."
        )
    if not verdict.is_good:
        raise click.exceptions.Exit(1)


def _list(verdict: PageVerification) -> None:
    for path, expected, found in verdict.findings:
        outcome = "missing" if found is None else "same" if found == expected else "DIFFERENT"
        click.echo(f"{outcome:<10} {path}")
    for contradiction in verdict.contradictions:
        click.echo(f"CONTRADICTION: {contradiction}.")
    click.echo(f"This page reports to {verdict.aggregator}.")
