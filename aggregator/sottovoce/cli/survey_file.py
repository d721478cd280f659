"""``new`` and ``lint``: write a survey file to begin with, check it, and show what it asks and costs.

It begins as a sample, a template, an example, or an XLSForm workbook's survey.
"""

import json
import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import takewhile
from pathlib import Path
from typing import Any

import click
from sottovoce.aggregator.authoring.templates import all_templates, template_file
from sottovoce.aggregator.authoring.xlsform import read_xlsform
from sottovoce.aggregator.authoring.xlsx_safety import MAX_BYTES
from sottovoce.aggregator.planning.lint import describe, findings, suggestions, warnings
from sottovoce.aggregator.surveys.privacy_limit import check_affordable
from sottovoce.aggregator.surveys.survey_file import places_in, read_survey_file, yaml_text
from sottovoce.cli.command import FILE, PATH, check_free, command, write_text
from sottovoce.shared.errors import SpecError, cannot_read, did_you_mean
from sottovoce.shared.languages import LANGUAGES
from sottovoce.shared.parse_survey import parse_survey

_POINTER = re.compile(r"(?<!\S)/[a-z_]+(/[a-z0-9_-]+)*")
"""A JSON pointer as findings have it: at their beginning, or in a list."""


@command(example="sottovoce new exam.yaml\nsottovoce new exam.yaml --from form.xlsx")
@click.argument("path", type=FILE, default="survey.yaml")
@click.option("--list", "as_list", is_flag=True, help="Name the templates and examples; write nothing.")
@click.option("--template", default="", help="Write this questionnaire in place of the sample.", metavar="NAME")
@click.option("--example", default="", help="Write this example in place of the sample.", metavar="NAME")
@click.option("--from", "workbook", type=FILE, help="Import this XLSForm workbook (.xlsx), and say what was left out.")
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
def new(path: Path, as_list: bool, template: str, example: str, workbook: Path | None, force: bool) -> None:
    """Write a survey file to begin with to PATH (survey.yaml).

    Without options it is a small sample. Edit it, then check it with "sottovoce lint".
    """
    if as_list:
        _list()
        return
    if len([each for each in (template, example, workbook) if each]) > 1:
        raise SpecError("--template, --example and --from are different surveys; name one of them")
    check_free(path, [".yaml", ".yml"], force)
    text, notes = _text(template, example, workbook)
    write_text(text, path)
    for note in notes:
        click.echo(note, err=True)
    click.echo(f"Wrote {path}. Next: sottovoce lint {path}", err=True)


def _list() -> None:
    for template in all_templates():
        click.echo(f"{template.name:20} {template.summary['en'].removesuffix('.')}")
    for name, file in _examples().items():
        click.echo(f"{name:20} {_first_sentence(file)}")


def _text(template: str, example: str, workbook: Path | None) -> tuple[str, list[str]]:
    """Return the text of the survey file, and notes on where it is from or what was left out."""
    if workbook is not None:
        made = read_xlsform(_read(workbook))
        return yaml_text(made.document), [*(f"left out: {each}" for each in made.left_out), *_too_dear(made.document)]
    if template:
        _check_known("template", template, [each.name for each in all_templates()])
        return template_file(template).decode(), _sources(template)
    sample: Traversable = files("sottovoce.demo").joinpath("sample.yaml")
    if example:
        _check_known("example", example, list(_examples()))
        sample = _examples()[example]
    return sample.read_text(encoding="utf-8"), []


def _too_dear(document: dict[str, Any]) -> list[str]:
    """Return what devices do not allow of an imported survey, which is written all the same."""
    try:
        check_affordable(parse_survey(document))
    except SpecError as error:
        return [f"to change before it can be published: {problem.message}" for problem in error.problems]
    return []


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SpecError(cannot_read(path, error)) from None


def _check_known(kind: str, name: str, known: list[str]) -> None:
    if name not in known:
        similar = did_you_mean(name, known)
        raise SpecError(f'the {kind} "{name}" does not exist.{similar} Run "sottovoce new --list" to see all')


def _sources(name: str) -> list[str]:
    """Return after whom each item of a template is; nothing for what is no template."""
    found = [template for template in all_templates() if template.name == name]
    return [f"  {item}: after {source}" for template in found for item, source in template.sources.items()]


def _examples() -> dict[str, Traversable]:
    """Return the file of each example by its name: question types first, then mechanisms."""
    folders = [files("sottovoce.examples").joinpath(name) for name in ("question_types", "mechanisms")]
    found = [sorted(folder.iterdir(), key=lambda file: file.name) for folder in folders]
    return {file.name.removesuffix(".yaml"): file for one in found for file in one}


def _first_sentence(file: Traversable) -> str:
    """Return the description of an example: the first sentence of the comment at its top."""
    lines = takewhile(lambda line: line.startswith("#"), file.read_text(encoding="utf-8").splitlines())
    comment = " ".join(line.removeprefix("#").strip() for line in lines)
    return re.split(r"\.(?: (?=[A-Z])|$)", comment)[0]  # not after "et al.", where a year follows


@command(example="sottovoce lint exam.yaml")
@click.argument("path", type=PATH)
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
        click.echo(json.dumps(findings(survey, [*LANGUAGES]), ensure_ascii=False, indent=2))
        return
    place = places_in(path)

    def print_finding(kind: str, found: str) -> None:
        click.echo(f"{kind}: {_POINTER.sub(lambda pointer: place(pointer[0]), found)}", err=True)

    for line in describe(survey):
        click.echo(line)
    for warning in warnings(survey, [*LANGUAGES]):
        print_finding("warning", warning)
    for suggestion in suggestions(survey):
        print_finding("suggestion", suggestion)
