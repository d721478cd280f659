"""``survey``: the life of surveys in a data folder, whether an aggregator is running on it or not."""

from pathlib import Path

import click
from sottovoce.aggregator.clock import day_of
from sottovoce.aggregator.invitations.publish_keys import with_moduli
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.storage.audit_log.events import MACHINE
from sottovoce.aggregator.surveys.database_clock import present
from sottovoce.aggregator.surveys.lifecycle import TRIAL, check_reopening, closing_words, correction_words, list_surveys
from sottovoce.aggregator.surveys.privacy_limit import check_affordable
from sottovoce.aggregator.surveys.revisions import may_stay_closed, next_revision
from sottovoce.aggregator.surveys.stored_surveys import newest, survey_of
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.cli.database import data_option, data_settings, open_storage, served_settings
from sottovoce.cli.db.restore_steps import tell_held
from sottovoce.cli.prompts import ask, ask_for
from sottovoce.shared.errors import StorageError


@click.group()
def survey() -> None:
    """Publish, list, close, reopen and delete surveys."""


@survey.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--retire/--keep", "retire", default=None, help="Whether a correction retires earlier revisions.")
@click.option("--reopen", is_flag=True, help="Open a closed survey again, also if only texts change.")
@data_option
def publish(path: Path, retire: bool | None, reopen: bool, data: Path | None) -> None:
    """Publish the survey file PATH, and print its links."""
    parsed = read_survey_file(path)
    check_affordable(parsed)
    settings = data_settings(data)
    storage = open_storage(settings, create=True)
    following = next_revision(storage, with_moduli(storage, parsed, settings))
    earlier = [row for row in storage.revisions(parsed.name) if row.revision < following.revision]
    if earlier:
        click.echo(correction_words(earlier, parsed), err=True)
        if retire is None:
            retire = not ask("Go on answering with earlier revisions? (No: they are retired.)", default=True)
        click.echo("Earlier revisions are retired." if retire else "Earlier revisions go on answering.", err=True)
    stay_closed = not reopen and may_stay_closed(storage, following)
    _print_links(served_settings(settings), storage.publish(following, bool(retire), MACHINE, stay_closed=stay_closed))


@survey.command("list")
@data_option
def list_all(data: Path | None) -> None:
    """List all surveys, and under each which revisions still answer."""
    for row in list_surveys(open_storage(data_settings(data))):
        trial = f"  {TRIAL}" if row.survey.trial else ""
        click.echo(f"{row.name}  {'closed' if row.closed else 'open'}  {row.reports} reports{trial}")
        for stored, state in row.revisions:
            click.echo(f"  revision {stored.revision}  {state}  {stored.digest}")


@survey.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@data_option
def close(name: str, yes: bool, data: Path | None) -> None:
    """Admit no more reports to the survey NAME; the first time, show all its counts."""
    storage = open_storage(data_settings(data))
    newest(storage, name)
    words, alone = closing_words(storage, name)
    click.echo(words, err=True)
    if alone and not yes and not ask("Close it?", default=True):
        raise StorageError("the survey was not closed")
    storage.close_survey(name, day_of(present(storage)), MACHINE)
    click.echo("closed", err=True)


@survey.command()
@click.argument("name")
@data_option
def reopen(name: str, data: Path | None) -> None:
    """Admit reports to the survey NAME again, until its report ids are forgotten and while its window lasts."""
    storage = open_storage(data_settings(data))
    check_reopening(storage, name, present(storage))
    storage.reopen_survey(name, MACHINE)
    click.echo("open; new reports appear only in full steps, and closing again publishes no last counts", err=True)
    tell_held(storage, data)


@survey.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask for the name.")
@data_option
def delete(name: str, yes: bool, data: Path | None) -> None:
    """Delete everything of the survey NAME but the lines that it existed. The name is never given again."""
    storage = open_storage(data_settings(data))
    newest(storage, name)
    if not yes and not ask_for(f"Reports, counts and texts of {name} go for good. Type its name to delete it", name):
        raise StorageError("nothing was deleted: type the survey's name when asked, or say --yes")
    storage.delete_survey(name, MACHINE)
    click.echo("deleted; backups hold it until they expire", err=True)


def _print_links(settings: Settings, row: StoredSurvey) -> None:
    parsed = survey_of(row.document)
    if parsed.trial:
        click.echo(TRIAL, err=True)
    for wave in range(len(parsed.waves)):
        click.echo(settings.link(row.name, row.digest, wave))
