"""The list of surveys, and the bare address of each, which leads to the page of its stage."""

from flask import Response, current_app, g, render_template
from sottovoce.aggregator.access.roles import Verdict, may
from sottovoce.aggregator.studio.survey_page import address_of, may_open, next_page, stage_of
from sottovoce.aggregator.survey_life import list_surveys
from sottovoce.aggregator.surveys import unknown_survey
from sottovoce.aggregator.web.route_table import Kind, Route


def surveys() -> str:
    """The surveys that one may know of."""
    known = [row for row in list_surveys(current_app.extensions["storage"]) if g.actor.role(row.name)]
    open_to = {row.name for row in known if may(g.actor, "studio.survey", row.name) is Verdict.ALLOWED}
    return render_template("surveys.html", surveys=known, open_to=open_to)


def survey(name: str) -> Response:
    """To the page of the survey's stage."""
    revisions = current_app.extensions["storage"].revisions(name)
    if not revisions:
        raise unknown_survey()
    return Response(status=303, headers={"Location": address_of(name, next_page(stage_of(revisions), may_open(name)))})


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
