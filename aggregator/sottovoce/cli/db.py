"""``db``: looking after a database, and moving it.

``backup``, ``restore``, ``purge``, ``migrate`` and ``copy`` change or move it. ``doctor`` and ``journal`` say whether
the database is in order, and what staff did, as it is noted there.
"""

import os
import re
import shlex
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO
from urllib.parse import parse_qs, urlsplit

import click
from sottovoce.aggregator.accounts.audit_log import entry_document, format_entry, names_of
from sottovoce.aggregator.accounts.sign_in_settings import provider_of
from sottovoce.aggregator.clock import check_clocks, day_of, now, present
from sottovoce.aggregator.invitations.key_file import KeysFile, missing_keys
from sottovoce.aggregator.invitations.rollback_detection import RollbackMarks, place_of
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import ChainHead, Storage
from sottovoce.aggregator.storage.audit_log import events as words
from sottovoce.aggregator.storage.audit_log.audit_log import ALWAYS
from sottovoce.aggregator.storage.connect import file_of, open_url
from sottovoce.aggregator.storage.copy import LOGS, copy_all, save
from sottovoce.aggregator.storage.sql_storage import RUNNING
from sottovoce.aggregator.storage.sqlite.storage import copies, remove_copies
from sottovoce.aggregator.storage.survey_log import record_head
from sottovoce.aggregator.storage.verify_counts import wrong_counts
from sottovoce.aggregator.surveys.housekeeping import close_due, delete_due, first_due, purge_due, waiting_words
from sottovoce.aggregator.walls import missing
from sottovoce.cli import database
from sottovoce.cli.command import FILE, check_free, command, new_file, options_of, waiting, write_text, writing
from sottovoce.shared import canonical
from sottovoce.shared.errors import StorageError

_SQLITE = b"SQLite format 3\0"
"""First bytes of every backup."""

_HEAD = re.compile(r"(\d{1,12}):([0-9a-f]{64})")

_entry_options = options_of(
    click.option("--survey", help="Only what concerns this survey."),
    click.option("--since", type=click.DateTime(["%Y-%m-%d"]), help="The first day."),
    click.option("--until", type=click.DateTime(["%Y-%m-%d"]), help="The last day."),
)


@command(example="sottovoce db doctor")
@database.data_option
def doctor(data: Path | None) -> None:
    """Check the database: tables, integrity, and all counts against a recount; exit code 1 if anything is wrong."""
    settings = database.data_settings(data)
    storage = database.open_storage(settings)
    # Rows can be counted only where the tables are as they should be.
    with waiting("Checking the database"):
        database.raise_if_wrong(storage.verify(), "the database is damaged; restore a backup")
        database.raise_if_wrong(wrong_counts(storage), "counts and reports differ; restore a backup from before")
    database.raise_if_wrong(storage.faults(), "no backup mends this; each line says what does")
    storage.check()
    check_clocks(storage)
    waits = storage.forgetting_waits(int(present(storage).timestamp()))
    if waits:
        click.echo(waiting_words(waits), err=True)
    database.print_held(storage, data)
    file = file_of(settings.database, settings.data)
    for copy in copies(file) if file is not None else ():
        click.echo(f'{copy} holds the data before the migration. "sottovoce db migrate --done" removes it.', err=True)
    _print_readable(settings)
    open_to = missing()
    click.echo(f"Analyses of files run {f'without walls: {open_to}' if open_to else 'behind walls'}.", err=True)
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
@_entry_options
@database.data_option
def show_journal(survey: str | None, since: datetime | None, until: datetime | None, data: Path | None) -> None:
    """Print the entries, a line each."""
    storage = database.open_storage(database.data_settings(data))
    names = names_of(storage)
    for entry in storage.journal.entries(survey, *_days(since, until)):
        click.echo(format_entry(entry, names))


