"""``device``: the reports that this device drew and remembers, sending the waiting ones, and checking a form.

A respondents' form is compared with this release's.
"""

import json

import click
from sottovoce.cli.command import command
from sottovoce.client.delivery import readable
from sottovoce.client.draws import Draws
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.terminal import ledger_lists
from sottovoce.client.terminal.screen import print_line
from sottovoce.client.transport import now
from sottovoce.client.verify import verify_any

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@command(example="sottovoce device show")
@json_option
@click.option("--reports", is_flag=True, help="Also the reports themselves: the bytes that were, or would be, sent.")
def show(as_json: bool, reports: bool) -> None:
    """Surveys by aggregator: what each report cost, the total, and whether it arrived."""
    book = FileLedger()
    records, damaged = readable(book)
    if as_json:
        click.echo(json.dumps(ledger_lists.document(book, records, damaged, reports), indent=2, ensure_ascii=False))
        return
    if not records:
        print_line("This device remembers no report.")
    for text in ledger_lists.lines(records, reports):
        click.echo(text)
    ledger_lists.print_damaged(book, damaged)


@command(example="sottovoce device send")
@json_option
def send(as_json: bool) -> None:
    """Send the reports that have not arrived: the same bytes, drawn once."""
    book = FileLedger()
    records, damaged = readable(book)
    unsent = [record for record in records if record.entry.waiting]
    # Those whose moment has not come are no failure: nothing is tried.
    waiting = [record for record in unsent if record.entry.send_at <= now().timestamp()]
    for record in unsent:
        if record not in waiting:
            print_line(f"Not yet: {ledger_lists.line(record)}")
    sent, failed = ledger_lists.send_waiting(book, ledger_lists.select_records(waiting, Draws()))
    if not unsent:
        print_line("No report is waiting to be sent.")
    ledger_lists.print_damaged(book, damaged)
    if as_json:
        click.echo(json.dumps({"sent": sent, "waiting": failed}))
    if failed:
        raise click.exceptions.Exit(1)


@command(example="sottovoce device clear exam")
@click.argument("survey", required=False)
@click.option("--everything", is_flag=True, help="Also forget that there was a report, and what it cost.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def clear(survey: str | None, everything: bool, yes: bool) -> None:
    """Forget the reports of SURVEY (a name or a link), or all of them.

    The reports go; that there was one for each survey, and what it cost, stays, so that none is drawn a second time.
    With --everything that goes too.
    """
    book = FileLedger()
    selected = ledger_lists.select_entries(book, survey, everything)
    ledger_lists.explain_clearing(selected)
    if not yes:
        click.confirm("Clear?", abort=True, err=True)
    ledger_lists.clear_entries(book, selected)
    print_line(f"Cleared: {selected.count}.")
    if not everything:
        ledger_lists.print_damaged(book, selected.damaged)


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
        for path, expected, found in verdict.findings:
            outcome = "missing" if found is None else "same" if found == expected else "DIFFERENT"
            click.echo(f"{outcome:<10} {path}")
        for contradiction in verdict.contradictions:
            click.echo(f"CONTRADICTION: {contradiction}.")
        click.echo(f"This page reports to {verdict.aggregator}.")
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
