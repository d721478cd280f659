"""``init`` writes a survey to begin with, ``lint`` reads one and says what it costs or what is wrong with it."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
from sottovoce.aggregator.planning.survey_file import read_survey_file
from sottovoce.client.page import languages as page_languages
from sottovoce.shared.errors import SpecError
from sottovoce.shared.languages import languages_of, missing_texts
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Question, Survey

MANY = 8
"""So many missing texts are named one by one."""

FEW = 10
"""New answers to one question, on average, below which a new snapshot says much about each of them."""

MUCH = 6.0
"""A report above this total is worth a warning: e^6 is odds of 400 to 1."""


@click.command()
@click.argument("path", type=click.Path(path_type=Path), default="survey.yaml")
def init(path: Path) -> None:
    """Write a sample survey to PATH."""
    sample = files("sottovoce.demo").joinpath("sample.yaml").read_bytes()
    try:
        with path.open("xb") as file:
            file.write(sample)
    except FileExistsError:
        raise SpecError("there is a file of this name already; it was left as it is") from None
    except OSError:
        raise SpecError("the file cannot be written") from None
    click.echo(f"Wrote {path}. Next: sottovoce lint {path}", err=True)


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the same, and the canonical survey, as JSON.")
def lint(path: Path, as_json: bool) -> None:
    """Check the survey file PATH and show what it asks of a respondent."""
    survey = read_survey_file(path)
    if as_json:
        click.echo(json.dumps(findings(survey), ensure_ascii=False, indent=2))
        return
    for line in describe(survey):
        click.echo(line)
    for warning in warnings(survey):
        click.echo(f"warning: {warning}", err=True)


def findings(survey: Survey) -> dict[str, Any]:
    """What lint finds, for programs: costs, missing texts by language, warnings, and the survey in canonical form."""
    return {
        "survey": survey.name,
        "revision": survey.revision,
        "digest": survey.digest,
        "epsilon": survey.epsilon,
        "questions": [
            {
                "name": question.name,
                "type": question.type,
                "public": question.mechanism is None,
                "epsilon": question.epsilon,
            }
            for question in survey.questions
        ],
        "languages": languages_of(survey),
        "missing_texts": missing_texts(survey),
        "warnings": warnings(survey),
        "document": survey.document,
    }


def describe(survey: Survey) -> list[str]:
    """What the survey costs, a line for each question and one for the whole."""
    lines = [f"{survey.name}, revision {survey.revision}, digest {survey.digest}"]
    hidden = {question.name for item in survey.items if item.visible_if for question in item.questions}
    width = max(len(question.name) for question in survey.questions)
    for question in survey.questions:
        if question.mechanism is None:
            how = "public, sent as it is" + (", divides respondents into cohorts" if question.cohort else "")
        else:
            how = f"{describe_mechanism(question.mechanism)}, epsilon {show_epsilon(question.epsilon)}"
        lines.append(f"  {question.name:<{width}}  {question.type:<15}  {how}{_absence(question, hidden)}")
    if survey.ask is not None:
        private = len(survey.private)
        lines.append(
            f"  each respondent is asked {survey.ask} of the {private} private questions, drawn by the device: about "
            f"{survey.ask / private:.0%} of the reports answer each of them; a pair of them, "
            f"{survey.ask * (survey.ask - 1) / (private * (private - 1)):.0%}"
        )
    if survey.own_coin:
        lines.append("  respondents toss a coin or a die themselves, and the device adds nothing")
    lines.append(f"  texts in {', '.join(languages_of(survey))}")
    lines.append(f"  a whole report spends epsilon {show_epsilon(survey.epsilon)}")
    if len(survey.waves) > 1:
        times = len(survey.waves)
        total = show_epsilon(survey.epsilon_of_memo + times * survey.epsilon_of_wave)
        lines.append(f"  in {times} waves, {total} for whoever answers in all of them")
    return lines


def _absence(question: Question, hidden: set[str]) -> str:
    if question.absent is None:
        return ""
    how = "a category of its own" if question.domain.absent else f"sent as {question.answer(question.absent)}"
    return f", {'hidden from some, ' if question.name in hidden else ''}no answer is {how}"


def describe_mechanism(mechanism: Mechanism) -> str:
    """Its name and its numbers; of a table its size."""
    numbers = []
    for key, value in mechanism.dump().items():
        if isinstance(value, dict):
            value = ", ".join(str(number) for name, number in value.items() if name != "name")  # noqa: PLW2901
        if isinstance(value, list):
            value = f"{len(value)} x {len(value[0])}" if isinstance(value[0], list) else len(value)  # noqa: PLW2901
        if key != "name":
            numbers.append(f"{key} {value}")
    return f"{mechanism.name} ({', '.join(numbers)})"


def warnings(survey: Survey) -> list[str]:
    """What is allowed but seldom wise."""
    found = []
    if survey.release_batch == 1:
        found.append("/privacy/release_batch: results move with every single report")
    if survey.ask is not None and survey.release_batch * survey.ask < FEW * len(survey.private):
        found.append(
            f"/privacy/release_batch: of {survey.release_batch} new reports, fewer than {FEW} on average answer a "
            "given question, since each person is asked few of them"
        )
    if survey.epsilon > MUCH:
        found.append(f"a report spends more than epsilon {MUCH:g}; ask fewer questions, or with more noise")
    if all(question.mechanism is None for question in survey.questions):
        found.append("every question is public; nothing is randomized")
    return found + language_warnings(survey)


def language_warnings(survey: Survey) -> list[str]:
    """Texts that people will read in another language than the rest."""
    found = []
    for tag, missing in missing_texts(survey).items():
        if "/title" in missing:
            found.append(f"{tag}: the survey has no title in this language, so the form does not offer it")
        elif missing:
            shown = ", ".join(missing[:MANY]) + (f" and {len(missing) - MANY} more" if len(missing) > MANY else "")
            found.append(f"{tag}: shown in another language: {shown}")
        if tag.split("-")[0] not in {spoken.split("-")[0] for spoken in page_languages()}:
            found.append(f"{tag}: the form's own sentences are not in this language")
    return found
