"""The researchers' pages: server-rendered, whole without a script, no cookie but the session's and the language's."""

from flask import Flask
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.studio import language, static_files
from sottovoce.aggregator.studio.account import accounts_page, audit_log_pages, ethics_board_links, team_page
from sottovoce.aggregator.studio.design import new_survey_page, preview_page, publish_page, trials
from sottovoce.aggregator.studio.design import page as design_page
from sottovoce.aggregator.studio.results import (
    files_page,
    format_numbers,
    models_page,
    results_page,
    simulation_page,
    tables_page,
)
from sottovoce.aggregator.studio.survey import (
    ethics_page,
    invite_files,
    invite_page,
    privacy_page,
    release_page,
    settings_page,
    survey_list,
)

_PAGES = (
    survey_list,
    new_survey_page,
    design_page,
    preview_page,
    trials,
    publish_page,
    simulation_page,
    release_page,
    privacy_page,
    invite_page,
    invite_files,
    results_page,
    tables_page,
    models_page,
    files_page,
    settings_page,
    accounts_page,
    team_page,
    ethics_board_links,
    ethics_page,
    audit_log_pages,
    language,
    static_files,
)

ROUTES: tuple[Route, ...] = tuple(route for page in _PAGES for route in page.ROUTES)
"""All pages of the studio."""


def register(app: Flask) -> None:
    """Give the app what all pages of the studio share."""
    format_numbers.register(app)
    language.register(app)
