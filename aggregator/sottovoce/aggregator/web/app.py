"""The Flask application, from its four collaborators."""

from collections.abc import Mapping
from typing import Protocol

from flask import Flask, Response
from sottovoce.aggregator.admission import Admission, Clock
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.web import auth, collect, dashboard, machine, problems, results
from sottovoce.aggregator.web.headers import security_headers


class Asset(Protocol):
    """A part of the respondent's page."""

    @property
    def body(self) -> bytes:
        """Its bytes."""

    @property
    def content_type(self) -> str:
        """Its media type."""


def create_app(settings: Settings, storage: Storage, clock: Clock, assets: Mapping[str, Asset]) -> Flask:
    """
    The aggregator as a WSGI application.

    Args:
        settings: what an operator may choose.
        storage: an open database.
        clock: the present moment.
        assets: the respondent's page and its parts, by name.
    """
    app = Flask("sottovoce.aggregator.web", static_folder=None)
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.extensions.update(
        settings=settings, storage=storage, clock=clock, assets=assets, admission=Admission(storage, clock)
    )
    problems.register(app)
    auth.register(app)
    for module in (collect, results, machine, dashboard):
        app.register_blueprint(module.blueprint)
    headers = security_headers(settings.secure)

    @app.after_request
    def add_headers(reply: Response) -> Response:
        for name, value in headers:
            reply.headers.setdefault(name, value)
        return reply

    return app
