"""Route the researchers' pages.

The pages are rendered on the server and work without a script. They set two cookies: session and language.
"""

from importlib.metadata import version
from importlib.resources import files

from flask import Flask, Response, current_app, render_template
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.studio import request_context
from sottovoce.aggregator.studio.account import (
    accounts_page,
    audit_log_pages,
    ethics_board_links,
    institution_page,
    team_page,
)
from sottovoce.aggregator.studio.design import (
    elsewhere_page,
    new_survey_page,
    page as design_page,
    preview_page,
    publish_page,
    trials,
)
from sottovoce.aggregator.studio.file_analysis import page as file_page
from sottovoce.aggregator.studio.results import (
    analysis_page,
    files_page,
    results_page,
    shared_results_page,
    simulation_page,
)
from sottovoce.aggregator.studio.results.rendered_results import RenderingCache
from sottovoce.aggregator.studio.survey import (
    ethics_page,
    invite_files,
    invite_page,
    privacy_page,
    release_page,
    settings_page,
    survey_list,
)


def style() -> Response:
    """Serve the style sheet of all pages, with the institution's accent colour."""
    return Response(
        _static("studio.css") + request_context.shown_institution().style.encode(),
        content_type="text/css; charset=utf-8",
    )


def design_style() -> Response:
    """Serve the style sheet of the page Design, which no other page loads."""
    return Response(_static("design.css"), content_type="text/css; charset=utf-8")


def font() -> Response:
    """Serve the font of Latin letters; browsers keep it, since a newer one gets a name of its own."""
    reply = Response(_static("source-sans-3.woff2"), content_type="font/woff2")
    reply.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    return reply


def script() -> Response:
    """Serve the script of all pages; every page works without it."""
    return Response(_static("studio.js"), content_type="text/javascript; charset=utf-8")


def drafts_script() -> Response:
    """Serve the script that saves a draft while you type; its pages work without it."""
    return Response(_static("drafts.js"), content_type="text/javascript; charset=utf-8")


def accessibility() -> str:
    """Show this server's accessibility statement, with the institution and the contact that the operator has set.

    It follows the model of Decision (EU) 2018/1523, and is public.
    """
    url = current_app.extensions["settings"].url
    return render_template("accessibility.html", url=url, version=version("sottovoce"))


def _static(name: str) -> bytes:
    return files("sottovoce.aggregator.studio").joinpath("static", name).read_bytes()


_STATIC_FILES = (
    Route("studio.style", "GET", "/dashboard/style.css", style, "Serve the style sheet of the pages."),
    Route("studio.design_style", "GET", "/dashboard/design.css", design_style, "Serve the style sheet of Design."),
    Route("studio.font", "GET", "/dashboard/source-sans-3.woff2", font, "Serve the font of the pages."),
    Route("studio.script", "GET", "/dashboard/studio.js", script, "Serve the script of the pages."),
    Route("studio.drafts_script", "GET", "/dashboard/drafts.js", drafts_script, "Serve the script for drafts."),
)
"""Static files, public because the sign-in page needs them."""

_ACCESSIBILITY = Route(
    "studio.accessibility", "GET", "/dashboard/accessibility", accessibility, "Show the accessibility statement."
)

_PAGES = (
    survey_list,
    new_survey_page,
    design_page,
    preview_page,
    elsewhere_page,
    trials,
    publish_page,
    simulation_page,
    shared_results_page,
    release_page,
    privacy_page,
    invite_page,
    invite_files,
    results_page,
    analysis_page,
    file_page,
    files_page,
    settings_page,
    accounts_page,
    institution_page,
    team_page,
    ethics_board_links,
    ethics_page,
    audit_log_pages,
    request_context,
)

ROUTES: tuple[Route, ...] = (*(route for page in _PAGES for route in page.ROUTES), _ACCESSIBILITY, *_STATIC_FILES)
"""All routes of the studio."""


def register(app: Flask) -> None:
    """Register the template filters, the language and the kept renderings on the app."""
    app.extensions["rendered_results"] = RenderingCache()
    request_context.register(app)
    file_page.register(app)
