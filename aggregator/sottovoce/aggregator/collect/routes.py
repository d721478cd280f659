"""What respondents use: the page, the survey's bytes, where to send a report or take it back. No cookie, no log."""

from flask import Blueprint, Response, current_app, jsonify, request
from sottovoce.aggregator.collect.admission import Pending, WouldRead
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.web import problems
from sottovoce.aggregator.web.headers import form_policy
from sottovoce.shared.errors import ReportRejected

LATER = "sottovoce.later"
"""Name in the request's environment of what takes a pending reply: no thread is held while the disk is synced."""

DECLINE = "sottovoce.decline"
"""The same of what is told that the database would have to be read; it is there if the event loop itself is asking."""

blueprint = Blueprint("collect", __name__)


@blueprint.get("/s/<name>")
def page(name: str) -> Response:  # noqa: ARG001 - the same page for every survey
    """The form; the same bytes for everybody."""
    return _asset("respondent.html")


@blueprint.get("/s/sw.js")
def worker() -> Response:
    """The form's service worker; here, so that it has a say in the respondents' pages and in no other."""
    return _asset("sw.js")


@blueprint.get("/assets/<path:name>")
def asset(name: str) -> Response:
    """A part of the form."""
    return _asset(name)


@blueprint.get("/api/v1/surveys/<name>")
def survey(name: str) -> Response:
    """The newest revision's canonical bytes; the same for everybody."""
    return Response(newest(name).document, content_type="application/json")


@blueprint.post("/api/v1/surveys/<name>/reports")
def report(name: str) -> Response:
    """Admit one report; the reply is its receipt, the same for every copy of it."""
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    may_read = DECLINE not in request.environ
    try:
        return _reply(current_app.extensions["admission"].begin(name, request.get_data(), token, may_read))
    except WouldRead:
        request.environ[DECLINE](True)
        return Response()


@blueprint.post("/api/v1/surveys/<name>/reports/batch")
def batch(name: str) -> Response:
    """Admit up to 1,000 reports; the reply has a receipt or a reason for each, in their order."""
    return _reply(current_app.extensions["admission"].begin_batch(name, request.get_data()))


@blueprint.post("/api/v1/surveys/<name>/withdraw")
def withdraw(name: str) -> Response:
    """Take a report back, until the survey closes; the reply is the same however often one asks."""
    confirmation = current_app.extensions["admission"].withdraw(name, request.get_data())
    return problems.response("not_found") if confirmation is None else jsonify(confirmation)


@blueprint.after_request
def allow_any_origin(reply: Response) -> Response:
    """A saved page or a static host may read the survey and send a report, without credentials."""
    if request.path.startswith("/api/"):
        reply.headers["Access-Control-Allow-Origin"] = "*"
        reply.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        if request.method == "OPTIONS":
            reply.headers["Access-Control-Allow-Methods"] = "GET, POST"
            reply.headers["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
    return reply


def newest(name: str) -> StoredSurvey:
    """
    The newest revision of a survey.

    Raises:
        ReportRejected: ``unknown_survey``.
    """
    revisions: list[StoredSurvey] = current_app.extensions["storage"].revisions(name)
    if not revisions:
        raise ReportRejected("unknown_survey", "no survey has this name")
    return revisions[-1]


def _reply(pending: Pending) -> Response:
    """The reply, or, where the gate offers to wait for the database, a blank that it fills in then."""
    later = request.environ.get(LATER)
    if later is None:
        return Response(pending.reply(), content_type="application/json")
    later(pending)
    return Response(b"", content_type="application/json")


def _asset(name: str) -> Response:
    packed = current_app.extensions["assets"].get(name)
    if packed is None:
        return problems.response("not_found")
    asset = packed.asset
    reply = Response(asset.body, content_type=asset.content_type)
    reply.headers["Vary"] = "Accept-Encoding"
    if asset.style:
        embedders = current_app.extensions["settings"].embedders
        reply.headers["Content-Security-Policy"] = form_policy(asset.style, embedders)
    coding = next((coding for coding in packed.codings if request.accept_encodings[coding] > 0), None)
    if coding is not None:
        reply.data = packed.codings[coding]
        reply.headers["Content-Encoding"] = coding
    return reply
