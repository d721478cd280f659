"""``export``: the results of a survey as JSON."""

from pathlib import Path

import click
from sottovoce.aggregator.estimators import DEFAULT_RULE
from sottovoce.aggregator.estimators.intervals import METHODS
from sottovoce.aggregator.results.analysis import analyse, revisions_of
from sottovoce.aggregator.results.export import export_document
from sottovoce.aggregator.results.in_words import results_in_words
from sottovoce.aggregator.survey_life import TRIAL
from sottovoce.cli.database import data_option, data_settings, open_storage
from sottovoce.cli.output_file import check_free, write_json
from sottovoce.shared.errors import StorageError


@click.command()
@click.argument("name")
@click.option("--cohort", default=None, help="Only this cohort.")
@click.option(
    "--interval", type=click.Choice(list(METHODS)), default=DEFAULT_RULE.method, show_default=True, help="For shares."
)
@click.option("--wave", type=click.IntRange(0), default=None, help="Only this wave.")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), default=None, help="File to write, such as exam.json."
)
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
@data_option
def export(  # noqa: PLR0913, PLR0917 - one option each
    name: str, cohort: str | None, interval: str, wave: int | None, out: Path | None, force: bool, data: Path | None
) -> None:
    """Write the results of the survey NAME as JSON (sottovoce-export/1); shares of yes also in words."""
    check_free(out, [".json"], force)
    revisions = revisions_of(open_storage(data_settings(data)), name)
    if not revisions:
        raise StorageError("there is no survey of this name in the data folder")
    results = analyse(revisions, cohort, interval, wave)
    if results.survey.trial:
        click.echo(TRIAL, err=True)
    for words in results_in_words(results):
        click.echo(words, err=True)
    write_json(export_document(results), out)
