"""Names of options and groups, and numbers of people, as the page of results tells them."""

from math import ceil, floor

from sottovoce.aggregator.analysis.diagnostics import CountWarning
from sottovoce.aggregator.analysis.estimates import CohortGroup, SurveyResults
from sottovoce.aggregator.analysis.finite_population import Population
from sottovoce.aggregator.analysis.worked_example import limits
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.shared.spec import Question, Survey


def labels_of(survey: Survey, question: Question, words: Words) -> dict[str, str]:
    """
    What each option of a question is called.

    Args:
        survey: for its own language.
        question: one of its questions.
        words: the reader's language.
    """
    named = {choice.name: words.text(choice.label, survey.default_language) for choice in question.choices}
    said = {"yes": "results_yes", "no": "results_no", "mean": "results_mean", "absent": "results_no_answer"}
    return {option: words.say(key) for option, key in said.items()} | named


def title_of(survey: Survey, question: Question, words: Words) -> str:
    """
    The question's text; of two with the same text, each with its name, so that they are told apart by ear too.

    Args:
        survey: whose question it is.
        question: one of its questions.
        words: the reader's language.
    """
    texts = [words.text(each.label, survey.default_language) for each in survey.questions]
    own = words.text(question.label, survey.default_language)
    return f"{own} ({question.name})" if texts.count(own) > 1 else own


def name_of_group(survey: Survey, group: CohortGroup, words: Words) -> str:
    """
    The names of the options of a group of cohorts.

    Args:
        survey: whose cohorts they are.
        group: of them.
        words: the reader's language.
    """
    if survey.cohort is None:
        return group.name
    labels = labels_of(survey, survey.questions[survey.cohort], words)
    return ", ".join(labels.get(option, option) for option in group.options)


def people_in_words(estimate: Estimate, group: Population, words: Words) -> str:
    """
    A share as a number of people: exactly of these, where all have answered, else of the whole group.

    Args:
        estimate: of a share.
        group: the people.
        words: the reader's language.
    """
    exact = group.count(estimate)
    if exact is not None:
        return words.say("results_class", count=exact.people, of=exact.of, low=exact.low, high=exact.high)
    if estimate.clipped is None:
        return ""
    # The group's limits must not be narrower than the share's.
    of, shares = group.of, limits(estimate, group.refused == "open")
    low, high = floor(shares[0] * of), ceil(shares[1] * of)
    return words.say("results_count", count=round(estimate.clipped * of), of=of, low=low, high=high)


def alarm_in_words(alarm: CountWarning, results: SurveyResults, invited: int | None, words: Words) -> str:
    """
    What looks wrong, and what to do.

    Args:
        alarm: one of the alarms.
        results: what is shown.
        invited: people in the group.
        words: the reader's language.
    """
    key = f"results_alarm_{alarm.kind}"
    if alarm.question is not None:
        return words.say(key, question=title_of(results.survey, alarm.question, words))
    if alarm.kind == "more":
        return words.say(key, reports=results.received, invited=invited or 0)
    return words.say(key)
