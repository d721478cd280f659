"""``journal``: what staff did, as it is noted in the database."""

import re
from datetime import UTC, datetime
from pathlib import Path

import click
from sottovoce.aggregator.accounts.audit_log import entry_document, format_entry, names_of
from sottovoce.aggregator.clock import day_of
from sottovoce.aggregator.storage import ChainHead
from sottovoce.aggregator.storage.audit_log.audit_log import ALWAYS
from sottovoce.cli.command import command
from sottovoce.cli.database import data_option, data_settings, open_storage
from sottovoce.cli.db.restore_steps import raise_if_wrong
from sottovoce.cli.output import check_free, write_text
from sottovoce.shared import canonical
from sottovoce.shared.errors import StorageError

_HEAD = re.compile(r"(\d{1,12}):([0-9a-f]{64})")

_survey_option = click.option("--survey", default=None, help="Only what concerns this survey.")
_since_option = click.option("--since", type=click.DateTime(["%Y-%m-%d"]), default=None, help="The first day.")
_until_option = click.option("--until", type=click.DateTime(["%Y-%m-%d"]), default=None, help="The last day.")


@command(example="sottovoce db journal show --survey exam --since 2026-01-31")
@_survey_option
@_since_option
@_until_option
@data_option
def show(survey: str | None, since: datetime | None, until: datetime | None, data: Path | None) -> None:
    """Print the entries, a line each."""
    storage = open_storage(data_settings(data))
    names = names_of(storage)
    for entry in storage.journal.entries(survey, *_days(since, until)):
        click.echo(format_entry(entry, names))


@command(example="sottovoce db journal verify")
@click.option("--head", default=None, help="NUMBER:HASH that was noted before, from doctor, an export or a page.")
@data_option
def verify(head: str | None, data: Path | None) -> None:
    """Check that no entry was changed, dropped, swapped or added; exit code 1 if one was."""
    storage = open_storage(data_settings(data))
    raise_if_wrong(storage.journal.problems(), "the journal is not what was written")
    if head is not None:
        known = storage.journal.is_known(_parse_head(head))
        if known is None:
            raise StorageError("entries up to this head were cut off since; a later head can be held against the rest")
        raise_if_wrong(
            [] if known else ["there is no entry with this number and hash"], "another journal than that one"
        )
    click.echo(f"Every entry follows from the one before it. Head of the journal: {storage.journal.head()}", err=True)


@command(example="sottovoce db journal export --out journal.jsonl")
@_survey_option
@_since_option
@_until_option
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default=None, help="File (.jsonl) to write.")
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
@data_option
def export(
    survey: str | None, since: datetime | None, until: datetime | None, out: Path | None, force: bool, data: Path | None
) -> None:
    """Write the entries as JSON Lines, an entry each; the last line is the head of the whole journal."""
    check_free(out, [".jsonl"], force)
    storage = open_storage(data_settings(data))
    found = [entry_document(entry) for entry in storage.journal.entries(survey, *_days(since, until))]
    head = storage.journal.head()
    lines = [*found, {"head": {"number": head.number, "hash": head.hash.hex()}}]
    text = "".join(canonical.dump(line).decode() + "\n" for line in lines)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_text(text, out)


def _days(since: datetime | None, until: datetime | None) -> tuple[int, int]:
    first = 0 if since is None else day_of(since.replace(tzinfo=UTC))
    return first, ALWAYS if until is None else day_of(until.replace(tzinfo=UTC))


def _parse_head(text: str) -> ChainHead:
    found = _HEAD.fullmatch(text)
    if found is None:
        raise click.UsageError("a head is a number, a colon and 64 digits 0-9 a-f")
    return ChainHead(int(found[1]), bytes.fromhex(found[2]))
