"""``estimate`` and ``list-experiment``: results of files, without a database.

Of a folder of reports, of any data file, of counts alone; or of a sensitive item from a file of item counts.
"""

from functools import partial
from pathlib import Path
from typing import Any

import click
from sottovoce.aggregator.analysis.data_file.parse_channel import yes_no_counts
from sottovoce.aggregator.analysis.results_document import export_document
from sottovoce.aggregator.analysis.weights import raked
from sottovoce.aggregator.estimators import DEFAULT_RULE, IntervalRule
from sottovoce.aggregator.estimators.intervals import METHODS
from sottovoce.aggregator.export.offline.locations import LocalFolder, is_countable, place_named
from sottovoce.aggregator.export.offline.offline_results import HERE, on_cluster, open_folder, results_of
from sottovoce.aggregator.export.read_archive import is_archive, results_of_folder
from sottovoce.aggregator.export.results_client.open_data import estimate as estimate_counts
from sottovoce.aggregator.export.results_client.open_results import JointResult
from sottovoce.cli.command import PATH, check_free, command, write_json
from sottovoce.cli.results.place import PlaceName, print_results, show_progress
from sottovoce.cli.results.run_analysis import (
    channel_or_question,
    confidence_option,
    is_data_file,
    open_file,
    request_options,
    show,
    show_file,
    split,
    weights_from,
    weights_option,
)
from sottovoce.shared.errors import SpecError

DASK = "dask"


@command(
    example="sottovoce results estimate reports --out results.json\n"
    "sottovoce results estimate answers.csv --channel cheated=coin_flip\n"
    "sottovoce results estimate --yes 30 --n 100 --mechanism coin_flip"
)
@click.argument("folder", type=PlaceName(), required=False)
@channel_or_question
@click.option("--yes", type=click.IntRange(0), help="Of counts alone: reports that say yes (or 'same').")
@click.option("--n", "reports", type=click.IntRange(1), help="Of counts alone: all reports.")
@click.option("--mechanism", help="Of counts alone: the channel, such as 'warner 0.7'.")
@click.option("--json", "as_json", is_flag=True, help="Of a data file or counts: print JSON on standard output.")
@click.option("--engine", type=click.Choice([*HERE, DASK]), help="[default: duckdb; with --scheduler, dask]")
@click.option("--scheduler", help="Address of a Dask scheduler, tcp:// or tls://; none starts one here.")
@click.option("--interval", type=click.Choice([*METHODS]), default=DEFAULT_RULE.method, help="For shares.")
@confidence_option
@weights_option
@request_options("estimate", "strata", "clusters")
@request_options("estimate", "anchors", multiple=True)
@click.option("--wave", type=click.IntRange(0), help="Only this wave.")
@click.option("--out", type=PATH, help="File to write.")
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
def estimate(
    folder: Path | str | None, channels: tuple[str, ...], yes: int | None, reports: int | None, mechanism: str | None,
    as_json: bool, engine: str | None, scheduler: str | None, interval: str, confidence: float | None,
    weights: Path | None, strata: str | None, clusters: str | None, anchors: tuple[str, ...],
    wave: int | None, out: Path | None, force: bool,
) -> None:  # fmt: skip
    """Count the reports in FOLDER, a path or s3://, and print the results.

    FOLDER is one that "sottovoce results export --format parquet" wrote, or it holds survey.yaml and reports.csv. The
    output has the format of "sottovoce results export". A folder of "sottovoce survey paper" has counts.csv instead.

    FOLDER may also be a data file (CSV, TSV, XLSX, ODS, Parquet, SPSS, Stata, SAS) of answers that were randomized
    elsewhere; --channel says how each column was.
    """
    rule = IntervalRule(interval, DEFAULT_RULE.confidence if confidence is None else confidence)
    alone = {"--yes": yes, "--n": reports, "--mechanism": mechanism}
    of_folder = any(given is not None for given in (engine, scheduler, wave))
    if (anchors or any(given is not None for given in (weights, strata, clusters))) and not is_data_file(folder):
        raise click.UsageError("--weights, --strata, --clusters and --anchor are for a data file, such as answers.csv")
    if any("=" not in each for each in anchors):
        raise click.UsageError("--anchor takes COLUMN=SHARE, the known share of yes, such as --anchor moon=0")
    if folder is None or any(given is not None for given in alone.values()):
        if folder is not None or None in alone.values() or of_folder or channels:
            raise click.UsageError("name a FOLDER or a data file; or --yes, --n and --mechanism, and nothing else")
        if (yes or 0) > (reports or 0):
            raise click.UsageError("--yes counts some of the reports of --n")
        counts = yes_no_counts(str(mechanism), yes or 0, reports or 0)
        _show_shares(estimate_counts(counts, str(mechanism), rule.method, rule.confidence), out, force, as_json)
    elif is_data_file(folder):
        if of_folder:
            raise click.UsageError("--engine, --scheduler and --wave are for a FOLDER")
        opened, (given, margins) = open_file(Path(folder), channels), weights_from(weights, of_data_file=True)
        given = given if margins is None else raked(opened.columns, margins).weights
        design: dict[str, Any] = {"strata": strata, "clusters": clusters}
        design["anchors"] = dict(each.rsplit("=", 1) for each in anchors)
        found = opened.shares(interval=rule.method, confidence=rule.confidence, weights=given, **design)
        _show_shares(found, out, force, as_json)
    elif channels or as_json:
        raise click.UsageError("--channel and --json are for a data file; a FOLDER knows its channels and prints JSON")
    else:
        _count_folder(folder, engine, scheduler, rule, wave, out, force)


