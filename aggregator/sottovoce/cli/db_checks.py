"""``doctor`` and ``journal``: whether the database is in order, and what staff did, as it is noted there."""

import os
import re
import shlex
from datetime import UTC, datetime
from pathlib import Path

import click
from sottovoce.aggregator.accounts.audit_log import entry_document, format_entry, names_of
from sottovoce.aggregator.accounts.sign_in_settings import provider_of
from sottovoce.aggregator.clock import day_of, now
from sottovoce.aggregator.invitations.key_file import KeysFile
from sottovoce.aggregator.invitations.missing_keys import missing_keys
from sottovoce.aggregator.invitations.rollback_detection import RollbackMarks, place_of
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import ChainHead, Storage
from sottovoce.aggregator.storage.audit_log.audit_log import ALWAYS
from sottovoce.aggregator.storage.connect import file_of
from sottovoce.aggregator.storage.copy import LOGS
from sottovoce.aggregator.storage.sqlite.migration_copy import copies
from sottovoce.aggregator.storage.survey_log import record_head
from sottovoce.aggregator.storage.verify_counts import wrong_counts
from sottovoce.aggregator.surveys.database_clock import check_clocks, present
from sottovoce.aggregator.surveys.housekeeping import waiting_words
from sottovoce.cli.command import command
from sottovoce.cli.database import data_option, data_settings, open_storage
from sottovoce.cli.db_steps import print_held, raise_if_wrong
from sottovoce.cli.output import check_free, write_text
from sottovoce.cli.terminal import waiting
from sottovoce.shared import canonical
from sottovoce.shared.errors import StorageError

_HEAD = re.compile(r"(\d{1,12}):([0-9a-f]{64})")

_survey_option = click.option("--survey", default=None, help="Only what concerns this survey.")
_since_option = click.option("--since", type=click.DateTime(["%Y-%m-%d"]), default=None, help="The first day.")
_until_option = click.option("--until", type=click.DateTime(["%Y-%m-%d"]), default=None, help="The last day.")


@command(example="sottovoce db doctor")
@data_option
def doctor(data: Path | None) -> None:
    """Check the database: tables, integrity, and all counts against a recount; exit code 1 if anything is wrong."""
    settings = data_settings(data)
    storage = open_storage(settings)
    # Rows can be counted only where the tables are as they should be.
    with waiting("Checking the database"):
        raise_if_wrong(storage.verify(), "the database is damaged; restore a backup")
        raise_if_wrong(wrong_counts(storage), "counts and reports differ; restore a backup from before")
    raise_if_wrong(storage.faults(), "no backup mends this; each line says what does")
    storage.check()
    check_clocks(storage)
    waits = storage.forgetting_waits(int(present(storage).timestamp()))
    if waits:
        click.echo(waiting_words(waits), err=True)
    print_held(storage, data)
    file = file_of(settings.database, settings.data)
    for copy in copies(file) if file is not None else ():
        click.echo(f'{copy} holds the data before the migration. "sottovoce db migrate --done" removes it.', err=True)
    _print_readable(settings)
    _print_missing_keys(storage, settings)
    if settings.public_url and not settings.proxy_hops:
        click.echo(
            "If the public address is a proxy's, set SOTTOVOCE_PROXY_HOPS: networks are not told apart.", err=True
        )
    if "oidc" in settings.allowed_sign_in_methods:
        provider_of(settings, now).check()
    click.echo(f"Everything is in order. {record_head(storage.record())}", err=True)
    click.echo(f"Head of the journal: {storage.journal.head()}", err=True)


def _print_readable(settings: Settings) -> None:
    """Print which files of the database other users of this machine can read, and how to end it."""
    file = file_of(settings.database, settings.data)
    for path in () if file is None else (file, *(file.with_name(file.name + log) for log in LOGS)):
        if os.name == "posix" and path.exists() and path.stat().st_mode & 0o077:
            click.echo(f"Other users of this machine can read {path}: chmod 600 {shlex.quote(str(path))}", err=True)


def _print_missing_keys(storage: Storage, settings: Settings) -> None:
    """Print surveys whose keys are missing, and a warning if an old database was, or could be, put back."""
    for name, why in missing_keys(storage, KeysFile(settings.blind_keys_file)).items():
        click.echo(f"{name}: invitations cannot be redeemed at a node with this configuration: {why}", err=True)
    problem = RollbackMarks(settings.blind_keys_file, place_of(settings.database, settings.data)).problem(storage)
    if problem:
        click.echo(problem, err=True)


@command("show", example="sottovoce db journal show --survey exam --since 2026-01-31")
@_survey_option
@_since_option
@_until_option
@data_option
def show_journal(survey: str | None, since: datetime | None, until: datetime | None, data: Path | None) -> None:
    """Print the entries, a line each."""
    storage = open_storage(data_settings(data))
    names = names_of(storage)
    for entry in storage.journal.entries(survey, *_days(since, until)):
        click.echo(format_entry(entry, names))


@command("verify", example="sottovoce db journal verify")
@click.option("--head", default=None, help="NUMBER:HASH that was noted before, from doctor, an export or a page.")
@data_option
def verify_journal(head: str | None, data: Path | None) -> None:
    """Check that no entry was changed, dropped, swapped or added; exit code 1 if one was."""
    storage = open_storage(data_settings(data))
    raise_if_wrong(storage.journal.problems(), "the journal is not what was written")
    if head is not None:
        found = _HEAD.fullmatch(head)
        if found is None:
            raise click.UsageError("a head is a number, a colon and 64 digits 0-9 a-f")
        known = storage.journal.is_known(ChainHead(int(found[1]), bytes.fromhex(found[2])))
        if known is None:
            raise StorageError("entries up to this head were cut off since; a later head can be held against the rest")
        raise_if_wrong(
            [] if known else ["there is no entry with this number and hash"], "another journal than that one"
        )
    click.echo(f"Every entry follows from the one before it. Head of the journal: {storage.journal.head()}", err=True)


@command("export", example="sottovoce db journal export --out journal.jsonl")
@_survey_option
@_since_option
@_until_option
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default=None, help="File (.jsonl) to write.")
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
@data_option
def export_journal(
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
