"""``export``: the results of a survey as JSON."""

import json
from pathlib import Path

import click
from sottovoce.aggregator.estimators import DEFAULT_RULE
from sottovoce.aggregator.estimators.intervals import METHODS
from sottovoce.aggregator.results.analysis import analyse, revisions_of
from sottovoce.aggregator.results.export import export_document
from sottovoce.cli.database import data_option, data_settings, open_storage
from sottovoce.shared.errors import StorageError


@click.command()
@click.argument("name")
@click.option("--cohort", default=None, help="Only this cohort.")
@click.option(
    "--interval", type=click.Choice(list(METHODS)), default=DEFAULT_RULE.method, show_default=True, help="For shares."
)
@click.option("--wave", type=click.IntRange(0), default=None, help="Only this wave.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default=None, help="File to write.")
@data_option
def export(
    name: str, cohort: str | None, interval: str, wave: int | None, out: Path | None, data: Path | None
) -> None:
    """Write the results of the survey NAME as JSON (sottovoce-export/1)."""
    revisions = revisions_of(open_storage(data_settings(data)), name)
    if not revisions:
        raise StorageError("there is no survey of this name in the data folder")
    write_json(export_document(analyse(revisions, cohort, interval, wave)), out)


def write_json(document: object, out: Path | None) -> None:
    """Write to a file that appears whole or not at all, or to standard output."""
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if out is None:
        click.echo(text, nl=False)
    else:
        write_text(text, out)


def write_text(text: str, out: Path) -> None:
    """Write to a file that appears whole or not at all."""
    part = out.with_name(out.name + ".part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(out)
    except OSError:
        raise StorageError("the file cannot be written") from None