@command("verify", example="sottovoce db journal verify")
@click.option("--head", help="NUMBER:HASH that was noted before, from doctor, an export or a page.")
@database.data_option
def verify_journal(head: str | None, data: Path | None) -> None:
    """Check that no entry was changed, dropped, swapped or added; exit code 1 if one was."""
    storage = database.open_storage(database.data_settings(data))
    database.raise_if_wrong(storage.journal.problems(), "the journal is not what was written")
    if head is not None:
        found = _HEAD.fullmatch(head)
        if found is None:
            raise click.UsageError("a head is a number, a colon and 64 digits 0-9 a-f")
        known = storage.journal.is_known(ChainHead(int(found[1]), bytes.fromhex(found[2])))
        if known is None:
            raise StorageError("entries up to this head were cut off since; a later head can be held against the rest")
        database.raise_if_wrong(
            [] if known else ["there is no entry with this number and hash"], "another journal than that one"
        )
    click.echo(f"Every entry follows from the one before it. Head of the journal: {storage.journal.head()}", err=True)


@command("export", example="sottovoce db journal export --out journal.jsonl")
@_entry_options
@click.option("--out", type=FILE, help="File (.jsonl) to write.")
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
@database.data_option
def export_journal(
    survey: str | None, since: datetime | None, until: datetime | None, out: Path | None, force: bool, data: Path | None
) -> None:
    """Write the entries as JSON Lines, an entry each; the last line is the head of the whole journal."""
    check_free(out, [".jsonl"], force)
    storage = database.open_storage(database.data_settings(data))
    found = [entry_document(entry) for entry in storage.journal.entries(survey, *_days(since, until))]
    head = storage.journal.head()
    lines = [*found, {"head": {"number": head.number, "hash": head.hash.hex()}}]
    write_text("".join(canonical.dump(line).decode() + "\n" for line in lines), out)


def _days(since: datetime | None, until: datetime | None) -> tuple[int, int]:
    first = 0 if since is None else day_of(since.replace(tzinfo=UTC))
    return first, ALWAYS if until is None else day_of(until.replace(tzinfo=UTC))


@command(
    example="sottovoce db backup saved.sqlite --keep-days 7\nsottovoce db backup saved.sqlite --replace --keep-days 7"
)
@click.argument("file", type=FILE)
@click.option(
    "--keep-days",
    type=click.IntRange(1, 3650),
    help="You delete the file after so many days: what falls due until then is left out.",
)
@click.option("--replace", is_flag=True, help="Replace the last backup FILE once the new one is whole and on the disk.")
@database.data_option
def backup(file: Path, keep_days: int | None, replace: bool, data: Path | None) -> None:
    """Write a copy of the database to the new FILE, while the aggregator runs or not; also from PostgreSQL."""
    storage = database.open_storage(database.data_settings(data))
    _check_free(file, replace)
    # First, so that the copy contains its own entry, and no copy exists without one.
    storage.journal.append(words.BACKED_UP, words.MACHINE)
    with new_file(file) as part:
        with waiting("Saving the database"):
            save(storage, part)
        part.chmod(0o600)
        if keep_days is not None:
            database.leave_out(part, present(storage), keep_days)
    due = first_due(storage, present(storage))
    until = f" Delete it before {due}, when ids or a survey in it fall due, at the earliest." if due else ""
    if keep_days is not None:
        until = f" Delete it before {keep_days} days are over: what falls due until then is left out."
    click.echo(f"Saved.{until}", err=True)


def _check_free(file: Path, replace: bool) -> None:
    """Raise StorageError if there is something of this name, and it is no backup to be replaced."""
    with writing(file):
        if not (file.exists() or file.is_symlink()) or (replace and _is_backup(file)):
            return
        if not replace:
            raise FileExistsError
    raise StorageError(f'the file "{file}" is no backup; it was left as it is')


def _is_backup(file: Path) -> bool:
    with file.open("rb") as stream:
        return not file.is_symlink() and file.is_file() and stream.read(len(_SQLITE)) == _SQLITE


