"""
The templates: complete questionnaires of real fields, each with the literature that its items follow.

A template is a survey file under ``templates/``; ``about.yaml`` there says what it is for, and of each private item
after whom it is and which share studies found. The wording is our own throughout.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import NormalDist
from typing import Any

from sottovoce.aggregator.planning.question_channels import is_number, measure_of
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey, TextMap

CONFIDENCE = 0.95
"""Of the intervals whose half-widths are told."""

PEOPLE = (1500, 2000)
"""For so many they are told."""


@dataclass(frozen=True)
class Template:
    """
    One questionnaire to start from.

    Attributes:
        name: what it is asked for by.
        title, summary: by language.
        document: the survey as it is written, shorthand and all.
        sources: after whom each private question is, by its name.
        expected: the share, of a number the mean, for which a margin is told, by the question's name.
    """

    name: str
    title: TextMap
    summary: TextMap
    document: Mapping[str, Any]
    sources: Mapping[str, str]
    expected: Mapping[str, float]


@dataclass(frozen=True)
class TemplateQuestion:
    """
    A private question of a template.

    Attributes:
        label: its text by language.
        source: after whom it is.
        number: it is a number, so that what follows is a mean in its unit; else a share.
        expected: for which margins are told.
        margins: half-widths of its 95 % interval, with ``PEOPLE``.
    """

    label: TextMap
    source: str
    number: bool
    expected: float
    margins: tuple[float, ...]


def all_templates() -> tuple[Template, ...]:
    """Every template, in the order in which they are offered."""
    return tuple(_template(name, about) for name, about in _about().items())


def template_file(name: str) -> bytes:
    """
    The survey file of a template, with its comments.

    Raises:
        SpecError: there is none of this name.
    """
    if name not in _about():
        raise SpecError("there is no template of this name; sottovoce init --list names them")
    return files(__package__).joinpath("templates", f"{name}.yaml").read_bytes()


def margins(survey: Survey, expected: Mapping[str, float], people: int) -> dict[str, float]:
    """
    Half-widths of the 95 % intervals, by the usual formula: z sqrt(v / n), n the reports that answer the question.

    Args:
        survey: of a template, or as its author changed it.
        expected: share, or mean of a number, by the question's name; questions without one are left out.
        people: who send a report.
    """
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    told = {}
    for index in survey.private:
        question = survey.questions[index]
        if question.name in expected:
            variance = measure_of(question).variance(expected[question.name])
            told[question.name] = z * math.sqrt(variance / (people * _share_asked(survey)))
    return told


def items_of(template: Template) -> tuple[float, tuple[TemplateQuestion, ...]]:
    """What a report of a template costs as epsilon, and its private questions with what they give."""
    survey = parse_survey(template.document)
    found = [margins(survey, template.expected, people) for people in PEOPLE]
    private = [survey.questions[index] for index in survey.private]
    return survey.epsilon, tuple(
        TemplateQuestion(
            label=question.label,
            source=template.sources[question.name],
            number=is_number(question),
            expected=template.expected[question.name],
            margins=tuple(each[question.name] for each in found),
        )
        for question in private
    )


def _share_asked(survey: Survey) -> float:
    """Of the reports, which answer a given private question."""
    return 1.0 if survey.ask is None else survey.ask / len(survey.private)


def _template(name: str, about: Mapping[str, Any]) -> Template:
    document = parse_yaml(template_file(name))
    return Template(
        name=name,
        title=parse_survey(document).title,
        summary=about["summary"],
        document=document,  # type: ignore[arg-type]  # a survey was just read from it
        sources={item: said["source"] for item, said in about["items"].items()},
        expected={item: float(said["expected"]) for item, said in about["items"].items()},
    )


@cache
def _about() -> dict[str, Any]:
    told = parse_yaml(files(__package__).joinpath("templates", "about.yaml").read_bytes())
    return dict(told)  # type: ignore[call-overload,no-any-return]  # our own file
