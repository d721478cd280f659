"""The pages' one style sheet and one script, the same for everybody."""

from importlib.resources import files

from flask import Response
from sottovoce.aggregator.web.route_table import Kind, Route


def style() -> Response:
    """The pages' style sheet."""
    return Response(_static("studio.css"), content_type="text/css; charset=utf-8")


def script() -> Response:
    """The pages' script; every page is whole without it."""
    return Response(_static("studio.js"), content_type="text/javascript; charset=utf-8")


def _static(name: str) -> bytes:
    return files("sottovoce.aggregator.studio").joinpath("static", name).read_bytes()


ROUTES = (
    Route("studio.style", "GET", "/dashboard/style.css", style, "The pages' style.", Kind.PAGE, ("text/css",)),
    Route(
        "studio.script", "GET", "/dashboard/studio.js", script, "The pages' script.", Kind.PAGE, ("text/javascript",)
    ),
)
"""Files that everybody may have: the page that asks who somebody is needs them."""
