"""Source of the reports for an analysis: a data folder, an aggregator, or a folder of files."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from sottovoce.aggregator.accounts.audit_log import snapshot_of
from sottovoce.aggregator.analysis.data_file.read_table import FORMATS
from sottovoce.aggregator.analysis.estimates import revisions_of
from sottovoce.aggregator.export.results_client.http_source import AddressReports, read_key
from sottovoce.aggregator.export.results_client.open_data import DataReports, OpenData, open_data, read_channels
from sottovoce.aggregator.export.results_client.sources import FolderReports, ReportSource, StoredReports
from sottovoce.aggregator.storage.audit_log.events import MACHINE, RESULTS_READ
from sottovoce.aggregator.surveys.database_clock import present
from sottovoce.cli.database import data_option, data_settings, open_storage
from sottovoce.cli.place import PlaceName, tell

_OPTIONS = (
    click.argument("survey", required=False),
    click.option("--from", "folder", type=PlaceName(), default=None, help="A folder of files, or s3://, instead."),
    click.option("--url", default=None, help="An aggregator instead, with a key in SOTTOVOCE_KEY."),
    click.option("--key-file", type=click.Path(path_type=Path), default=None, help="The file that holds the key."),
    data_option,
    click.option("--channel", "channels", multiple=True, help="Of a data file: COLUMN=CHANNEL, or a YAML of channels."),
    click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output."),
)


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The argument SURVEY and the options of all analyses."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def reports_of(
    survey: str | None,
    folder: Path | str | None,
    url: str | None,
    key_file: Path | None,
    data: Path | None,
    channels: Sequence[str] = (),
) -> ReportSource:
    """
    The reports that are asked about.

    Args:
        survey: its name, or a data file; of a folder of files it may be left out.
        folder: of files, or of Parquet in a bucket.
        url: of an aggregator.
        key_file: holds a researcher's key; without, the environment does.
        data: the folder of the database.
        channels: of the columns of a data file.

    Raises:
        SurveyError: they are not there.
    """
    if survey is not None and is_data_file(survey):
        return DataReports(open_file(Path(survey), channels).columns)
    if channels:
        raise click.UsageError("--channel is for a data file, such as answers.csv, in the place of SURVEY")
    if sum(place is not None for place in (folder, url, data)) > 1:
        raise click.UsageError("--from, --url and --data are three places: name one")
    if folder is not None:
        return FolderReports(folder, survey)
    if survey is None:
        raise click.UsageError("name the SURVEY, or a folder of files with --from")
    if url is not None:
        return AddressReports(url, survey, read_key(key_file))
    storage = open_storage(data_settings(data))
    revisions = revisions_of(storage, survey)
    if revisions:
        storage.journal.append_once(RESULTS_READ, MACHINE, f"{survey} {snapshot_of(revisions)}")
    return StoredReports(storage, survey, lambda: present(storage), tell)


def is_data_file(name: str) -> bool:
    """Return True for the name of a data file: no survey has a name with a dot."""
    return Path(name).suffix.lower() in FORMATS


def open_file(path: Path, channels: Sequence[str]) -> OpenData:
    """
    Open a data file with the channels that were given as ``COLUMN=CHANNEL``, or in YAML files.

    Raises:
        SurveyError: the file or a channel is wrong; the message says where.
    """
    found: dict[str, Any] = {}
    for words in channels:
        if "=" not in words and Path(words).suffix.lower() in {".yaml", ".yml"}:
            given = dict(read_channels(Path(words)))
        else:
            column, equals, text = words.partition("=")
            if not equals or not column.strip():
                raise click.UsageError("--channel is written as 'COLUMN=CHANNEL', such as 'cheated=coin_flip'")
            given = {column.strip(): text.strip()}
        if twice := sorted(given.keys() & found.keys()):
            raise click.UsageError(f"--channel gives column '{twice[0]}' two channels")
        found |= given
    return open_data(path, found)
