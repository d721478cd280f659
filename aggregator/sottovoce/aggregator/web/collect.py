"""What respondents use: the page, the survey's bytes, and one place to send a report. No cookie, no log, no name."""

import gzip
from functools import lru_cache

from flask import Blueprint, Response, current_app, jsonify, request
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.web import problems
from sottovoce.shared.errors import ReportRejected

blueprint = Blueprint("collect", __name__)


@blueprint.get("/s/<name>")
def page(name: str) -> Response:  # noqa: ARG001 - the same page for every survey
    """The form; the same bytes for everybody."""
    return _asset("respondent.html")


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
    return jsonify(current_app.extensions["admission"].admit(name, request.get_data()))


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


def _asset(name: str) -> Response:
    found = current_app.extensions["assets"].get(name)
    if found is None:
        return problems.response("not_found")
    reply = Response(found.body, content_type=found.content_type)
    reply.headers["Vary"] = "Accept-Encoding"
    if request.accept_encodings["gzip"] > 0:
        reply.data = _compressed(found.body)
        reply.headers["Content-Encoding"] = "gzip"
    return reply


@lru_cache(maxsize=16)
def _compressed(body: bytes) -> bytes:
    # Without a time, so that the same page is the same bytes after every start.
    return gzip.compress(body, mtime=0)
