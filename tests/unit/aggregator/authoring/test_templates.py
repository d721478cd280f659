"""Templates are good surveys whose totals and margins are those that are told of them."""

import copy
import math
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from sottovoce.aggregator.authoring.templates import Template, all_templates, margins, template_file
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.authoring.validation import problems_of, survey_of_draft
from sottovoce.aggregator.i18n.translator import LANGUAGES
from sottovoce.aggregator.planning.lint import warnings
from sottovoce.aggregator.surveys.privacy_limit import check_affordable
from sottovoce.shared.errors import SpecError
from sottovoce.shared.languages import languages_of, missing_texts
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Survey

TEMPLATES = {template.name: template for template in all_templates()}

TOTALS = {
    "one_question": "1.10",
    "exam": "3.30",
    "drugs": "4.20",
    "harassment": "3.30",
    "violence": "3.30",
    "benefits": "4.20",
    "sexual_health": "4.00",
    "vote": "3.10",
    "protection": "1.10",
}
POINTS = {
    # 1,500 people: the margin in points, of partners in people, at the share that is expected.
    ("one_question", "copied"): 4.8,
    ("exam", "copied"): 5.6,
    ("drugs", "cannabis"): 5.4,
    ("harassment", "bullied"): 5.4,
    ("violence", "hurt"): 5.2,
    ("violence", "controlled"): 5.6,
    ("benefits", "income_unreported"): 5.4,
    ("benefits", "undeclared_purchase"): 3.2,
    ("sexual_health", "infection"): 6.6,
    ("sexual_health", "tested"): 4.5,
    ("vote", "party"): 3.6,
    ("vote", "abstained"): 4.8,
    # Half of the people are in its arm.
    ("protection", "copied"): 6.8,
}


def _survey(template: Template, declining: bool = False) -> Survey:
    """As it is, or with a category for whoever prefers not to say wherever a question has categories."""
    document: dict[str, Any] = copy.deepcopy(dict(template.document))
    for question in document["questions"]:
        if declining and "mechanism" in question and question["type"] != "integer":
            question["absent_category"] = True
    return parse_survey(document)


def _by_hand(epsilon: float, options: int, share: float, reports: float) -> float:
    """The half-width of a share through k-ary randomized response, from nothing but epsilon."""
    a, b = math.exp(epsilon) / (math.exp(epsilon) + options - 1), 1 / (math.exp(epsilon) + options - 1)
    reported = b + (a - b) * share
    return 1.959964 * math.sqrt(reported * (1 - reported) / reports) / (a - b)


def test_totals_are_as_told_in_this_order() -> None:
    for declining in (False, True):
        told = [(name, show_epsilon(_survey(each, declining).epsilon)) for name, each in TEMPLATES.items()]
        assert told == list(TOTALS.items())


def test_margins_are_as_told() -> None:
    """For 1,500 people, rounded to a tenth of a point; half a partner, of the mean."""
    of = {name: margins(_survey(template), template.expected, 1500) for name, template in TEMPLATES.items()}
    assert {(name, item): round(100 * of[name][item], 1) for name, item in POINTS} == POINTS
    assert round(of["sexual_health"]["partners"], 1) == 0.5


@pytest.mark.parametrize("name", TOTALS)
def test_margins_follow_from_the_channels(name: str) -> None:
    """Of every share, with and without declining, against the formula written out again."""
    template = TEMPLATES[name]
    for declining, people in product((False, True), (1500, 2000)):
        survey = _survey(template, declining)
        told = margins(survey, template.expected, people)
        private = [survey.questions[index] for index in survey.private]
        reports = people * (survey.ask or len(private)) / len(private) / max(len(survey.arms), 1)
        assert set(told) == {question.name for question in private}
        for question in (each for each in private if each.type != "integer"):
            options = len(question.options)
            expected = _by_hand(question.epsilon, options, template.expected[question.name], reports)
            assert told[question.name] == pytest.approx(expected, rel=1e-4)
            assert options == (8 if question.name == "party" else 2) + declining


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=lambda template: template.name)
def test_template_is_modest_sourced_and_free_of_problems(template: Template) -> None:
    """At most four private items and one cohort, no total above 4.2; nothing to warn of in two languages or more."""
    survey = _survey(template)
    check_affordable(survey)

    assert len(survey.private) <= 4
    public = [question for question in survey.questions if question.mechanism is None]
    assert ["cohort" in question.marks for question in public] == [True, *[False] * 3 * bool(survey.arms)]
    assert survey.epsilon <= 4.2
    # "Badly", odds of 2 to 1, is used by none.
    assert all(survey.questions[index].epsilon > math.log(2) + 1e-9 for index in survey.private)
    private = {survey.questions[index].name for index in survey.private}
    assert set(template.sources) == set(template.expected) == private
    assert warnings(survey, LANGUAGES) == []
    assert not any(missing_texts(survey).values())
    assert len(languages_of(survey)) >= 2
    assert set(template.summary) == set(template.title) == set(languages_of(survey))


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=lambda template: template.name)
def test_draft_of_a_template_can_be_published(template: Template) -> None:
    draft = draft_of(template.document)
    assert survey_of_draft(draft, template.name).epsilon == pytest.approx(_survey(template).epsilon)
    assert [problem.key for problem in problems_of(draft, template.name) if problem.grave] == []
    for bound in ("", None):
        numbers = [card for card in draft.cards if card.asked.get("min") is not None]
        emptied = [replace(card, asked={**card.asked, "min": bound}) for card in numbers]
        found = [problem.key for card in emptied for problem in problems_of(replace(draft, cards=(card,)), "x")]
        assert found.count("no_bounds") == len(numbers)


def test_unknown_template_is_refused() -> None:
    for name in ("about", "../letters", ""):
        with pytest.raises(SpecError, match="no template of this name"):
            template_file(name)
