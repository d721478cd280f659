"""
Disclosure control: withhold exact joint results once public answers are published under a privacy budget.

Two public   No exact table of two public questions, and no result computed from it alone (tests, weights to known
             margins). No regression with two of them either: its standard errors and its refusals of small groups
             depend on the joint counts, and together with both margins they reveal the table.
One public   The researcher still gets results of a private question by one public question. They reveal the share of
             each public category, so the result warns against publishing it together with the noisy tables.
"""

from collections.abc import Callable
from dataclasses import replace

from sottovoce.aggregator.analysis.documents import Document
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import PairsRequest, RegressionRequest, Request, TestRequest, WeightsRequest
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.surveys.stored_surveys import survey_of
from sottovoce.shared.errors import EstimateError

TABLE_SUPPRESSED = (
    "a budget for this survey's public answers is open: an exact table of two public questions would undo the "
    "noise of the published tables; publish this one with noise, on the page Files or with crosstab "
    "--release-epsilon"
)
MODEL_SUPPRESSED = (
    "a budget for this survey's public answers is open: the precision of a model with several public questions "
    "reveals how many people gave each combination of answers, and would undo the noise of the published tables; "
    "use at most one of them"
)
WEIGHTS_SUPPRESSED = (
    "a budget for this survey's public answers is open: the cost of weights reveals exact counts of answers, and "
    "would undo the noise of the published tables"
)
EXACT_AND_NOISY = (
    "public answers in this are exact, and a budget for them was opened: do not publish it beside their noisy tables"
)


def answered(
    storage: Storage,
    name: str,
    asked: Request,
    read: Callable[[], Columns],
    compute: Callable[[Request, Columns], Document] = Request.document,
) -> Document:
    """
    Run an analysis and return its document, unless disclosure control withholds it.

    Args:
        storage: the database.
        name: the survey's name.
        asked: the analysis request.
        read: function that reads the reports; called only if the request passes the check.
        compute: function that computes the analysis, possibly in another process.

    Raises:
        EstimateError: the result is withheld, or the analysis has none.
    """
    if not storage.releases.has_any(name):
        return compute(asked, read())
    survey = survey_of(storage.revisions(name)[-1].document)
    public = frozenset(question.name for question in survey.questions if question.mechanism is None)
    _check(asked, public)
    # Requests for all pairs name no variables; ``apart`` keeps public pairs out of them.
    document = compute(asked, replace(read(), apart=public))
    if _named(asked.names) & public:
        document = {**document, "warnings": [*document["warnings"], EXACT_AND_NOISY]}
    return document


def _check(asked: Request, public: frozenset[str]) -> None:
    if isinstance(asked, WeightsRequest):
        raise EstimateError(WEIGHTS_SUPPRESSED)
    # Exact counts of one public question are its margin, which is published with noise.
    if isinstance(asked, TestRequest) and _named(asked.own_names) & public:
        raise EstimateError(TABLE_SUPPRESSED)
    # The number of reports in a subset is exact, and every pair with another public question would tell one more.
    if isinstance(asked, PairsRequest) and asked.where is not None:
        raise EstimateError(TABLE_SUPPRESSED)
    # Questions used for weights and clusters count as well: weights to margins near 0 and 1 single out a category.
    if not isinstance(asked, PairsRequest) and len(_named(asked.names) & public) > 1:
        raise EstimateError(MODEL_SUPPRESSED if isinstance(asked, RegressionRequest) else TABLE_SUPPRESSED)


def _named(variables: "tuple[str, ...] | list[str]") -> set[str]:
    """Return the question names of these variables (the part before the first dot)."""
    return {each.partition(".")[0] for each in variables}
