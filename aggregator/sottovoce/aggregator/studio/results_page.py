"""Results: each question by itself, from snapshots, with intervals that hold while the survey is open."""

from flask import Response, current_app, render_template, request
from sottovoce.aggregator.results.routes import export_reply, results_of
from sottovoce.aggregator.studio.survey_page import published_page
from sottovoce.aggregator.web.conditional import unless_known
from sottovoce.aggregator.web.route_table import Kind, Route


def results(name: str) -> Response:
    """One survey's results, for all respondents for ``?cohort=`` or for ``?wave=``."""
    found = results_of(name, request.args.get("cohort") or None, wave=request.args.get("wave"))
    page = render_template(
        "results.html",
        page="results",
        frame=published_page(name, "results"),
        results=found,
        survey=found.survey,
        link=current_app.extensions["settings"].link(found.survey.name, found.survey.digest),
    )
    return unless_known(Response(page, content_type="text/html; charset=utf-8"))


def download(name: str) -> Response:
    """The same results as a file to keep."""
    found = results_of(name, request.args.get("cohort") or None, wave=request.args.get("wave"))
    return export_reply(name, found)


_RESULTS = "/dashboard/surveys/<name>/results"

ROUTES = (
    Route(
        "studio.results",
        "GET",
        _RESULTS,
        results,
        "One survey's results, question by question.",
        Kind.PAGE,
        ("text/html",),
        has_etag=True,
    ),
    Route(
        "studio.download",
        "GET",
        f"{_RESULTS}/export.json",
        download,
        "The same results as a file.",
        Kind.PAGE,
        ("export",),
        has_etag=True,
    ),
)
"""The page of results and its file."""
