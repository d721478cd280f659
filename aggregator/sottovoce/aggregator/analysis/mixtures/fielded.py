"""Estimate the shares of a design that a survey fields: one question in two arms, each with odds of its own.

Each question, and each revision that asks it with other odds, is one group. In ``cheater_detection`` the die and the
fact tell a share (1 - t) p to say yes and (1 - t)(1 - p) to say no, so the model is the symmetric one.
"""

from collections.abc import Callable, Iterable

import numpy as np
from sottovoce.aggregator.analysis.mixtures.class_model import with_class_model
from sottovoce.aggregator.analysis.mixtures.designs import SYMMETRIC, P
from sottovoce.aggregator.analysis.mixtures.mixture import Document, grouped_reports, mixture_document
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.errors import EstimateError, Sentence
from sottovoce.shared.parse_item import CHEATER_DETECTION, UNRELATED_UNKNOWN, PlannedComparison, planned_comparisons
from sottovoce.shared.spec import Question, Survey

NO_DESIGN = "'{variable}' is in no design of the survey's analysis_plan: name a question of one"
_ALONE = {
    CHEATER_DETECTION: "'{variable}' by itself takes everybody to do as instructed: people who always say no make its "
    "share too low; the planned design has a share of them",
    UNRELATED_UNKNOWN: "'{variable}' by itself takes the stated share of yes to the second question; the planned "
    "design estimates that share",
}
OWN_FACT = "Epsilon holds as long as no one who sees a report knows the fact or the die that hides it"


def designs_in_words(survey: Survey, words: Words, name: str = "", named: Callable[[str], str] = str) -> list[str]:
    """Return what each design of the survey's plan, or each one of a question, estimates and for whom epsilon holds.

    ``named``: gives the name of a question in the sentence.
    """
    of_all = (each for each in planned_comparisons(survey) if each.design)
    planned = [each for each in of_all if not name or name in (each.question, each.against)]
    return [
        words.translate(f"planned_{each.design}", question=named(each.question), against=named(each.against))
        for each in planned
    ]


def notes_alone(survey: Survey, names: Iterable[str]) -> list[Sentence]:
    """Return what the figures of a question by itself take for granted, where the question stands in a design."""
    planned = [each for each in planned_comparisons(survey) if each.design]
    return [
        Sentence(_ALONE[each.design], variable=name)
        for name in dict.fromkeys(names)
        for each in planned
        if name in (each.question, each.against)
    ]


def design_of(survey: Survey, name: str) -> PlannedComparison:
    """Return the design in which a question stands; raise EstimateError if there is none."""
    for planned in planned_comparisons(survey):
        if planned.design and name in (planned.question, planned.against):
            return planned
    raise EstimateError(Sentence(NO_DESIGN, variable=name))


def model_of(design: str) -> str:
    """Return the key of ``DESIGNS`` of a fielded design."""
    return SYMMETRIC if design == CHEATER_DETECTION else design


def odds_of(question: Question, design: str) -> P:
    """Return the p of a question's group."""
    made = question.by_fact
    if made is None:
        raise TypeError(question.name)
    return (float(made.b), float(1 - made.a)) if design == CHEATER_DETECTION else (float(made.truth),)


def fielded_document(columns: Columns, name: str, confidence: float, formula: str | None = None) -> Document:
    """Return the shares of the design of a question as one JSON object, ``sottovoce-mixture/1``.

    Raises EstimateError if the question is in no design, one of its two questions has no reports, or ``formula``, which
    names public predictors of cheater detection, has no model.
    """
    planned = design_of(columns.survey, name)
    groups: dict[str, P] = {}
    codes = np.full(len(columns), -1, np.int64)
    for asked in (planned.question, planned.against):
        places: dict[P, int] = {}
        for number in range(len(columns.revisions)):
            question, rows = columns.question(asked, number), columns.asked(asked) & (columns.revision == number)
            if question is not None and rows.any():
                p = odds_of(question, planned.design)
                if p not in places:
                    groups[f"{asked} (odds {len(places) + 1})" if places else asked] = p
                    places[p] = len(groups) - 1
                codes[rows] = 2 * places[p] + columns.values[asked][rows]
        if not places:
            raise EstimateError(Sentence("no report contains '{variable}'", variable=asked))
    data = grouped_reports(columns.survey.name, groups, codes)
    found = mixture_document(model_of(planned.design), data, confidence)
    found["privacy"].append(OWN_FACT)
    if formula is None:
        return found
    return with_class_model(found, columns, (planned.question, planned.against, ARM), codes, formula)
