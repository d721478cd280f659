"""The published form of results: ``sottovoce-export/1``. Counts and estimates; no report and no id."""

from dataclasses import asdict
from typing import Any

from sottovoce.aggregator.results.analysis import QuestionResult, Results, mechanism_document
from sottovoce.shared.questions import dump_value

FORMAT = "sottovoce-export/1"


def export_document(results: Results) -> dict[str, Any]:
    """The results as one JSON object; its schema is ``export.schema.json`` in ``sottovoce.shared.schema``."""
    survey = results.survey
    return {
        "format": FORMAT,
        "survey": survey.name,
        "revision": survey.revision,
        "digest": survey.digest,
        "closed": results.closed,
        "received": results.received,
        "reports": results.reports,
        "withdrawn": results.withdrawn,
        "cohort": results.cohort,
        "wave": results.wave,
        "epsilon_total": survey.epsilon,
        "questions": [_question(result) for result in results.questions],
    }


def _question(result: QuestionResult) -> dict[str, Any]:
    return {
        "name": result.question.name,
        "type": result.question.type,
        "mechanism": mechanism_document(result.question),
        "epsilon": result.epsilon,
        "n": result.n,
        "tally": {str(value): count for value, count in result.tally.items()},
        **_estimates(result),
        **_absence(result),
    }


def _absence(result: QuestionResult) -> dict[str, Any]:
    """What no answer was sent as, and what self-protective answers would mean; only where there is such a thing."""
    question, found = result.question, {}
    if question.absent is not None and not question.domain.absent:
        found["when_absent"] = dump_value(question, question.absent)
    if result.protection:
        found["protection"] = [{"share": share, "estimate": asdict(estimate)} for share, estimate in result.protection]
    return found


def _estimates(result: QuestionResult) -> dict[str, Any]:
    """A number has a mean, and what its mechanism can tell of the distribution; every other question estimates."""
    if result.question.domain.grid is None or result.question.type == "vector":
        return {"estimates": [asdict(estimate) for estimate in result.estimates]}
    means = [asdict(estimate) for estimate in result.of_kind("mean")]
    return {
        "mean": means[0],
        "histogram": [asdict(estimate) for estimate in result.of_kind("share")],
        "quantiles": [asdict(estimate) for estimate in result.of_kind("quantile")],
    }
