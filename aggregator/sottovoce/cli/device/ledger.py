"""``ledger``: what this device remembers of the reports that it drew, and sending those that have not arrived."""

import json

import click
from sottovoce.cli.command import command
from sottovoce.client.delivery import readable
from sottovoce.client.draws import Draws
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.terminal.ledger_lists import (
    clear_entries,
    document,
    explain_clearing,
    line,
    lines,
    print_damaged,
    select_entries,
    select_records,
    send_waiting,
)
from sottovoce.client.terminal.screen import print_line
from sottovoce.client.transport import now

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@command(example="sottovoce device show")
@json_option
@click.option("--reports", is_flag=True, help="Also the reports themselves: the bytes that were, or would be, sent.")
def show(as_json: bool, reports: bool) -> None:
    """Surveys by aggregator: what each report cost, the total, and whether it arrived."""
    book = FileLedger()
    records, damaged = readable(book)
    if as_json:
        click.echo(json.dumps(document(book, records, damaged, reports), indent=2, ensure_ascii=False))
        return
    if not records:
        print_line("This device remembers no report.")
    for text in lines(records, reports):
        click.echo(text)
    print_damaged(book, damaged)


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
            print_line(f"Not yet: {line(record)}")
    sent, failed = send_waiting(book, select_records(waiting, Draws()))
    if not unsent:
        print_line("No report is waiting to be sent.")
    print_damaged(book, damaged)
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
    selected = select_entries(book, survey, everything)
    explain_clearing(selected)
    if not yes:
        click.confirm("Clear?", abort=True, err=True)
    clear_entries(book, selected)
    print_line(f"Cleared: {selected.count}.")
    if not everything:
        print_damaged(book, selected.damaged)
