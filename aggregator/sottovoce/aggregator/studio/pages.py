"""The researchers' pages: server-rendered, whole without a script, no cookie but the session's and the language's."""

from flask import Flask
from sottovoce.aggregator.studio import (
    accounts_page,
    board_page,
    design_page,
    ethics_page,
    figures,
    files_page,
    invite_files,
    invite_page,
    journal_pages,
    language,
    models_page,
    new_page,
    preview_page,
    privacy_page,
    publish_page,
    rehearse_page,
    release_page,
    results_page,
    settings_page,
    static_files,
    survey_list,
    tables_page,
    team_page,
    trials,
)
from sottovoce.aggregator.web.route_table import Route

_PAGES = (
    survey_list,
    new_page,
    design_page,
    preview_page,
    trials,
    publish_page,
    rehearse_page,
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
    board_page,
    ethics_page,
    journal_pages,
    language,
    static_files,
)

ROUTES: tuple[Route, ...] = tuple(route for page in _PAGES for route in page.ROUTES)
"""All pages of the studio."""


def register(app: Flask) -> None:
    """Give the app what all pages of the studio share."""
    figures.register(app)
    language.register(app)
