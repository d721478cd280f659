"""``migrate`` and ``copy``: a database of an earlier release, and one in another place."""

import time
from pathlib import Path
from typing import TextIO
from urllib.parse import parse_qs, urlsplit

import click
from sottovoce.aggregator.storage.audit_log import events as words
from sottovoce.aggregator.storage.connect import file_of, open_url
from sottovoce.aggregator.storage.copy import copy_all
from sottovoce.aggregator.storage.heartbeat import RUNNING
from sottovoce.aggregator.storage.sqlite.migration_copy import remove_copies
from sottovoce.cli.command import command
from sottovoce.cli.database import data_option, data_settings, named_database, open_storage
from sottovoce.cli.db.migration import prepare_migration
from sottovoce.cli.terminal import waiting
from sottovoce.shared.errors import StorageError


@command(example="sottovoce db migrate")
@click.option("--stopped", is_flag=True, help="No node runs: migrate PostgreSQL too, or a file at once.")
@click.option("--now", "at_once", is_flag=True, help="No node runs: do not wait for the last heartbeat to be old.")
@click.option("--done", is_flag=True, help="Remove the copy that the migration made: there is no way back.")
@data_option
def migrate(stopped: bool, at_once: bool, done: bool, data: Path | None) -> None:
    """Bring the database to this version's schema, after a copy of a SQLite file; `serve` does so too."""
    settings = data_settings(data)
    prepare_migration(settings, at_once=at_once or stopped)
    open_storage(settings, stopped=stopped, migrates=True).check()
    click.echo("The database has this version's schema.", err=True)
    file = file_of(settings.database, settings.data)
    for copy in remove_copies(file) if done and file is not None else ():
        click.echo(f"Removed {copy}.", err=True)


@command(example="sottovoce db copy --to-file address")
@click.option("--to", "url", help="postgresql://... without a password, or sqlite:///FILE: an empty database.")
@click.option("--to-file", type=click.File(encoding="utf-8"), help="A file that holds this address; - reads it here.")
@click.option("--now", "at_once", is_flag=True, help="No node runs: do not wait for the last heartbeat to be old.")
@data_option
def copy(url: str | None, to_file: TextIO | None, at_once: bool, data: Path | None) -> None:
    """Copy everything to another, empty database; stop the aggregator first."""
    if (url is None) == (to_file is None):
        raise click.UsageError("name either --to or --to-file")
    if url is not None and _has_password(url):
        raise StorageError("everybody on this machine can see this password; put the address into a file: --to-file")
    address = to_file.read().strip() if to_file is not None else str(url)
    source = open_storage(data_settings(data))
    ran = int(time.time()) - source.last_heartbeat()
    if ran < RUNNING and not at_once:
        raise StorageError(
            f"an aggregator used this database {ran} seconds ago. Stop it and try again in {RUNNING - ran} seconds,"
            " or add --now if it is stopped"
        )
    source.journal.append(words.COPIED, words.MACHINE)
    with named_database(address, file_of(address, Path())):
        target = open_url(address, Path(), unfinished=True)
    with waiting("Copying the database"):
        copy_all(source, target)
    click.echo("Copied; all counts are equal.", err=True)


def _has_password(url: str) -> bool:
    """Return True if a URL contains a password, or cannot be parsed."""
    try:
        parts = urlsplit(url)
        return parts.password is not None or "password" in parse_qs(parts.query, keep_blank_values=True)
    except ValueError:
        return True
