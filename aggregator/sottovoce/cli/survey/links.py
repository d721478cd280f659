"""Print the respondents' links of a survey."""

import click
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.surveys.lifecycle import TRIAL
from sottovoce.aggregator.surveys.stored_surveys import survey_of


def print_links(settings: Settings, row: StoredSurvey) -> None:
    """Print a link for each wave, and say if the survey is a test run."""
    parsed = survey_of(row.document)
    if parsed.trial:
        click.echo(TRIAL, err=True)
    for wave in range(len(parsed.waves)):
        click.echo(settings.link(row.name, row.digest, wave))
