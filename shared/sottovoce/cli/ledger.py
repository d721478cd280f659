"""``ledger``: what this device remembers of the reports that it drew, and sending those that have not arrived."""

import json
from collections.abc import Iterable
from itertools import groupby
from typing import Any

import click
from sottovoce.cli.respond import patient
from sottovoce.client.delivery import deliver, readable
from sottovoce.client.file_ledger import FileLedger, Record
from sottovoce.client.ledger import MEMO
from sottovoce.client.link import parse_link
from sottovoce.shared.errors import BudgetExhausted, SurveyError
from sottovoce.shared.rational import show_epsilon

FORMAT = "sottovoce-ledger/1"

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def ledger() -> None:
    """See, send and clear the reports that this device remembers; it never remembers an answer."""


@ledger.command()
@json_option
@click.option("--reports", is_flag=True, help="Also the reports themselves: the bytes that were, or would be, sent.")
def show(as_json: bool, reports: bool) -> None:
    """Surveys by aggregator: what each report cost, the total, and whether it arrived."""
    book = FileLedger()
    records, damaged = readable(book)
    if as_json:
        click.echo(json.dumps(_document(book, records, damaged, reports), indent=2, ensure_ascii=False))
        return
    if not records:
        click.echo("This device remembers no report.", err=True)
    for origin, group in _by_origin(records):
        click.echo(f"{origin}: epsilon {show_epsilon(_total(group))} in total")
        for record in group:
            click.echo(f"  {_line(record)}")
            if reports and _has_report(record):
                click.echo(f"    {record.entry.body.rstrip()}")
    _tell_damaged(book, damaged)


@ledger.command()
@json_option
def send(as_json: bool) -> None:
    """Send the reports that have not arrived: the same bytes, drawn once."""
    book = FileLedger()
    records, damaged = readable(book)
    waiting = [record for record in records if record.entry.waiting]
    sent, failed = [], []
    for record in waiting:
        what = f"{record.key.survey}, wave {record.key.wave}, at {record.key.origin}"
        try:
            sent.append(_send(book, record))
            click.echo(f"Arrived: {what}", err=True)
        except SurveyError as error:
            failed.append({**_about(record), "reason": str(error)})
            click.echo(f"Not sent: {what}: {error}", err=True)
    if not waiting:
        click.echo("No report is waiting to be sent.", err=True)
    _tell_damaged(book, damaged)
    if as_json:
        click.echo(json.dumps({"sent": sent, "waiting": failed}))
    if failed:
        raise click.exceptions.Exit(1)


@ledger.command()
@click.argument("survey", required=False)
@click.option("--everything", is_flag=True, help="Also forget that there was a report, and what it cost.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def clear(survey: str | None, everything: bool, yes: bool) -> None:
    """
    Forget the reports of SURVEY (a name or a link), or all of them.

    The reports go; that there was one for each survey, and what it cost, stays, so that none is drawn a second time.
    With --everything that goes too.
    """
    book = FileLedger()
    records, damaged = readable(book)
    chosen = [record for record in records if survey is None or _is_for(record, survey)]
    names = [record.name for record in chosen] + (damaged if everything and survey is None else [])
    if everything and survey is None and book.folder.exists():
        # Also the sets of questions of surveys that were opened and never answered.
        names.append("*")
    if not names:
        raise BudgetExhausted("there is nothing to clear")
    _explain(chosen, everything)
    if not yes:
        click.confirm("Clear?", abort=True, err=True)
    for name in names:
        if everything:
            book.erase(name)
        else:
            book.forget(name)
    click.echo(f"Cleared: {len(chosen) + (len(damaged) if everything and survey is None else 0)}.", err=True)
    if not everything:
        _tell_damaged(book, damaged)


def _send(book: FileLedger, record: Record) -> dict[str, Any]:
    if record.bound:
        raise BudgetExhausted("this report needs the token of its link; open the link with: sottovoce respond LINK")
    return deliver(book, record.key, record.entry, patient(record.key.origin))


def _explain(chosen: list[Record], everything: bool) -> None:
    """What clearing means, before it is done."""
    for record in chosen:
        click.echo(f"{record.key.origin}: {_line(record)}", err=True)
    waiting = sum(record.entry.waiting for record in chosen)
    if waiting:
        click.echo(f"{waiting} of them have not arrived, and will never be sent.", err=True)
    click.echo("A report that is cleared can no longer be withdrawn from here: only its own number names it.", err=True)
    if any(record.key.wave == MEMO for record in chosen) and not everything:
        click.echo("Without its memo this device answers no further wave of that survey.", err=True)
    if everything:
        click.echo(
            "This device will not know that it has answered. Answering again would be a second roll of the dice: the "
            "epsilons of both add up, and this device would not count the first.",
            err=True,
        )
    else:
        click.echo("The charge stays: this device still refuses to answer the same survey a second time.", err=True)


def _is_for(record: Record, survey: str) -> bool:
    if "/" not in survey:
        return record.key.survey == survey
    link = parse_link(survey)
    return (record.key.origin, record.key.survey) == (link.origin, link.survey)


def _document(book: FileLedger, records: list[Record], damaged: list[str], reports: bool) -> dict[str, Any]:
    origins = [
        {
            "origin": origin,
            "epsilon": _total(group),
            "reports": [
                _about(record) | ({"report": record.entry.body.rstrip()} if reports and _has_report(record) else {})
                for record in group
            ],
        }
        for origin, group in _by_origin(records)
    ]
    return {"format": FORMAT, "folder": str(book.folder), "origins": origins, "damaged": damaged}


def _about(record: Record) -> dict[str, Any]:
    key, entry = record.key, record.entry
    wave = None if key.wave == MEMO else key.wave
    about = {"survey": key.survey, "wave": wave, "digest": entry.digest, "epsilon": entry.epsilon}
    return {"origin": key.origin, **about, "token": record.bound, "state": _state(record)}


def _state(record: Record) -> str:
    kept = "memo" if record.key.wave == MEMO else "sent" if record.entry.sent else "unsent"
    return record.entry.ended or kept


def _has_report(record: Record) -> bool:
    # A memo stays on this device, and it is nobody else's business which draws it holds.
    return bool(record.entry.body) and record.key.wave != MEMO


def _line(record: Record) -> str:
    key, entry = record.key, record.entry
    bound = ", with a token" if record.bound else ""
    waves = "all waves" if key.wave == MEMO else f"wave {key.wave}"
    return f"{key.survey}, {waves}: epsilon {show_epsilon(entry.epsilon)}, {_state(record)}{bound}"


def _by_origin(records: Iterable[Record]) -> list[tuple[str, list[Record]]]:
    return [(origin, list(group)) for origin, group in groupby(records, key=lambda record: record.key.origin)]


def _total(records: Iterable[Record]) -> float:
    return sum(record.entry.epsilon for record in records)


def _tell_damaged(book: FileLedger, damaged: list[str]) -> None:
    for name in damaged:
        click.echo(
            f"Damaged: {book.folder / name}.json. It may stand for a report that was sent, so nothing is drawn for the "
            "survey it was for. `sottovoce ledger clear --everything` removes it too.",
            err=True,
        )
