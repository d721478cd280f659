"""``survey publish``, ``survey trial`` and the life of published surveys: list, show, close, reopen and delete.

Respondents answer a survey file that is published, colleagues one on trial. The other commands work with or without a
running node.
"""

from collections.abc import Sequence
from pathlib import Path

import click
from sottovoce.aggregator.authoring.trial import trial_name, trial_of
from sottovoce.aggregator.clock import day_of, present
from sottovoce.aggregator.invitations.key_file import with_moduli
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.storage.audit_log.events import MACHINE
from sottovoce.aggregator.surveys import lifecycle
from sottovoce.aggregator.surveys.privacy_limit import check_affordable
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.cli.command import PATH, ask, ask_for, command, waiting
from sottovoce.cli.database import data_option, data_settings, open_storage, open_survey, print_held, served_settings
from sottovoce.cli.results.place import terminal_words
from sottovoce.shared.errors import StorageError


@command("list", example="sottovoce survey list")
@data_option
def list_all(data: Path | None) -> None:
    """List all surveys, and under each its revisions and which of them still answer."""
    for revisions in lifecycle.list_surveys(open_storage(data_settings(data))):
        _print_survey(revisions)


@command(example="sottovoce survey show exam")
@click.argument("name")
@data_option
def show(name: str, data: Path | None) -> None:
    """Show the state, the revisions and the links of the survey NAME."""
    storage = open_survey(data, name)
    _print_survey(storage.revisions(name))
    print_links(served_settings(data_settings(data)), lifecycle.newest(storage, name))


@command(example="sottovoce survey close exam")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@data_option
def close(name: str, yes: bool, data: Path | None) -> None:
    """Accept no more reports to the survey NAME.

    The first time, this shows all its counts.
    """
    storage = open_survey(data, name)
    words, alone = lifecycle.closing_words(storage, name)
    click.echo(words, err=True)
    if alone and not yes and not ask("Close it?", default=True):
        raise StorageError("the survey was not closed (--yes closes it without asking)")
    with waiting("Closing the survey"):
        storage.close_survey(name, day_of(present(storage)), MACHINE)
    click.echo("closed", err=True)


@command(example="sottovoce survey reopen exam")
@click.argument("name")
@data_option
def reopen(name: str, data: Path | None) -> None:
    """Accept reports to the survey NAME again.

    This works until its report ids are forgotten, and while its window lasts.
    """
    storage = open_survey(data, name)
    lifecycle.check_reopening(storage, name, present(storage))
    storage.reopen_survey(name, MACHINE)
    click.echo(lifecycle.reopening_words(storage, name), err=True)
    print_held(storage, data)


@command(example="sottovoce survey delete exam")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask for the name.")
@data_option
def delete(name: str, yes: bool, data: Path | None) -> None:
    """Delete the survey NAME and its reports for good.

    Only the lines remain that it existed. The name cannot be used again.
    """
    storage = open_survey(data, name)
    if not yes and not ask_for(f"Reports, counts and texts of {name} go for good. Type its name to delete it", name):
        raise StorageError("nothing was deleted: type the survey's name when asked, or say --yes")
    with waiting("Deleting the survey"):
        storage.delete_survey(name, MACHINE)
    click.echo("deleted; backups hold it until they expire", err=True)


def _print_survey(revisions: Sequence[StoredSurvey]) -> None:
    """Print the state of a survey, and of its revisions, oldest first."""
    words, last = terminal_words(), revisions[-1]
    say, reports = words.translate, words.number(sum(map(lifecycle.reports_so_far, revisions)))
    trial = f"  {say('trial')}" if lifecycle.survey_of(last.document).trial else ""
    stage = say(f"surveys_stage_{'closed' if last.closed else 'open'}")
    click.echo(f"{last.name}  {stage}  {say('surveys_reports')}: {reports}{trial}")
    for row in revisions:
        state = say(f"settings_{'closed' if row.closed else 'retired' if row.retired else 'answers'}")
        click.echo(f"  {say('settings_revision', revision=row.revision)}  {state}  {row.digest}")


def print_links(settings: Settings, row: StoredSurvey) -> None:
    """Print a link for each wave, and say if the survey is a test run."""
    parsed = lifecycle.survey_of(row.document)
    if parsed.trial:
        click.echo(terminal_words().translate("trial"), err=True)
    for wave in range(len(parsed.waves)):
        click.echo(settings.link(row.name, row.digest, wave))


@command(example="sottovoce survey publish exam.yaml")
@click.argument("path", type=PATH)
@click.option("--retire/--keep", "retire", default=None, help="Whether a correction retires earlier revisions.")
@click.option("--reopen", is_flag=True, help="Open a closed survey again, also if only texts change.")
@data_option
def publish(path: Path, retire: bool | None, reopen: bool, data: Path | None) -> None:
    """Publish the survey file PATH, and print its links."""
    parsed = read_survey_file(path)
    check_affordable(parsed)
    settings = data_settings(data)
    storage = open_storage(settings, create=True)
    following = lifecycle.next_revision(storage, with_moduli(storage, parsed, settings))
    earlier = [row for row in storage.revisions(parsed.name) if row.revision < following.revision]
    if earlier:
        click.echo(lifecycle.correction_words(earlier, parsed), err=True)
        if retire is None:
            retire = not ask("Go on answering with earlier revisions? (No: they are retired.)", default=True)
        click.echo("Earlier revisions are retired." if retire else "Earlier revisions go on answering.", err=True)
    stay_closed = not reopen and lifecycle.may_stay_closed(storage, following)
    print_links(served_settings(settings), storage.publish(following, bool(retire), MACHINE, stay_closed=stay_closed))


@command(example="sottovoce survey trial exam.yaml")
@click.argument("path", type=PATH)
@data_option
def trial(path: Path, data: Path | None) -> None:
    """Publish a test run of the survey file PATH, under a name of its own.

    For you and colleagues, with invented answers. Each report is visible at once: never use it with respondents.
    """
    parsed = read_survey_file(path)
    settings = data_settings(data)
    storage = open_storage(settings, create=True)
    taken = {row.name for row in storage.surveys()} | {line.about for line in storage.record()}
    run = trial_of(parsed, trial_name(parsed.name, taken), present(storage).date())
    check_affordable(run)
    print_links(served_settings(settings), storage.publish(run, who=MACHINE))
