"""Source of the reports for an analysis: a data folder, an aggregator, or a folder of files."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from sottovoce.aggregator.accounts.audit_log import snapshot_of
from sottovoce.aggregator.analysis.described_people import AMONG, AMONG_WITH_ANCHORS
from sottovoce.aggregator.analysis.estimates import revisions_of
from sottovoce.aggregator.export.results_client.http_source import AddressReports, read_key
from sottovoce.aggregator.export.results_client.open_data import DataReports
from sottovoce.aggregator.export.results_client.sources import FolderReports, ReportSource, StoredReports
from sottovoce.aggregator.storage.audit_log.events import MACHINE, RESULTS_READ
from sottovoce.aggregator.surveys.database_clock import present
from sottovoce.cli.command import Number
from sottovoce.cli.database import data_option, open_survey
from sottovoce.cli.place import PlaceName, show_progress
from sottovoce.cli.results.data_file import channel_option, is_data_file, open_file

_OPTIONS = (
    click.argument("survey", required=False),
    click.option("--from", "folder", type=PlaceName(), default=None, help="A folder of files, or s3://, instead."),
    click.option("--url", default=None, help="An aggregator instead, with a key in SOTTOVOCE_KEY."),
    click.option("--key-file", type=click.Path(path_type=Path), default=None, help="The file that holds the key."),
    data_option,
    channel_option,
    click.option(
        "--covariates",
        type=click.Path(path_type=Path),
        default=None,
        help="With --from: a file of your own columns, such as arm, one line for each report.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output."),
)

wave_option = click.option("--wave", type=click.IntRange(0), default=None, help="Only this wave, counted from 0.")
among_option, among_careful_option = (
    click.option(
        "--among", type=click.Choice(people), default=None, help="[default: those who answered, where they are known]"
    )
    for people in (AMONG, AMONG_WITH_ANCHORS)
)
where_option = click.option(
    "--where", default=None, help='Only people of a subset: "year = first and age >= 18", by public questions.'
)
confidence_option = click.option(
    "--confidence",
    type=Number(0.5, 1, max_open=True),
    default=None,
    help="Level of the limits. [default: 0.95]",
)
weights_option = click.option(
    "--weights", type=click.Path(path_type=Path), help="Margins (.yaml, .json), or one a report (.csv)."
)


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The argument SURVEY and the options of all analyses."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def reports_of(  # noqa: PLR0913, PLR0917 - one option each
    survey: str | None,
    folder: Path | str | None,
    url: str | None,
    key_file: Path | None,
    data: Path | None,
    channels: Sequence[str] = (),
    covariates: Path | None = None,
) -> ReportSource:
    """The reports that are asked about.

    Args:
        survey: its name, or a data file; of a folder of files it may be left out.
        folder: of files, or of Parquet in a bucket.
        url: of an aggregator.
        key_file: holds a researcher's key; without, the environment does.
        data: the folder of the database.
        channels: of the columns of a data file.
        covariates: file of columns to add to the reports of a folder.

    Raises:
        SurveyError: they are not there.
    """
    if covariates is not None and folder is None:
        raise click.UsageError("--covariates is for --from: only the reports in files have an order")
    if survey is not None and is_data_file(survey):
        return DataReports(open_file(Path(survey), channels).columns)
    if channels:
        raise click.UsageError("--channel is for a data file, such as answers.csv, in the place of SURVEY")
    if sum(place is not None for place in (folder, url, data)) > 1:
        raise click.UsageError("--from, --url and --data are three places: name one")
    if folder is not None:
        return FolderReports(folder, survey, covariates)
    if survey is None:
        raise click.UsageError("name the SURVEY, or a folder of files with --from")
    if url is not None:
        return AddressReports(url, survey, read_key(key_file))
    storage = open_survey(data, survey)
    storage.journal.append_once(RESULTS_READ, MACHINE, f"{survey} {snapshot_of(revisions_of(storage, survey))}")
    return StoredReports(storage, survey, lambda: present(storage), show_progress)
