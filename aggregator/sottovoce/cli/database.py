"""Access to a data folder, its database and a survey in it, and steps of migration, backup and restore, for several
commands.

A database of an earlier release is prepared for its migration; tables are left out of a temporary backup; a backup is
loaded into the database; and messages.
"""

import logging
import re
import shlex
import shutil
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import click
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.invitations.hold_messages import held_lines
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.connect import file_of, open_url
from sottovoce.aggregator.storage.copy import LOGS, check_backup, copy_all
from sottovoce.aggregator.storage.sql_storage import RUNNING
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage, last_heartbeat, make_copy, needs_migration
from sottovoce.aggregator.storage.verify_counts import wrong_counts
from sottovoce.aggregator.surveys.housekeeping import forget_ahead
from sottovoce.cli.command import new_file, waiting
from sottovoce.shared.errors import StorageError, cannot_read, did_you_mean

ADDRESS = "address"
"""A file in the data folder: where ``serve`` answers, or answered last."""

_URL = re.compile(r"https?://[!-~]{1,300}")

data_option = click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the database. [default: SOTTOVOCE_DATA or sottovoce-data]",
)


def database_name(url: str, file: Path | None) -> str:
    """Return the path of a database's file, or its server and name without user and password."""
    server = urlsplit(url)
    return str(file.absolute()) if file else f"{server.hostname or ''}{server.path}"


@contextmanager
def named_database(url: str, file: Path | None) -> Iterator[None]:
    """Name the database in the StorageError about opening it, without user and password.

    ``url`` is "" for a file in the data folder; ``file`` is None for a server.
    """
    # Its warnings would be printed once a second until the connection is given up.
    logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
    try:
        with nullcontext() if file else waiting("Connecting to the database"):
            yield
    except StorageError as error:
        if not str(error).startswith("the database is unavailable"):
            raise
        if file is not None:
            raise StorageError(f"{file}: {error}") from None
        raise StorageError(f"{database_name(url, None)}: {error}. Check its address, and if its server runs") from None


def data_settings(data: Path | None) -> Settings:
    """Return the settings, with the folder that was asked for."""
    settings = Settings.from_environment()
    return settings if data is None else Settings(**{**vars(settings), "data": data})


def open_storage(settings: Settings, create: bool = False, stopped: bool = False, migrates: bool = False) -> Storage:
    """Open the database that the settings name; the command that opens it closes it at its end.

    ``create`` makes the folder and the database if there is none; ``stopped`` says that no node runs on it, see
    ``open_url``; ``migrates`` migrates the database of an earlier release, of which the caller made a copy. Raises
    StorageError if there is no database, it needs a migration, or it cannot be opened.
    """
    file = file_of(settings.database, settings.data)
    if file is not None and create:
        make_folder(file.parent)
    elif file is not None:
        if not file.exists():
            raise StorageError(
                f'no database was found in {file.parent}/. Name its folder with --data, or begin with "sottovoce serve"'
            )
        if file.stat().st_size == 0:
            raise StorageError(
                f'the database {file} is an empty file. Move it away, then restore a backup with "sottovoce db restore"'
            )
    with named_database(settings.database, file):
        storage = open_url(settings.database, settings.data, stopped=stopped, migrates=migrates)
    storage.releases.heads = settings.heads
    context = click.get_current_context(silent=True)
    if context is not None:
        context.call_on_close(storage.close)
    return storage


