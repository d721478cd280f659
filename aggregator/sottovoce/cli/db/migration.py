"""Preparing a database of an earlier release for its migration, for ``serve`` and ``db migrate``."""

import time
from pathlib import Path

import click
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.connect import file_of
from sottovoce.aggregator.storage.heartbeat import RUNNING
from sottovoce.aggregator.storage.sqlite.migration_copy import last_heartbeat, make_copy, needs_migration
from sottovoce.shared.errors import StorageError


def prepare_migration(settings: Settings, waits: bool = False, at_once: bool = False) -> None:
    """Copy a SQLite database of an earlier release, once no node runs on it; do nothing for any other database.

    Args:
        settings: name the database.
        waits: wait until the last heartbeat shows that no node runs, rather than refuse.
        at_once: do not look at the heartbeat.

    Raises:
        StorageError: a node runs, or the copy cannot be made.
    """
    file = file_of(settings.database, settings.data)
    if file is None or not needs_migration(file):
        return
    if not at_once:
        _check_stopped(file, waits)
    copy = make_copy(file)
    click.echo(
        f"The database is brought to this release. {copy} holds it as it was: to go back, stop the aggregator and copy"
        f" that file as {file.name} into an empty folder for the previous release; reports that arrive from now on are"
        ' then lost. It is removed after 7 days, with the first deletion, or by "sottovoce db migrate --done".',
        err=True,
    )


def _check_stopped(file: Path, waits: bool) -> None:
    seen = last_heartbeat(file)
    left = seen + RUNNING - time.time()
    if left <= 0:
        return
    if not waits:
        raise StorageError(
            f"an aggregator used {file} {RUNNING - left:.0f} seconds ago. Stop it and try again in {left:.0f} seconds,"
            " or add --now if it is stopped"
        )
    click.echo(f"Waiting {left:.0f} seconds to see that no aggregator of an earlier release runs here.", err=True)
    time.sleep(left + 1)
    if last_heartbeat(file) != seen:
        raise StorageError(f"an aggregator of an earlier release runs on {file}. Stop it first")
