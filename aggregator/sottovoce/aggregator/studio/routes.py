"""Route the researchers' pages.

The pages are rendered on the server and work without a script. They set two cookies: session and language.
"""

from functools import partial

from flask import Flask, current_app, render_template
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
)
from sottovoce.aggregator.studio.file_analysis import page as file_page
from sottovoce.aggregator.studio.results import (
    analysis_page,
    files_page,
    results_page,
    shared_results_page,
    simulation_page,
)
from sottovoce.aggregator.studio.survey import ethics_page, invite_page, release_page, settings_page, survey_list
from sottovoce.shared.release import release


def accessibility() -> str:
    """Show this server's accessibility statement, with the institution and the contact that the operator has set.

    It follows the model of Decision (EU) 2018/1523, and is public.
    """
    return render_template("accessibility.html", url=current_app.extensions["settings"].url, version=release())


_STATIC_FILES = tuple(
    Route(f"studio.{endpoint}", "GET", f"/dashboard/{path}", partial(request_context.static_file, file), summary)
    for endpoint, path, file, summary in (
        ("style", "style.css", "studio.css", "Serve the style sheet of the pages."),
        ("design_style", "design.css", "design.css", "Serve the style sheet of Design."),
        ("font", "source-sans-3.woff2", "source-sans-3.woff2", "Serve the font of the pages."),
        ("script", "studio.js", "studio.js", "Serve the script of the pages."),
        ("drafts_script", "drafts.js", "drafts.js", "Serve the script for drafts."),
    )
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
    publish_page,
    simulation_page,
    shared_results_page,
    release_page,
    invite_page,
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
    app.extensions["rendered_results"] = results_page.RenderingCache()
    request_context.register(app)
    file_page.register(app)