def make_folder(folder: Path) -> None:
    """Make a data folder, for its user alone, unless it is there; raises StorageError if it cannot be made."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        raise StorageError(f"the data folder {folder}/ cannot be made. Name another one with --data") from None


def note_address(settings: Settings) -> None:
    """Record where this folder is served, if it is, for the commands that print links."""
    if not settings.data.is_dir():
        return
    try:
        (settings.data / ADDRESS).write_text(settings.url, encoding="ascii")
    except (OSError, UnicodeEncodeError):
        raise StorageError(f"the address cannot be written to {settings.data / ADDRESS}") from None


def served_settings(settings: Settings) -> Settings:
    """Return the settings with the address that links are for: the one that is set, else the one that is really
    served.
    """
    if settings.public_url:
        return settings
    try:
        address = (settings.data / ADDRESS).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        address = ""
    if _URL.fullmatch(address):
        return replace(settings, public_url=address)
    where = f"links are for {settings.url}, which SOTTOVOCE_PUBLIC_URL changes"
    click.echo(f"Nothing has served this data folder yet: {where}.", err=True)
    return settings


def open_survey(data: Path | None, name: str) -> Storage:
    """Open the database of a survey. Raises StorageError if there is no database, or no such survey in it; the message
    suggests a similar name.
    """
    settings = data_settings(data)
    storage = open_storage(settings)
    known = sorted({row.name for row in storage.surveys()})
    if name not in known:
        similar = did_you_mean(name, known)
        where = f"{settings.data}/" if file_of(settings.database, settings.data) else "the database"
        raise StorageError(
            f'survey "{name}" was not found in {where}.{similar} Run "sottovoce survey list" to see what is there'
        )
    return storage


def prepare_migration(settings: Settings, waits: bool = False, at_once: bool = False) -> None:
    """Copy a SQLite database of an earlier release, once no node runs on it; do nothing for any other database.

    ``waits`` waits until the last heartbeat shows that no node runs, rather than refuse; ``at_once`` does not look at
    it. Raises StorageError if a node runs, or the copy cannot be made.
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


def leave_out(file: Path, now: datetime, keep_days: int) -> None:
    """Remove from a backup, made at ``now``, the surveys due for deletion while it is kept, and print their names.
    Raises StorageError if a survey that is still open could fall due sooner.
    """
    with closing(SQLiteStorage(file)) as copy:
        for name in forget_ahead(copy, now, keep_days):
            click.echo(f"{name}: left out, since the survey is deleted by then", err=True)
        copy.scrub()


def put_back(file: Path, settings: Settings) -> None:
    """Put a backup into the configured database. Raises StorageError if it is no whole backup, or there is a database
    already.
    """
    check_backup(file)
    target = file_of(settings.database, settings.data)
    if target is not None:
        _restore_as(target, file)
        return
    with (
        closing(open_url(settings.database, settings.data, unfinished=True)) as other,
        TemporaryDirectory() as folder,
        _opened(file, Path(folder, file.name)) as source,
    ):
        copy_all(source, other)


def _restore_as(target: Path, file: Path) -> None:
    if target.exists():
        raise StorageError("there is a database already; move it away first, with the aggregator stopped")
    if any(target.with_name(target.name + log).exists() for log in LOGS):
        raise StorageError("the log of a database that is gone lies in its place; move it away, too")
    is_new = not target.parent.exists()
    make_folder(target.parent)
    try:
        with new_file(target) as part, _opened(file, part):
            pass
    except StorageError:
        if is_new:
            target.parent.rmdir()
        raise


@contextmanager
def _opened(file: Path, copied: Path) -> Iterator[Storage]:
    """Open a copied backup, brought to this version's schema and looked through; whole, and without a log, at the
    end.
    """
    try:
        shutil.copyfile(file, copied)
        copied.chmod(0o600)
    except OSError as error:
        raise StorageError(f"the backup cannot be copied: {cannot_read(file, error)}") from None
    with closing(SQLiteStorage(copied)) as storage:
        raise_if_wrong(storage.verify() or wrong_counts(storage), "the backup is damaged")
        # The backup does not show which of them were redeemed after it was made.
        storage.hold_invitations(int(now().timestamp()))
        yield storage
        storage.scrub()


def print_held(storage: Storage, data: Path | None) -> None:
    """Print the surveys whose invitations are on hold, and the command that releases them."""
    for line in held_lines(storage, "" if data is None else f" --data {shlex.quote(str(data))}"):
        click.echo(line, err=True)


def raise_if_wrong(wrong: list[str], conclusion: str) -> None:
    """Say what is wrong, a line each, and end with the conclusion; do nothing if nothing is."""
    for problem in wrong:
        click.echo(problem, err=True)
    if wrong:
        raise StorageError(conclusion)
