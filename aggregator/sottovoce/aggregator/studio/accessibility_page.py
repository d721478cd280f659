"""Accessibility statement of this server, after the model of Decision (EU) 2018/1523; public."""

from importlib.metadata import version

from flask import current_app, render_template
from sottovoce.aggregator.http.routing import Route


def accessibility() -> str:
    """Show the statement, with the institution and the contact that the operator has set."""
    url = current_app.extensions["settings"].url
    return render_template("accessibility.html", url=url, version=version("sottovoce"))


ROUTES = (
    Route(
        "studio.accessibility", "GET", "/dashboard/accessibility", accessibility, "Show the accessibility statement."
    ),
)
"""Route of the statement."""
