"""The bare address: a page that says what this is. It leads nowhere and names no survey."""

from flask import Response, request
from sottovoce.aggregator.web import pages, problems
from sottovoce.aggregator.web.route_table import Kind, Route


def front() -> Response:
    """What this is, for people; programs find nothing here."""
    if not pages.wants_page(request.headers.get("Accept", "")):
        return problems.response("not_found")
    language = pages.language_of(request.headers.get("Accept-Language", ""))
    return Response(pages.front_page(language), headers=pages.headers(language))


ROUTES = (Route("front.front", "GET", "/", front, "What this is, for people.", Kind.PAGE, ("text/html",)),)
"""The bare address."""
