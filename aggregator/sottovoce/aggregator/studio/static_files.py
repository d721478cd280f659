"""The pages' style sheet and scripts, the same for everybody."""

from importlib.resources import files

from flask import Response
from sottovoce.aggregator.http.routing import Kind, Route


def style() -> Response:
    """The pages' style sheet."""
    return Response(_static("studio.css"), content_type="text/css; charset=utf-8")


def script() -> Response:
    """The pages' script; every page is whole without it."""
    return Response(_static("studio.js"), content_type="text/javascript; charset=utf-8")


def drafts_script() -> Response:
    """What saves a draft while it is typed; its pages are whole without it."""
    return Response(_static("drafts.js"), content_type="text/javascript; charset=utf-8")


def _static(name: str) -> bytes:
    return files("sottovoce.aggregator.studio").joinpath("static", name).read_bytes()


_SCRIPT = ("text/javascript",)

ROUTES = (
    Route("studio.style", "GET", "/dashboard/style.css", style, "The pages' style.", Kind.PAGE, ("text/css",)),
    Route("studio.script", "GET", "/dashboard/studio.js", script, "The pages' script.", Kind.PAGE, _SCRIPT),
    Route(
        "studio.drafts_script",
        "GET",
        "/dashboard/drafts.js",
        drafts_script,
        "The script of drafts.",
        Kind.PAGE,
        _SCRIPT,
    ),
)
"""Files that everybody may have: the page that asks who somebody is needs them."""