def _count_folder(
    folder: Path | str, engine: str | None, scheduler: str | None, rule: IntervalRule, wave: int | None,
    out: Path | None, force: bool,
) -> None:  # fmt: skip
    if scheduler is not None and engine not in {None, DASK}:
        raise click.UsageError("--scheduler is for --engine dask")
    check_free(out, [".json"], force)
    if isinstance(folder, Path) and not folder.is_dir():
        raise SpecError(f'there is no such folder: "{folder}"')
    place = place_named(folder)
    if isinstance(place, LocalFolder) and not is_countable(place) and is_archive(place.path):
        results = results_of_folder(place.path, rule, wave)
    else:
        name = engine or ("duckdb" if scheduler is None else DASK)
        work = on_cluster(scheduler) if name == DASK else HERE[name]
        results = results_of(open_folder(place), work, partial(show_progress, what="counted"), rule, wave)
    print_results(results)
    write_json(export_document(results), out)


def _show_shares(found: JointResult, out: Path | None, force: bool, as_json: bool) -> None:
    """Print shares, and write them to a file if one is named."""
    check_free(out, [".json"], force)
    if out is not None:
        write_json(dict(found.document), out)
    show(dict(found.document), as_json)


@command(example="sottovoce results list-experiment answers.csv --count items --arm half")
@click.argument("file", type=PATH)
@request_options("list_experiment", "count", "second", "treated", multiple=True)
@request_options("list_experiment", "arm", "items")
@click.option("--method", type=click.Choice(["difference", "ml"]), help="[default: difference; with --formula, ml]")
@request_options("list_experiment", "formula", "direct", "confidence")
@click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
def list_experiment(file: Path, method: str | None, **given: Any) -> None:  # noqa: ANN401
    """Estimate a sensitive share from FILE (CSV, TSV, XLSX, ODS, Parquet, SPSS, Stata, SAS), a row for each person.

    One random half counted how many items of a list apply, the other half how many of a list with one item more.
    """
    if method == "difference" and given["formula"] is not None:
        raise click.UsageError("--formula goes with --method ml: a difference in means has no predictors")
    options, as_json, _ = split("list_experiment", given)
    show_file("list_experiment", file, {**({"formula": "~ 1"} if method == "ml" else {}), **options}, as_json)
