"""``doctor``: whether everything is in order, and what is not."""

import os
import shlex
from pathlib import Path

import click
from sottovoce.aggregator.accounts.sign_in_settings import provider_of
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.invitations.key_file import KeysFile
from sottovoce.aggregator.invitations.missing_keys import missing_keys
from sottovoce.aggregator.invitations.rollback_detection import RollbackMarks, place_of
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.connect import file_of
from sottovoce.aggregator.storage.copy import LOGS
from sottovoce.aggregator.storage.sqlite.migration_copy import copies
from sottovoce.aggregator.storage.survey_log import record_head
from sottovoce.aggregator.storage.verify_counts import wrong_counts
from sottovoce.aggregator.surveys.database_clock import check_clocks, present
from sottovoce.aggregator.surveys.housekeeping import waiting_words
from sottovoce.cli.command import command
from sottovoce.cli.database import data_option, data_settings, open_storage
from sottovoce.cli.db.restore_steps import print_held, raise_if_wrong
from sottovoce.cli.terminal import waiting


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
    _print_copies(settings)
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


def _print_copies(settings: Settings) -> None:
    """Print the copies that earlier migrations left, and how to remove them."""
    file = file_of(settings.database, settings.data)
    for copy in copies(file) if file is not None else ():
        click.echo(f'{copy} holds the data before the migration. "sottovoce db migrate --done" removes it.', err=True)


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
