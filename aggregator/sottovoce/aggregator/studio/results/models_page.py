"""Models: one answer explained by others, with odds ratios, effects and predictions in words."""

from flask import Response
from sottovoce.aggregator.http.routing import Kind, Query, Route
from sottovoce.aggregator.studio.results.analysis_page import joint_file, joint_page, published_subject
from sottovoce.aggregator.studio.survey_frame import later

KINDS = ("regression",)


def models(name: str) -> Response:
    """The page; its address asks for a model, so that whoever follows it has the same computed again."""
    if (told := later(name, "models")) is not None:
        return Response(told, content_type="text/html; charset=utf-8")
    return joint_page(published_subject(name, "models"), "models", KINDS)


def models_file(name: str, file: str) -> Response:
    """The model of such an address to keep, as CSV, as a workbook or as JSON."""
    return joint_file(published_subject(name, "models"), file, KINDS)


_PATH = "/dashboard/surveys/<name>/models"
QUERY = (
    Query("kind", "Of analysis: regression."),
    Query("outcome", "What is explained."),
    Query("on", "What explains it; may be given many times."),
    Query("model", "If another than suits the outcome: logit, multinomial, ordered or linear."),
    Query("cluster", "A public question whose categories are clusters."),
    Query("wave", "Only its reports."),
)
"""What is asked for."""
_REFUSED = ("still_open", "options_invalid", "estimate_impossible")
_MEDIA = ("text/csv", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/json")

ROUTES = (
    Route("studio.models", "GET", _PATH, models, "One answer explained by others.", Kind.PAGE, ("text/html",),
          query=QUERY, refuses=_REFUSED),
    Route("studio.models_file", "GET", f"{_PATH}/<file>", models_file, "The same model as a file.", Kind.PAGE,
          _MEDIA, query=QUERY, refuses=(*_REFUSED, "not_found")),
)  # fmt: skip
"""The page of models and its files."""
