"""``lint``: check a survey file, and show what it asks and costs."""

import json
import re
from pathlib import Path

import click
from sottovoce.aggregator.planning.lint import describe, findings, suggestions, warnings
from sottovoce.aggregator.surveys.privacy_limit import check_affordable
from sottovoce.aggregator.surveys.survey_file import places_in, read_survey_file
from sottovoce.cli.command import command
from sottovoce.client.page import languages
from sottovoce.shared.errors import SpecError

_POINTER = re.compile(r"(?<!\S)/[a-z_]+(/[a-z0-9_-]+)*")
"""A JSON pointer as findings have it: at their beginning, or in a list."""


@command(example="sottovoce lint exam.yaml")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the same, and the canonical survey, as JSON.")
def lint(path: Path, as_json: bool) -> None:
    """Check the survey file PATH and show what it asks of a respondent."""
    try:
        survey = read_survey_file(path)
        check_affordable(survey)
    except SpecError as error:
        if as_json:
            click.echo(json.dumps({"problems": [one._asdict() for one in error.problems]}, indent=2))
        raise
    if as_json:
        click.echo(json.dumps(findings(survey, languages()), ensure_ascii=False, indent=2))
        return
    place = places_in(path)

    def print_finding(kind: str, found: str) -> None:
        click.echo(f"{kind}: {_POINTER.sub(lambda pointer: place(pointer[0]), found)}", err=True)

    for line in describe(survey):
        click.echo(line)
    for warning in warnings(survey, languages()):
        print_finding("warning", warning)
    for suggestion in suggestions(survey):
        print_finding("suggestion", suggestion)
