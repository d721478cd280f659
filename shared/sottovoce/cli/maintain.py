"""``backup``, ``restore``, ``migrate``, ``copy``, ``purge``, ``doctor``: looking after a database."""

import shutil
from pathlib import Path

import click
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.housekeeping import close_due, delete_due, purge_due
from sottovoce.aggregator.steady_clock import check_clocks
from sottovoce.aggregator.storage.connect import FILE, open_url
from sottovoce.aggregator.storage.record import record_head
from sottovoce.aggregator.storage.sqlite import SQLiteStorage
from sottovoce.aggregator.storage.verify_counts import is_copy, wrong_counts
from sottovoce.cli.database import data_option, data_settings, open_storage
from sottovoce.shared.errors import StorageError


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@data_option
def backup(file: Path, data: Path | None) -> None:
    """Write a copy of the embedded database to the new FILE, while the aggregator runs or not."""
    storage = open_storage(data_settings(data))
    if not isinstance(storage, SQLiteStorage):
        raise StorageError("a PostgreSQL database is backed up with pg_dump, or with: copy --to sqlite:///FILE")
    if file.exists() or file.is_symlink():
        raise StorageError("there is a file of this name already; it was left as it is")
    storage.backup(file)
    file.chmod(0o600)
    click.echo("Saved. It holds report ids until they fall due: let it expire before that day.", err=True)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@data_option
def restore(file: Path, data: Path | None) -> None:
    """Put the backup FILE into a data folder that has no database yet."""
    settings = data_settings(data)
    target = settings.data / FILE
    if target.exists():
        raise StorageError("this data folder has a database; move it away first, with the aggregator stopped")
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    try:
        shutil.copyfile(file, part)
        part.chmod(0o600)
        # Opened under its temporary name: what is no database never gets the real one.
        storage = SQLiteStorage(part)
        wrong = storage.verify()
        storage.scrub()
        storage.close()
        _tell(wrong, "the backup is damaged")
        part.replace(target)
    finally:
        for left in settings.data.glob(f"{part.name}*"):
            left.unlink()
    click.echo("Restored.", err=True)


@click.command()
@data_option
def migrate(data: Path | None) -> None:
    """Bring the database to this version's schema; `serve` does so too."""
    open_storage(data_settings(data)).check()
    click.echo("The database has this version's schema.", err=True)


@click.command()
@click.option("--to", "url", required=True, help="postgresql://... or sqlite:///FILE, an empty database.")
@data_option
def copy(url: str, data: Path | None) -> None:
    """Copy everything to another, empty database; stop the aggregator first."""
    source, target = open_storage(data_settings(data)), open_url(url, Path())
    if target.surveys() or target.has_researchers() or target.record():
        raise StorageError("the other database is not empty")
    target.copy_from(source)
    target.scrub()
    if not is_copy(source, target):
        raise StorageError("the two databases differ; was the aggregator running?")
    click.echo("Copied; all counts are equal.", err=True)


@click.command()
@data_option
def purge(data: Path | None) -> None:
    """Delete surveys whose day has come, close those that are over, and forget report ids that are due."""
    storage, today = open_storage(data_settings(data)), now()
    check_clocks(today, storage.clock())
    for name in delete_due(storage, today):
        click.echo(f"{name}: deleted", err=True)
    close_due(storage, today)
    for stored in purge_due(storage, today):
        click.echo(f"{stored.name} revision {stored.revision}: report ids forgotten", err=True)
    storage.scrub()


@click.command()
@data_option
def doctor(data: Path | None) -> None:
    """Check the database: tables, integrity, and all counts against a recount; exit code 1 if anything is wrong."""
    settings = data_settings(data)
    storage = open_storage(settings)
    # Rows can be counted only where the tables are as they should be.
    _tell(storage.verify() or wrong_counts(storage), "the database is damaged; restore a backup")
    storage.check()
    if settings.public_url and not settings.proxy_hops:
        click.echo(
            "If the public address is a proxy's, set SOTTOVOCE_PROXY_HOPS: networks are not told apart.", err=True
        )
    click.echo(f"Everything is in order. {record_head(storage.record())}", err=True)


def _tell(wrong: list[str], conclusion: str) -> None:
    for problem in wrong:
        click.echo(problem, err=True)
    if wrong:
        raise StorageError(conclusion)
