"""Provide survey templates: complete questionnaires from fields of research, with the literature behind their items.

A template is a survey file under ``templates/``. The file ``about.yaml`` there has its purpose and, for each private
item, its source and the share or mean that studies found. The wording of all items is our own.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import NormalDist
from typing import Any

from sottovoce.aggregator.planning.question_channels import measure_of
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.shared.arms.arms import share_asked
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey, TextMap

CONFIDENCE = 0.95
"""Confidence level of the intervals whose half-widths are shown."""

PEOPLE = (1500, 2000)
"""Numbers of respondents for which half-widths are shown."""


@dataclass(frozen=True)
class Template:
    """Questionnaire to start from.

    Attributes:
        name: name of the template, as in ``sottovoce new``.
        title, summary: texts by language.
        document: the survey as written, with its shorthand.
        sources: literature of each private question, by its name.
        expected: expected share, or mean of a number, for which margins are computed, by the question's name.
    """

    name: str
    title: TextMap
    summary: TextMap
    document: Mapping[str, Any]
    sources: Mapping[str, str]
    expected: Mapping[str, float]


@dataclass(frozen=True)
class TemplateQuestion:
    """Private question of a template, with the literature that it follows.

    Attributes:
        label: its text by language.
        number: the estimate is a mean in the question's unit; else it is a share.
        expected: expected share or mean, for which the margins are computed.
        margins: half-widths of its 95 % interval, for each number in ``PEOPLE``.
    """

    label: TextMap
    source: str
    number: bool
    expected: float
    margins: tuple[float, ...]


@cache
def all_templates() -> tuple[Template, ...]:
    """Return all templates in the order in which they are offered."""
    return tuple(_template(name, about) for name, about in _notes().items())


def template_file(name: str) -> bytes:
    """Return the survey file of a template, with its comments; SpecError if there is no template of this name."""
    if name not in _notes():
        raise SpecError("there is no template of this name; sottovoce new --list names them")
    return files(__package__).joinpath("templates", f"{name}.yaml").read_bytes()


def margins(survey: Survey, expected: Mapping[str, float], people: int) -> dict[str, float]:
    """Return the half-widths of the 95 % intervals, z sqrt(v / n), by the question's name, for ``people`` reports.

    Here v is the variance of one report's score, and n is the number of reports that answer the question. Questions
    without an expected share, or mean of a number, are left out.
    """
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    found = {}
    for index in survey.private:
        question = survey.questions[index]
        if question.name in expected:
            variance = measure_of(question).variance(expected[question.name])
            found[question.name] = z * math.sqrt(variance / (people * float(share_asked(survey, index))))
    return found


def items_of(template: Template) -> tuple[float, tuple[TemplateQuestion, ...]]:
    """Return the epsilon of a report of a template, and its private questions with their margins."""
    survey = parse_survey(template.document)
    found = [margins(survey, template.expected, people) for people in PEOPLE]
    return survey.epsilon, tuple(
        TemplateQuestion(
            label=question.label,
            source=template.sources[question.name],
            number=question.domain.grid is not None,
            expected=template.expected[question.name],
            margins=tuple(each[question.name] for each in found),
        )
        for question in [survey.questions[index] for index in survey.private]
    )


def _template(name: str, about: Mapping[str, Any]) -> Template:
    document = parse_yaml(template_file(name))
    return Template(
        name=name,
        title=parse_survey(document).title,
        summary=about["summary"],
        document=document,  # type: ignore[arg-type]  # a survey was just read from it
        sources={item: notes["source"] for item, notes in about["items"].items()},
        expected={item: float(notes["expected"]) for item, notes in about["items"].items()},
    )


@cache
def _notes() -> dict[str, Any]:
    parsed = parse_yaml(files(__package__).joinpath("templates", "about.yaml").read_bytes())
    return dict(parsed)  # type: ignore[call-overload,no-any-return]  # our own file
