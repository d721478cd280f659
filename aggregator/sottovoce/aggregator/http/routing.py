"""Table of routes, from which Flask's URL map, the OpenAPI description and the labels of metrics are made.

Each package defines the routes of its view functions; ``app.py`` joins them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from flask import Flask, request
from sottovoce.aggregator.http.problems import STATUS, Refusal


class Kind(StrEnum):
    """Group of clients that a route serves."""

    RESPONDENT = "respondent"
    """Respondents' devices: no account, no cookie, any origin."""
    RESEARCHER = "researcher"
    """Researchers' programs, which send a key."""
    PAGE = "page"
    """Browsers: HTML pages and their assets."""
    MACHINE = "machine"
    """Monitoring and API description; public."""


class Limit(StrEnum):
    """Rate limits that a route can count for; ``intake.request_limits`` enforces them."""

    WRITES = "writes"
    FAILED_TOKENS = "failed-tokens"


@dataclass(frozen=True)
class Query:
    """Optional query parameter of a program's route: name, sentence about it, JSON Schema of its value."""

    name: str
    about: str
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})


@dataclass(frozen=True)
class Route:
    """Route: an HTTP method of a path; a page's is described by its summary alone.

    Attributes:
        endpoint: Flask endpoint ``package.view``; stable, since rights and metrics refer to it.
        method: HTTP method; GET includes HEAD, and every path answers OPTIONS.
        path: URL rule of Flask.
        summary: its description, one sentence.
        gives: content of a 200 reply: names of schemas (``receipt`` is ``receipt.schema.json``), or media types; HTML
            by default.
        body: name of the schema of the request's body; "" for none.
        body_schema: that schema, where it is no file of ``sottovoce.shared``.
        refuses: its own error codes; ``refusals`` adds those that all similar routes have.
        pending: schema of a 202 reply, which says how far a long computation is; "" if there is none.
        has_etag: a 200 reply has an ETag, so requests can send ``If-None-Match``.
    """

    endpoint: str
    method: str
    path: str
    view: Callable[..., Any]
    summary: str
    kind: Kind = Kind.PAGE
    gives: Sequence[str] = ("text/html",)
    body: str = ""
    body_schema: Mapping[str, Any] | None = None
    query: Sequence[Query] = ()
    refuses: Sequence[str] = ()
    pending: str = ""
    has_etag: bool = False

    @property
    def limit(self) -> Limit | None:
        """Rate limit that the route counts for; None for GET."""
        if self.method == "GET":
            return None
        return Limit.FAILED_TOKENS if self.endpoint in {"collect.token", "collect.redeem"} else Limit.WRITES

    @property
    def refusals(self) -> Sequence[str]:
        """Error codes that the route may reply with, in the order of ``STATUS``."""
        of_posts = ("malformed", "timeout", "length_required", "too_large", "unsupported_type")
        more = {
            ("internal", "storage", "busy"): True,
            ("unknown_survey",): "<name>" in self.path,
            ("unauthorized", "malformed"): self.kind is Kind.RESEARCHER,
            ("too_many",): self.limit,
            of_posts: self.method == "POST",
        }
        codes = {code for group, is_given in more.items() if is_given for code in group}.union(self.refuses)
        return tuple(sorted(codes, key=list(STATUS).index))

    @property
    def replies(self) -> Mapping[int, Sequence[str]]:
        """Content of the replies by status: ``gives`` for 200, nothing for 304, ``problem`` for errors."""
        good: dict[int, Sequence[str]] = {200: self.gives} | ({304: ()} if self.has_etag else {})
        good |= {202: (self.pending,)} if self.pending else {}
        return good | {STATUS[code]: ("problem",) for code in self.refusals}


def add_routes(app: Flask, routes: Sequence[Route]) -> None:
    """Add the routes to an app's URL map; researchers' routes refuse unknown or repeated query parameters."""
    # Security: werkzeug redirects to the canonical spelling of a path on whatever Host the request names (an open
    # redirect). So turn off merging of slashes here, and redirects for a missing slash below.
    app.url_map.merge_slashes = False
    for route in routes:
        strict = not route.path.endswith("/")
        view = _with_checked_query(route) if route.kind is Kind.RESEARCHER else route.view
        app.add_url_rule(route.path, route.endpoint, view, methods=[route.method], strict_slashes=strict)


def _with_checked_query(route: Route) -> Callable[..., Any]:
    """Return the route's view, which refuses unknown and repeated parameters of the address."""
    known = {each.name for each in route.query}

    def view(**path: Any) -> Any:  # noqa: ANN401 - as of any view
        twice = any(len(given) > 1 for given in request.args.listvalues())
        if twice or set(request.args) - known:
            allowed = ", ".join(sorted(known)) or "none"
            raise Refusal("malformed", f"a parameter of the address is unknown or given twice; there are: {allowed}")
        return route.view(**path)

    return view
