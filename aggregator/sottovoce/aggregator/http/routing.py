"""
The rows of the one table of routes that the application is built from.

Each room has its rows beside its view functions; ``app.py`` joins them. Whatever has to be known of all routes is read
from here: Flask's URL map, the described API, the names that metrics give to routes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from flask import Flask
from sottovoce.aggregator.http.problems import STATUS


class Kind(StrEnum):
    """Whom a route is for."""

    RESPONDENT = "respondent"
    """Devices: no account, no cookie, from any origin."""
    RESEARCHER = "researcher"
    """Programs with a key."""
    PAGE = "page"
    """People's browsers: HTML and what belongs to it."""
    MACHINE = "machine"
    """Whoever runs or describes the aggregator; public."""


class Limit(StrEnum):
    """Which requests of one network are counted together; ``collect.limits`` keeps the counts."""

    WRITES = "writes"
    FAILED_TOKENS = "failed-tokens"


@dataclass(frozen=True)
class Query:
    """
    A parameter in the query of an address; none is required.

    Attributes:
        name: as it stands in the address.
        about: what it chooses, in a sentence.
        schema: JSON Schema of its text.
    """

    name: str
    about: str
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})


@dataclass(frozen=True)
class Route:
    """
    A method of an address.

    Attributes:
        endpoint: its name, ``room.view``: stable, since rights and metrics are told by it.
        method: of HTTP; GET brings HEAD with it, and every address answers OPTIONS.
        path: as Flask writes it.
        view: the function that replies.
        summary: what it does, in one sentence.
        kind: whom it is for.
        gives: what a good reply holds: names of schemas (``receipt`` is ``receipt.schema.json``), or media types.
        body: name of the schema of the request's body; "" for none.
        query: the parameters that it takes.
        refuses: codes of problems of its own; ``refusals`` has also those that every such route may give.
        has_etag: whether a good reply can be asked for with ``If-None-Match``.
    """

    endpoint: str
    method: str
    path: str
    view: Callable[..., Any]
    summary: str
    kind: Kind
    gives: Sequence[str]
    body: str = ""
    query: Sequence[Query] = ()
    refuses: Sequence[str] = ()
    has_etag: bool = False

    @property
    def limit(self) -> Limit | None:
        """The limit that it counts for; what only reads counts for none."""
        if self.method == "GET":
            return None
        return Limit.FAILED_TOKENS if self.endpoint in {"collect.token", "collect.redeem"} else Limit.WRITES

    @property
    def refusals(self) -> Sequence[str]:
        """Every code of a problem that may be the reply, each once."""
        found = [*self.refuses, "internal", "storage", "busy"]
        if "<name>" in self.path:
            found.append("unknown_survey")
        if self.kind is Kind.RESEARCHER:
            found += ["unauthorized", "malformed"]
        if self.limit:
            found.append("too_many")
        if self.method == "POST":
            found += ["malformed", "timeout", "length_required", "too_large", "unsupported_type"]
        return tuple(sorted(set(found), key=list(STATUS).index))

    @property
    def replies(self) -> Mapping[int, Sequence[str]]:
        """By status, what the reply holds: as ``gives``; ``problem`` for whatever is refused; nothing for 304."""
        good: dict[int, Sequence[str]] = {200: self.gives} | ({304: ()} if self.has_etag else {})
        return good | {STATUS[code]: ("problem",) for code in self.refusals}


def add_routes(app: Flask, routes: Sequence[Route]) -> None:
    """Give an app its URL map."""
    # The library would redirect to the one spelling of a path, at whatever Host was asked for: here, and for a missing
    # slash at the end unless a route takes both.
    app.url_map.merge_slashes = False
    for route in routes:
        strict = not route.path.endswith("/")
        app.add_url_rule(route.path, route.endpoint, route.view, methods=[route.method], strict_slashes=strict)
