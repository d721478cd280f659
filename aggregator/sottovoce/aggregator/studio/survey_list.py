"""The list of surveys, and the bare address of each, which leads to the page of its stage."""

from flask import Response, current_app, render_template
from sottovoce.aggregator.studio.survey_page import address_of, next_page, stage_of
from sottovoce.aggregator.survey_life import list_surveys
from sottovoce.aggregator.surveys import unknown_survey
from sottovoce.aggregator.web.route_table import Kind, Route


def surveys() -> str:
    """All surveys."""
    return render_template("surveys.html", surveys=list_surveys(current_app.extensions["storage"]))


def survey(name: str) -> Response:
    """To the page of the survey's stage."""
    revisions = current_app.extensions["storage"].revisions(name)
    if not revisions:
        raise unknown_survey()
    return Response(status=303, headers={"Location": address_of(name, next_page(stage_of(revisions)))})


ROUTES = (
    Route("studio.surveys", "GET", "/dashboard/", surveys, "All surveys.", Kind.PAGE, ("text/html",)),
    Route(
        "studio.survey",
        "GET",
        "/dashboard/surveys/<name>/",
        survey,
        "To the page of the survey's stage.",
        Kind.PAGE,
        ("text/html",),
    ),
)
"""Where a researcher begins."""
