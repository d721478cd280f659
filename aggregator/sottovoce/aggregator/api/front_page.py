"""The bare address: a page that says what this is. It leads nowhere and names no survey."""

from flask import Response, request
from sottovoce.aggregator.http import error_pages, problems
from sottovoce.aggregator.http.routing import Kind, Route
from sottovoce.aggregator.i18n import languages


def front() -> Response:
    """What this is, for people; programs find nothing here."""
    if not error_pages.wants_page(request.headers.get("Accept", "")):
        return problems.response("not_found")
    language = languages.language_of(request.headers.get("Accept-Language", ""))
    return Response(error_pages.front_page(language), headers=error_pages.headers(language))


ROUTES = (Route("front.front", "GET", "/", front, "What this is, for people.", Kind.PAGE, ("text/html",)),)
"""The bare address."""
