"""``survey``: publish, list and close surveys in a data folder, whether an aggregator is running on it or not."""

from pathlib import Path

import click
from sottovoce.aggregator.clock import day_of, now
from sottovoce.aggregator.planning.affordable import check_affordable
from sottovoce.aggregator.planning.next_revision import next_revision
from sottovoce.aggregator.planning.survey_file import read_survey_file
from sottovoce.aggregator.surveys import reports_so_far
from sottovoce.cli.database import data_option, data_settings, open_storage
from sottovoce.shared.errors import StorageError


@click.group()
def survey() -> None:
    """Publish, list and close surveys."""


@survey.command()
@click.argument("path", type=click.Path(path_type=Path))
@data_option
def publish(path: Path, data: Path | None) -> None:
    """Publish the survey file PATH."""
    parsed = read_survey_file(path)
    check_affordable(parsed)
    settings = data_settings(data)
    storage = open_storage(settings, create=True)
    row = storage.publish(next_revision(storage, parsed))
    for wave in range(len(parsed.waves)):
        click.echo(settings.link(row.name, row.digest, wave))


@survey.command("list")
@data_option
def list_surveys(data: Path | None) -> None:
    """List all surveys."""
    for row in open_storage(data_settings(data)).surveys():
        state = "closed" if row.closed else "open"
        click.echo(f"{row.name}  revision {row.revision}  {state}  {reports_so_far(row)} reports  {row.digest}")


@survey.command()
@click.argument("name")
@data_option
def close(name: str, data: Path | None) -> None:
    """Admit no more reports to the survey NAME, and show all its counts."""
    storage = open_storage(data_settings(data))
    if not storage.revisions(name):
        raise StorageError("there is no survey of this name in the data folder")
    storage.close_survey(name, day_of(now()))
    click.echo("closed", err=True)
