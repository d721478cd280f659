"""Withhold exact joint results of public questions whose tables are published with noise (disclosure control).

A table, a comparison, a model or weights with such a question contain its exact margin, or depend on it: standard
errors and refusals of small groups follow from how many people gave each answer. So there is none of them. The cohort
remains: a budget never publishes it, and its exact counts are part of the results.
"""

from collections.abc import Callable
from dataclasses import replace

from sottovoce.aggregator.analysis.documents import Document
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import Request
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.surveys.lifecycle import released_questions, survey_of
from sottovoce.shared.errors import EstimateError

WITHHELD = (
    "a budget for this survey's public answers is open: exact results of them would undo the noise of the published "
    "tables; publish tables of them with noise, on the page Files or with crosstab --release-epsilon"
)


def answered(
    storage: Storage,
    name: str,
    asked: Request,
    read: Callable[[], Columns],
    compute: Callable[[Request, Columns], Document] = Request.document,
) -> Document:
    """Run an analysis and return its document; raise EstimateError if it has none, or disclosure control withholds it.

    Args:
        read: function that reads the reports; called only if the request passes the check.
        compute: function that computes the analysis, possibly in another process.
    """
    if not storage.releases.has_any(name):
        return compute(asked, read())
    withheld = released_questions([survey_of(each.document) for each in storage.revisions(name)])
    # A variable is a question, or a part of one after a dot.
    if not withheld.isdisjoint(each.partition(".")[0] for each in asked.names):
        raise EstimateError(WITHHELD)
    # Requests for all pairs name no variables.
    return compute(asked, replace(read(), withheld=withheld))
