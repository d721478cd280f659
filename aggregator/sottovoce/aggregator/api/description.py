"""Serve the server's own documentation: the OpenAPI description, and a page for each problem code."""

from flask import Flask, Response, current_app, request
from sottovoce.aggregator.http import error_pages, problems
from sottovoce.aggregator.http.etag import unless_known
from sottovoce.aggregator.http.openapi import DescribedApi
from sottovoce.aggregator.http.problem_docs import EXPLANATIONS
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.http.routing import Kind, Route
from sottovoce.aggregator.i18n import languages


def openapi() -> Response:
    """Serve the OpenAPI description; the same bytes for every client."""
    return unless_known(Response(current_app.extensions["described_api"].body, content_type="application/json"))


def problem(code: str) -> Response:
    """Show the page of a problem code, in English: what happened, who can act, and how."""
    explained = EXPLANATIONS.get(code)
    if explained is None:
        return problems.response("not_found")
    parts = (explained.happened, f"{explained.turn}: {explained.remedy}")
    page = error_pages.page_of(f"{problems.TITLES[code]} ({code}, {problems.STATUS[code]})", parts)
    return Response(page, headers=error_pages.headers(languages.LANGUAGES[0]))


def register(app: Flask, routes: tuple[Route, ...]) -> None:
    """Describe these routes, and refuse unknown or repeated query parameters of researchers' routes."""
    app.extensions["described_api"] = DescribedApi(routes)
    known = {route.endpoint: {each.name for each in route.query} for route in routes if route.kind is Kind.RESEARCHER}

    def check_query() -> None:
        names = known.get(request.endpoint or "")
        twice = any(len(given) > 1 for given in request.args.listvalues())
        if names is not None and (twice or set(request.args) - names):
            allowed = ", ".join(sorted(names)) or "none"
            raise Refusal("malformed", f"a parameter of the address is unknown or given twice; there are: {allowed}")

    app.before_request(check_query)


ROUTES = (
    Route("machine.openapi", "GET", "/openapi.json", openapi, "Return this OpenAPI description.", Kind.MACHINE,
          ("application/json",), has_etag=True),
    Route("front.problem", "GET", "/problems/<code>", problem, "Explain a problem code: what happened, and what to do.",
          Kind.MACHINE, ("text/html",), refuses=("not_found",)),
)  # fmt: skip
"""Routes of the documentation."""
