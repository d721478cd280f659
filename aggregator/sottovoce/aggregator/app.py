"""Build the aggregator as an application."""

from collections.abc import Callable, Sequence
from functools import partial

from flask import Flask, Response, current_app, request
from sottovoce.aggregator.accounts import authentication
from sottovoce.aggregator.accounts.audit_log import ReadResults, RefusedLogins
from sottovoce.aggregator.api import analysis as joint, health, respondent as collect, results, tokens
from sottovoce.aggregator.api.survey_status import PublishedSurveys
from sottovoce.aggregator.clock import Clock, SharedClock, SteadyClock
from sottovoce.aggregator.health import Readiness
from sottovoce.aggregator.http import error_pages, headers, openapi, problems
from sottovoce.aggregator.http.routing import Route, add_routes
from sottovoce.aggregator.http.static_assets import Assets, PackedAssets
from sottovoce.aggregator.i18n.translator import language_of
from sottovoce.aggregator.intake.admission import Admission
from sottovoce.aggregator.intake.group_commit import GroupCommit
from sottovoce.aggregator.invitations.key_file import KeysFile
from sottovoce.aggregator.invitations.redemption import Redeeming
from sottovoce.aggregator.invitations.rollback_detection import RollbackMarks, place_of
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.studio import routes as studio
from sottovoce.aggregator.studio.account import my_account_page as access
from sottovoce.aggregator.studio.account.sign_in_routes import SESSION_ROUTES, register_doors
from sottovoce.aggregator.studio.design.preview_page import PreviewedForm
from sottovoce.aggregator.surveys.housekeeping import Housekeeping


def front() -> Response:
    """Show a short description and a link to sign in, without names of surveys; programs get 404."""
    if not error_pages.wants_page(request.headers.get("Accept", "")):
        return problems.response("not_found")
    language = language_of(request.headers.get("Accept-Language", ""))
    return Response(error_pages.front_page(language), headers=error_pages.headers(language))


def calendar() -> Response:
    """Show a page that says nothing of surveys: the form gives way to it when a respondent leaves at once."""
    language, today = language_of(request.headers.get("Accept-Language", "")), current_app.extensions["clock"]().date()
    return Response(error_pages.calendar_page(language, today), headers=error_pages.headers(language))


_FRONT = (
    Route("front.front", "GET", "/", front, "Show the front page."),
    Route("front.calendar", "GET", "/calendar", calendar, "Show a calendar."),
    # Tabs that were opened before an upgrade lead there.
    Route("front.empty", "GET", "/empty", calendar, "Show a calendar."),
)
_ROUTE_GROUPS: Sequence[Sequence[Route]] = (
    collect.ROUTES,
    tokens.ROUTES,
    results.ROUTES,
    joint.ROUTES,
    studio.ROUTES,
    SESSION_ROUTES,
    health.ROUTES,
    _FRONT,
    openapi.ROUTES,
    access.ROUTES,
)
ROUTES = tuple(route for group in _ROUTE_GROUPS for route in group)
"""All routes except those of optional sign-in methods; a test compares them with the URL map."""


def create_app(
    settings: Settings,
    storage: Storage,
    clock: Clock,
    assets: Assets,
    preview: Callable[[bool], PreviewedForm] | None = None,
) -> Flask:
    """Build the aggregator as a Flask application.

    Args:
        assets: the respondents' page and its parts, by name, or the function that makes them.
        preview: builds the form for the studio's preview on demand; its argument is True for a survey with blind access
            or delayed sending. None disables the preview.
    """
    shared_clock, storage.releases.heads = SharedClock(storage, clock), settings.heads

    def check_ready() -> None:
        storage.check()
        shared_clock.check()

    refused_logins = RefusedLogins(storage)
    # Once before any request, so that invitations of a restored old copy are on hold in time.
    marks = partial(RollbackMarks(settings.blind_keys_file, place_of(settings.database, settings.data)).check, storage)
    marks(int(shared_clock().timestamp()))
    steady = SteadyClock(clock, storage.clock)
    housekeeping = Housekeeping(storage, clock, steady, check_ready, refused_logins.write, marks)
    # Start threads here, in the worker process: they would not survive the fork that creates a worker.
    storage.start_maintenance()
    group_commit = GroupCommit(storage, housekeeping)
    readiness = Readiness(check_ready, is_writing=storage.is_writing)
    app = Flask("sottovoce.aggregator", static_folder=None, template_folder="studio/templates")
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.extensions.update(
        settings=settings,
        storage=storage,
        clock=shared_clock,
        assets=PackedAssets(assets),
        preview=preview,
        readiness=readiness,
        published=PublishedSurveys(storage, shared_clock, settings.shown_institution, lambda: readiness.is_red),
        group_commit=group_commit,
        read_results=ReadResults(storage),
        refused_logins=refused_logins,
        redeeming=Redeeming(storage, shared_clock, KeysFile(settings.blind_keys_file)),
        admission=Admission(storage, shared_clock, group_commit.submit),
    )
    problems.register(app)
    health.register(app)
    collect.register_limits(app, settings)
    authentication.register(app)
    joint.register(app)
    openapi.register(app, ROUTES)
    studio.register(app)
    headers.register(app, settings.secure)
    add_routes(app, (*ROUTES, *register_doors(app, settings, shared_clock)))
    return app
