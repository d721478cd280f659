"""The published form of results: ``sottovoce-export/1``. Counts and estimates; no report and no id."""

from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from sottovoce.aggregator.analysis.estimates import QuestionResult, SurveyResults, mechanism_document
from sottovoce.aggregator.analysis.finite_population import Population
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.storage.hash_chain import ChainHead
from sottovoce.shared.answers import Grid
from sottovoce.shared.spec import Survey

FORMAT = "sottovoce-export/1"

_TOWARDS = {"raw": 0, "clipped": 0} | {
    f"{prefix}{end}": towards
    for prefix in ("", "simultaneous_", "band_")
    for end, towards in (("low", -1), ("high", 1))
}
_TOWARDS |= {"lowest": -1, "highest": 1}
"""Figures in the number's unit, and where to round them: an interval must not become narrower."""


def export_document(
    results: SurveyResults, journal: ChainHead | None = None, group: Population | None = None
) -> dict[str, Any]:
    """
    The results as one JSON object; its schema is ``export.schema.json`` in ``sottovoce.shared.schema``.

    Args:
        results: what it holds.
        journal: the head of the journal, for a file to keep: ``journal verify --head`` can be held against it.
        group: the people whom it asked, where everybody answered: then shares are told as numbers of people too.
    """
    survey = results.survey
    return {
        # First of all, so that nobody who looks into the file takes it for the real survey's.
        **({"trial": True} if survey.trial else {}),
        "format": FORMAT,
        "survey": survey.name,
        "revision": survey.revision,
        "digest": survey.digest,
        "version": version("sottovoce"),
        "title": dict(survey.title),
        "dates": _dates(survey),
        "closed": results.closed,
        "received": results.received,
        "reports": results.reports,
        "withdrawn": results.withdrawn,
        "cohort": results.cohort,
        "wave": results.wave,
        "epsilon_total": survey.epsilon,
        "questions": [_question(result, group) for result in results.published],
        **_withheld(results),
        **({} if journal is None else {"journal": str(journal)}),
    }


def _withheld(results: SurveyResults) -> dict[str, Any]:
    """The public questions whose exact tables are not told, because they are published under a budget."""
    told = {each.question.name for each in results.published}
    named = [each.question.name for each in results.questions if each.question.name not in told]
    return {"withheld": named} if named else {}


def _dates(survey: Survey) -> dict[str, Any]:
    """When it is asked, as the survey says it; None where it does not."""
    return {key: survey.document.get(key) for key in ("opens", "closes")} | {"waves": survey.document.get("waves", [])}


def _question(result: QuestionResult, group: Population | None) -> dict[str, Any]:
    return {
        "name": result.question.name,
        "type": result.question.type,
        **_labels(result),
        "mechanism": mechanism_document(result.question),
        "epsilon": result.epsilon,
        "n": result.n,
        "tally": {str(value): count for value, count in result.tally.items()},
        **_estimates(result, group),
        **_absence(result),
    }


def _labels(result: QuestionResult) -> dict[str, Any]:
    """The question's own text and those of its options, in every language; a yes or no has no texts of its own."""
    question = result.question
    named = {"options": {each.name: dict(each.label) for each in question.choices}} if question.choices else {}
    return {"label": dict(question.label), **named}


def _absence(result: QuestionResult) -> dict[str, Any]:
    """What no answer was sent as, and what self-protective answers would mean; only where there is such a thing."""
    question, found = result.question, {}
    if question.absent is not None and not question.domain.absent:
        found["when_absent"] = question.answer(question.absent)
    if result.protection:
        found["protection"] = [{"share": share, "estimate": asdict(estimate)} for share, estimate in result.protection]
    return found


def _estimates(result: QuestionResult, group: Population | None) -> dict[str, Any]:
    """A number has a mean, and what its mechanism can tell of the distribution; every other question estimates."""
    if result.question.kind.truth != "number":
        return {"estimates": [asdict(estimate) | _people(estimate, group) for estimate in result.estimates]}
    grid = result.question.domain.grid
    mean, histogram, quantiles = (
        [_figures(estimate, grid) for estimate in result.of_kind(kind)] for kind in ("mean", "share", "quantile")
    )
    return {"mean": mean[0], "histogram": histogram, "quantiles": quantiles}


def _people(estimate: Estimate, group: Population | None) -> dict[str, Any]:
    """How many of the group it is, where that can be told exactly."""
    count = None if group is None else group.count(estimate)
    return {} if count is None else {"people": asdict(count)}


def _figures(estimate: Estimate, grid: Grid | None) -> dict[str, Any]:
    """An estimate, its figures as the question's own numbers are written; differences of two stay plain numbers."""
    document = asdict(estimate)
    if grid is not None and estimate.kind != "share":
        known = {key: towards for key, towards in _TOWARDS.items() if document[key] is not None}
        document |= {key: grid.figure(document[key], towards) for key, towards in known.items()}
    return document
