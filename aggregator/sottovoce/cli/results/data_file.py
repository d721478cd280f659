"""Data files of answers that were randomized elsewhere, and counts alone, as sources of ``results``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from sottovoce.aggregator.analysis.data_file.parse_channel import yes_no_counts
from sottovoce.aggregator.analysis.data_file.read_table import FORMATS
from sottovoce.aggregator.estimators import IntervalRule
from sottovoce.aggregator.export.results_client.open_data import OpenData, open_data, read_channels
from sottovoce.aggregator.export.results_client.open_data import estimate as estimate_counts
from sottovoce.aggregator.export.results_client.open_results import JointResult

channel_option = click.option(
    "--channel", "channels", multiple=True, help="Of a data file: COLUMN=CHANNEL, or a YAML file of channels."
)


def is_data_file(name: str | Path | None) -> bool:
    """Return True for the name of a data file: no survey has a name with a dot."""
    return name is not None and Path(name).suffix.lower() in FORMATS and not Path(name).is_dir()


def open_file(path: Path, channels: Sequence[str]) -> OpenData:
    """Open a data file with the channels that were given as ``COLUMN=CHANNEL``, or in YAML files.

    Raises:
        SurveyError: the file or a channel is wrong; the message says where.
    """
    found: dict[str, Any] = {}
    for words in channels:
        given = _channels(words)
        if twice := sorted(given.keys() & found.keys()):
            raise click.UsageError(f"--channel gives column '{twice[0]}' two channels")
        found |= given
    opened = open_data(path, found)
    for note in opened.notes:
        click.echo(f"Note: {note}", err=True)
    return opened


def _channels(words: str) -> dict[str, Any]:
    column, equals, text = words.partition("=")
    if not equals and Path(words).suffix.lower() in {".yaml", ".yml"}:
        return dict(read_channels(Path(words)))
    if not equals or not column.strip():
        raise click.UsageError("--channel is written as 'COLUMN=CHANNEL', such as 'cheated=coin_flip'")
    return {column.strip(): text.strip()}


def shares_of_counts(mechanism: str, yes: int, reports: int, rule: IntervalRule) -> JointResult:
    """Return the share that counts alone give.

    Args:
        mechanism: text of the channel.
        yes: number of reports that say yes; of the crosswise design, that say "same".
        reports: number of all reports.
        rule: method and level of the limits.
    """
    if yes > reports:
        raise click.UsageError("--yes counts some of the reports of --n")
    return estimate_counts(yes_no_counts(mechanism, yes, reports), mechanism, rule.method, rule.confidence)
