"""Shared parts of the ``curator`` commands: choice of data and epsilon, and printing of answers."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
from sottovoce.aggregator.curator.data.data_set import DataSet, open_data_set
from sottovoce.aggregator.curator.data.survey_source import survey_data_set
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.surveys.database_clock import present
from sottovoce.cli.database import data_settings, open_survey

FILE = click.Path(path_type=Path, dir_okay=False)

declaration_option = click.option(
    "--declaration", type=FILE, help="What the columns hold. [default: the file's name with .yaml]"
)
survey_option = click.option("--survey", help="The public answers of this closed survey, instead of a FILE.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
epsilon_option = click.option("--epsilon", required=True, help="What this answer may cost, such as 0.5 or 1/2.")


def named_data_set(file: Path | None, declaration: Path | None, survey: str | None, data: Path | None) -> DataSet:
    """The data set that is named, with the folder of heads that is set.

    Args:
        file: CSV or Parquet, or None.
        declaration: of its declaration, or None for the one in the same folder.
        survey: a closed survey instead.
        data: the folder of its database.
    """
    if (file is None) == (survey is None):
        raise click.UsageError("name a FILE, or a closed survey with --survey")
    if file is not None:
        return open_data_set(file, declaration, Settings.from_environment().ledger_anchor_dir)
    settings = data_settings(data)
    storage = open_survey(data, survey or "")
    return survey_data_set(storage, survey or "", present(storage), settings.data, settings.ledger_anchor_dir)


def print_document(document: dict[str, Any], lines: Callable[[dict[str, Any]], Iterable[str]], as_json: bool) -> None:
    """Print a document.

    Args:
        document: JSON.
        lines: the same in words.
        as_json: which of both.
    """
    click.echo(json.dumps(document, indent=2, ensure_ascii=False) if as_json else "\n".join(lines(document)))
