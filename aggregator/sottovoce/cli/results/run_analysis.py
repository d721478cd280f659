"""Shared parts of the analysis commands: run an analysis on the reports, and print its result."""

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from sottovoce.aggregator.analysis.planned_comparisons import planned_document
from sottovoce.aggregator.analysis.text_report import PrintedTable, in_words
from sottovoce.aggregator.export.results_client.sources import ReportSource
from sottovoce.aggregator.export.results_client.weight_files import read_margins, read_weights
from sottovoce.cli.results.survey_source import reports_of
from sottovoce.cli.terminal import waiting
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.file_errors import did_you_mean

_NAMES = {"rows", "columns", "within", "question", "outcome", "groups", "on", "cluster", "margins"}
"""Options of analyses that hold names of questions."""


def answer(kind: str, options: dict[str, Any], weights: Path | None, as_json: bool, place: dict[str, Any]) -> None:
    """Make an analysis and print it.

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
    show(ask(reports_of(**place), kind, {**options, **given(margins=margins)}, each), as_json)


def show_planned(reports: ReportSource, as_json: bool) -> None:
    """Make the planned comparisons of a survey and print them.

    Args:
        reports: what they are of.
        as_json: print the document itself.
    """
    show(planned_document(reports.survey, lambda options: ask(reports, "compare", options)), as_json)


def ask(reports: ReportSource, kind: str, options: dict[str, Any], weights: Any = None) -> dict[str, Any]:  # noqa: ANN401
    """Return the result of an analysis.

    Args:
        reports: what it is of.
        kind: of request.
        options: of it.
        weights: one a report.

    Raises:
        SurveyError: there is no such result; for an unknown question, the message suggests a similar name.
    """
    try:
        with waiting("Analysing the reports"):
            return reports.answer(kind, options, weights)
    except EstimateError as error:
        _suggest_question(str(error), options)
        raise


def _suggest_question(message: str, options: dict[str, Any]) -> None:
    """Name the unknown question that an error is about.

    Raises:
        EstimateError: there is one.
    """
    _, _, listed = message.partition("the survey asks no such question; there are: ")
    known = listed.split(", ")
    given_names = [name for key in _NAMES & options.keys() for name in _words(options[key])]
    for name in given_names:
        if listed and name.partition(".")[0] not in known:
            raise EstimateError(f'the survey has no question "{name}".{did_you_mean(name, known)} It asks: {listed}')


def _words(value: Any) -> list[str]:  # noqa: ANN401
    return [value] if isinstance(value, str) else list(value)


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
