"""Shared parts of the analysis commands: run an analysis on the reports, and print its result."""

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from sottovoce.aggregator.analysis.text_report import PrintedTable, in_words
from sottovoce.aggregator.export.results_client.weight_files import read_margins, read_weights
from sottovoce.cli.results.survey_source import reports_of


def answer(kind: str, options: dict[str, Any], weights: Path | None, as_json: bool, place: dict[str, Any]) -> None:
    """
    Make an analysis and print it.

    Args:
        kind: of request.
        options: of it.
        weights: a file of margins, or of one weight a report.
        as_json: print the document itself.
        place: where the reports are.
    """
    as_margins = weights is not None and weights.suffix.lower() != ".csv"
    margins = read_margins(weights) if weights is not None and as_margins else None
    each = None if weights is None or as_margins else read_weights(weights)
    show(reports_of(**place).answer(kind, {**options, **given(margins=margins)}, each), as_json)


def given(**options: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the options that were given, i.e. are not None."""
    return {name: value for name, value in options.items() if value is not None}


def show(document: dict[str, Any], as_json: bool) -> None:
    """Print an analysis: as tables and sentences, or as the document itself."""
    if as_json:
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    for shown in in_words(document):
        _show(shown)


def _show(shown: PrintedTable) -> None:
    click.echo(shown.title)
    table = Table()
    for place, heading in enumerate(shown.headings):
        table.add_column(heading, justify="right" if place else "left")
    for line in shown.lines:
        table.add_row(*line)
    if shown.lines:
        Console().print(table)
    for sentence in shown.sentences:
        click.echo(sentence)
    click.echo()