@command(example="sottovoce db restore saved.sqlite --data new")
@click.argument("file", type=FILE)
@database.data_option
def restore(file: Path, data: Path | None) -> None:
    """Put the backup FILE into the database that is configured, if there is none yet, or an empty one."""
    settings = database.data_settings(data)
    with waiting("Restoring the database"):
        database.put_back(file, settings)
    storage = database.open_storage(settings)
    storage.journal.append(words.RESTORED, words.MACHINE)
    click.echo("Restored.", err=True)
    database.print_held(storage, data)


@command(example="sottovoce db purge")
@click.option("--clock-ok", is_flag=True, help="The clock is right: forgetting waits no longer.")
@database.data_option
def purge(clock_ok: bool, data: Path | None) -> None:
    """Delete surveys whose day has come, close those that are over, and forget report ids that are due."""
    storage = database.open_storage(database.data_settings(data))
    check_clocks(storage)
    today = present(storage)
    if clock_ok:
        storage.journal.append(words.SETTING_CHANGED, words.MACHINE, "clock_trusted")
        storage.trust_clock(int(today.timestamp()))
    waits = storage.note_running(int(today.timestamp()))
    close_due(storage, today)
    if waits:
        raise StorageError(waiting_words(waits))
    for name in delete_due(storage, today, words.MACHINE):
        click.echo(f"{name}: deleted", err=True)
    for stored in purge_due(storage, today, words.MACHINE):
        click.echo(f"{stored.name} revision {stored.revision}: report ids forgotten", err=True)
    storage.journal.cut()
    storage.scrub()


@command(example="sottovoce db migrate")
@click.option("--stopped", is_flag=True, help="No node runs: migrate PostgreSQL too, or a file at once.")
@click.option("--now", "at_once", is_flag=True, help="No node runs: do not wait for the last heartbeat to be old.")
@click.option("--done", is_flag=True, help="Remove the copy that the migration made: there is no way back.")
@database.data_option
def migrate(stopped: bool, at_once: bool, done: bool, data: Path | None) -> None:
    """Bring the database to this version's schema, after a copy of a SQLite file; `serve` does so too."""
    settings = database.data_settings(data)
    database.prepare_migration(settings, at_once=at_once or stopped)
    database.open_storage(settings, stopped=stopped, migrates=True).check()
    click.echo("The database has this version's schema.", err=True)
    file = file_of(settings.database, settings.data)
    for copy in remove_copies(file) if done and file is not None else ():
        click.echo(f"Removed {copy}.", err=True)


@command(example="sottovoce db copy --to-file address")
@click.option("--to", "url", help="postgresql://... without a password, or sqlite:///FILE: an empty database.")
@click.option("--to-file", type=click.File(encoding="utf-8"), help="A file that holds this address; - reads it here.")
@click.option("--now", "at_once", is_flag=True, help="No node runs: do not wait for the last heartbeat to be old.")
@database.data_option
def copy(url: str | None, to_file: TextIO | None, at_once: bool, data: Path | None) -> None:
    """Copy everything to another, empty database; stop the aggregator first."""
    if (url is None) == (to_file is None):
        raise click.UsageError("name either --to or --to-file")
    if url is not None and _has_password(url):
        raise StorageError("everybody on this machine can see this password; put the address into a file: --to-file")
    address = to_file.read().strip() if to_file is not None else str(url)
    source = database.open_storage(database.data_settings(data))
    ran = int(time.time()) - source.last_heartbeat()
    if ran < RUNNING and not at_once:
        raise StorageError(
            f"an aggregator used this database {ran} seconds ago. Stop it and try again in {RUNNING - ran} seconds,"
            " or add --now if it is stopped"
        )
    source.journal.append(words.COPIED, words.MACHINE)
    with database.named_database(address, file_of(address, Path())):
        target = open_url(address, Path(), unfinished=True)
    with waiting("Copying the database"):
        copy_all(source, target)
    click.echo("Copied; all counts are equal.", err=True)


def _has_password(url: str) -> bool:
    """Return whether a URL contains a password, or cannot be parsed."""
    try:
        parts = urlsplit(url)
        return parts.password is not None or "password" in parse_qs(parts.query, keep_blank_values=True)
    except ValueError:
        return True
