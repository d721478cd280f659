"""``init`` writes a survey to begin with, ``lint`` reads one and says what it costs or what is wrong with it."""

import json
import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import takewhile
from pathlib import Path

import click
from sottovoce.aggregator.authoring.templates import all_templates, template_file
from sottovoce.aggregator.planning.lint import describe, findings, suggestions, warnings
from sottovoce.aggregator.surveys.privacy_limit import check_affordable
from sottovoce.aggregator.surveys.survey_file import places_in, read_survey_file
from sottovoce.client.page import languages
from sottovoce.shared.errors import SpecError

_POINTER = re.compile(r"(?<!\S)/[a-z_]+(/[a-z0-9_-]+)*")
"""A JSON pointer as findings have it: at their beginning, or in a list."""


@click.command()
@click.argument("path", type=click.Path(path_type=Path), default="survey.yaml")
@click.option("--list", "as_list", is_flag=True, help="Name the templates and examples; write nothing.")
@click.option("--template", default="", help="Write this questionnaire in place of the sample.", metavar="NAME")
@click.option("--example", default="", help="Write this example in place of the sample.", metavar="NAME")
def init(path: Path, as_list: bool, template: str, example: str) -> None:
    """Write a sample survey to PATH."""
    examples = _examples()
    if as_list:
        for chosen in all_templates():
            click.echo(f"{chosen.name:20} {chosen.summary['en'].removesuffix('.')}")
        for name in examples:
            click.echo(f"{name:20} {_first_sentence(examples[name])}")
        return
    if example and example not in examples:
        raise SpecError("there is no example of this name; sottovoce init --list names them")
    if example and template:
        raise SpecError("--template and --example are two different surveys; name one of them")
    sample = (examples[example] if example else files("sottovoce.demo").joinpath("sample.yaml")).read_bytes()
    _write_new(path, template_file(template) if template else sample)
    click.echo(f"Wrote {path}. Next: sottovoce lint {path}", err=True)
    for source in _sources(template):
        click.echo(source, err=True)


def _write_new(path: Path, content: bytes) -> None:
    try:
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        raise SpecError("there is a file of this name already; it was left as it is") from None
    except OSError:
        raise SpecError("the file cannot be written") from None


def _sources(name: str) -> list[str]:
    """After whom each item of a template is; none for what is no template."""
    chosen = [template for template in all_templates() if template.name == name]
    return [f"  {item}: after {source}" for template in chosen for item, source in template.sources.items()]


def _examples() -> dict[str, Traversable]:
    """The file of each example by its name: question types first, then mechanisms."""
    folders = [files("sottovoce.examples").joinpath(name) for name in ("question_types", "mechanisms")]
    found = [sorted(folder.iterdir(), key=lambda file: file.name) for folder in folders]
    return {file.name.removesuffix(".yaml"): file for one in found for file in one}


def _first_sentence(file: Traversable) -> str:
    """Return the description of an example: the first sentence of the comment at its top."""
    lines = takewhile(lambda line: line.startswith("#"), file.read_text(encoding="utf-8").splitlines())
    comment = " ".join(line.removeprefix("#").strip() for line in lines)
    return re.split(r"\.(?: (?=[A-Z])|$)", comment)[0]  # not after "et al.", where a year follows


@click.command()
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

    def tell(kind: str, found: str) -> None:
        click.echo(f"{kind}: {_POINTER.sub(lambda pointer: place(pointer[0]), found)}", err=True)

    for line in describe(survey):
        click.echo(line)
    for warning in warnings(survey, languages()):
        tell("warning", warning)
    for suggestion in suggestions(survey):
        tell("suggestion", suggestion)
