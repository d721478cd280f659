"""The Flask application, from its collaborators."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from flask import Flask
from sottovoce.aggregator.access import routes as access
from sottovoce.aggregator.access.door_routes import register_doors
from sottovoce.aggregator.access.journal import ReadResults, RefusedLogins
from sottovoce.aggregator.blind.keys_file import KeysFile
from sottovoce.aggregator.blind.marks import Marks, place_of
from sottovoce.aggregator.blind.redeeming import Redeeming
from sottovoce.aggregator.clock import Clock
from sottovoce.aggregator.collect import routes as collect
from sottovoce.aggregator.collect import token_routes as tokens
from sottovoce.aggregator.collect.admission import Admission
from sottovoce.aggregator.collect.group_commit import GroupCommit
from sottovoce.aggregator.collect.status import PublishedSurveys
from sottovoce.aggregator.health import Readiness
from sottovoce.aggregator.housekeeping import Housekeeping
from sottovoce.aggregator.joint import routes as joint
from sottovoce.aggregator.results import routes as results
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.shared_clock import SharedClock
from sottovoce.aggregator.steady_clock import SteadyClock
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.studio import pages as studio
from sottovoce.aggregator.studio.previewed_form import PreviewedForm
from sottovoce.aggregator.web import (
    api_routes,
    auth,
    compression,
    front_routes,
    health_routes,
    problems,
    sign_in_routes,
)
from sottovoce.aggregator.web.headers import add_headers, security_headers
from sottovoce.aggregator.web.packed import Asset, PackedAssets
from sottovoce.aggregator.web.route_table import Route, add_routes

_ROOMS: Sequence[Sequence[Route]] = (
    collect.ROUTES,
    tokens.ROUTES,
    results.ROUTES,
    joint.ROUTES,
    studio.ROUTES,
    sign_in_routes.ROUTES,
    health_routes.ROUTES,
    front_routes.ROUTES,
    api_routes.ROUTES,
    access.ROUTES,
)
ROUTES = tuple(route for room in _ROOMS for route in room)
"""Every method of every address, once; a test compares it with the URL map."""


def create_app(
    settings: Settings,
    storage: Storage,
    clock: Clock,
    assets: Mapping[str, Asset],
    preview: Callable[[bool], PreviewedForm] | None = None,
) -> Flask:
    """
    The aggregator as a WSGI application.

    Args:
        settings: what an operator may choose.
        storage: an open database.
        clock: the present moment, as this machine tells it.
        assets: the respondent's page and its parts, by name.
        preview: makes the page's form for the studio's preview, once somebody wants to see it, for a survey whose
            reports are signed or wait, or for another one; None for none.
    """
    shared_clock = SharedClock(storage, clock)

    def check_ready() -> None:
        storage.check()
        shared_clock.check()

    refused_logins = RefusedLogins(storage)
    steady, marks = SteadyClock(clock, storage.clock), _noting_marks(settings, storage, shared_clock)
    housekeeping = Housekeeping(storage, clock, steady, check_ready, refused_logins.write, marks)
    # Made here, in the worker process: a thread does not survive the fork that makes a worker.
    storage.work_aside()
    group_commit = GroupCommit(storage, housekeeping)
    readiness = Readiness(check_ready)
    app = Flask("sottovoce.aggregator", static_folder=None, template_folder="studio/templates")
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.extensions.update(
        settings=settings,
        storage=storage,
        clock=shared_clock,
        assets=PackedAssets(assets),
        preview=preview,
        readiness=readiness,
        published=PublishedSurveys(storage, shared_clock, lambda: readiness.is_red),
        group_commit=group_commit,
        read_results=ReadResults(storage),
        refused_logins=refused_logins,
        redeeming=Redeeming(storage, shared_clock, KeysFile(settings.blind_keys_file)),
        admission=Admission(storage, shared_clock, group_commit.submit),
    )
    problems.register(app)
    health_routes.register(app)
    collect.register_limits(app, settings)
    auth.register(app)
    joint.register(app)
    api_routes.register(app, ROUTES)
    studio.register(app)
    compression.register(app)
    add_routes(app, (*ROUTES, *register_doors(app, settings, shared_clock)))
    app.wsgi_app = _with_headers(app.wsgi_app, security_headers(settings.secure))  # type: ignore[method-assign]
    return app


def _noting_marks(settings: Settings, storage: Storage, clock: Clock) -> Callable[[int], None]:
    """Notes how new the database is; at once, before anybody can redeem: an old copy may have been put back."""
    note = partial(Marks(settings.blind_keys_file, place_of(settings.database, settings.data)).look, storage)
    note(int(clock().timestamp()))
    return note


def _with_headers(app: Any, headers: Sequence[tuple[str, str]]) -> Any:  # noqa: ANN401 - WSGI's own signatures
    """The application, every reply of which carries these headers unless it has set its own."""

    def with_headers(environ: Any, start_response: Any) -> Any:  # noqa: ANN401
        def start(status: str, given: list[tuple[str, str]], *more: Any) -> Any:  # noqa: ANN401
            return start_response(status, add_headers(given, headers), *more)

        return app(environ, start)

    return with_headers
