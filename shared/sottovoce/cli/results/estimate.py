"""``estimate``: the results of a folder of reports, counted without a database, on one machine or on many."""

from functools import partial
from pathlib import Path

import click
from sottovoce.aggregator.analysis.results_document import export_document
from sottovoce.aggregator.analysis.worked_example import results_in_words
from sottovoce.aggregator.estimators import DEFAULT_RULE
from sottovoce.aggregator.estimators.intervals import METHODS
from sottovoce.aggregator.export.archive_results import is_archive, results_of_archive
from sottovoce.aggregator.export.offline.dask_count import on_cluster
from sottovoce.aggregator.export.offline.locations import LocalFolder, is_countable, place_named
from sottovoce.aggregator.export.offline.offline_results import HERE, open_folder, results_of
from sottovoce.aggregator.export.read_archive import read_folder
from sottovoce.aggregator.surveys.lifecycle import TRIAL
from sottovoce.cli.command import command
from sottovoce.cli.output_file import check_free, write_json
from sottovoce.cli.place import PlaceName, check_there, tell

DASK = "dask"


@command(example="sottovoce results estimate reports --out results.json")
@click.argument("folder", type=PlaceName())
@click.option("--engine", type=click.Choice([*HERE, DASK]), help="[default: duckdb; with --scheduler, dask]")
@click.option("--scheduler", default=None, help="Address of a Dask scheduler, tcp:// or tls://; none starts one here.")
@click.option(
    "--interval", type=click.Choice(list(METHODS)), default=DEFAULT_RULE.method, show_default=True, help="For shares."
)
@click.option("--wave", type=click.IntRange(0), default=None, help="Only this wave.")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="File to write.")
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
def estimate(  # noqa: PLR0913, PLR0917 - one option each
    folder: Path | str, engine: str | None, scheduler: str | None, interval: str, wave: int | None, out: Path | None,
    force: bool,
) -> None:  # fmt: skip
    """
    Count the reports in FOLDER, a path or s3://, and print the results.

    FOLDER is one that "sottovoce results export --format parquet" wrote, or it holds survey.yaml and reports.csv. The
    output has the format of "sottovoce results export". Every engine finds the same counts.
    """
    if scheduler is not None and engine not in {None, DASK}:
        raise click.UsageError("--scheduler is for --engine dask")
    check_free(out, [".json"], force)
    check_there(folder)
    place = place_named(folder)
    if isinstance(place, LocalFolder) and not is_countable(place) and is_archive(place.path):
        results = results_of_archive(read_folder(place.path), interval, wave)
    else:
        name = engine or ("duckdb" if scheduler is None else DASK)
        work = on_cluster(scheduler) if name == DASK else HERE[name]
        results = results_of(open_folder(place), work, partial(tell, what="counted"), interval, wave)
    if results.survey.trial:
        click.echo(TRIAL, err=True)
    for words in results_in_words(results):
        click.echo(words, err=True)
    write_json(export_document(results), out)
