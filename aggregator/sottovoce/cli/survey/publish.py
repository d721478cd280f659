"""``survey publish`` and ``survey trial``: let respondents, or colleagues, answer a survey file."""

from pathlib import Path

import click
from sottovoce.aggregator.authoring.trial import trial_name, trial_of
from sottovoce.aggregator.invitations.publish_keys import with_moduli
from sottovoce.aggregator.storage.audit_log.events import MACHINE
from sottovoce.aggregator.surveys.database_clock import present
from sottovoce.aggregator.surveys.lifecycle import correction_words
from sottovoce.aggregator.surveys.privacy_limit import check_affordable
from sottovoce.aggregator.surveys.revisions import may_stay_closed, next_revision
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.cli.command import command
from sottovoce.cli.database import data_option, data_settings, open_storage, served_settings
from sottovoce.cli.survey.published import print_links
from sottovoce.cli.terminal import ask


@command(example="sottovoce survey publish exam.yaml")
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
    print_links(served_settings(settings), storage.publish(following, bool(retire), MACHINE, stay_closed=stay_closed))


@command(example="sottovoce survey trial exam.yaml")
@click.argument("path", type=click.Path(path_type=Path))
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
