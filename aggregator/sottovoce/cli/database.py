"""Access to a data folder, its database and a survey in it, shared by several commands."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import click
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.connect import file_of, open_url
from sottovoce.cli.terminal import waiting
from sottovoce.shared.errors import StorageError
from sottovoce.shared.file_errors import did_you_mean

ADDRESS = "address"
"""A file in the data folder: where ``serve`` answers, or answered last."""

_URL = re.compile(r"https?://[!-~]{1,300}")

data_option = click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
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
