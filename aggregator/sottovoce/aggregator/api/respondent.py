"""Serve respondents: the form, the survey, and sending or withdrawing a report. No cookie is set, no log written."""

from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

from flask import Flask, Response, current_app, jsonify, request
from sottovoce.aggregator.http import problems
from sottovoce.aggregator.http.headers import (
    ANY_ORIGIN,
    bearer_token,
    blind_signature,
    form_policy,
    is_for_respondents,
    link_headers,
    question_headers,
    register_hosts,
)
from sottovoce.aggregator.http.routing import Kind, Route
from sottovoce.aggregator.institution import institution_of
from sottovoce.aggregator.intake.request_limits import PASSED, RateLimits, check_head
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.surveys.survey_file import read_published
from sottovoce.shared.by_link.link_question import published_page
from sottovoce.shared.errors import REJECTIONS

_FOR_EVER = "public, max-age=31536000, immutable"
"""``Cache-Control`` of files whose URL contains their digest; one year is the longest time that caches respect."""


def page(name: str) -> Response:  # noqa: ARG001 - the same page for every survey
    """Serve the form; the same bytes for every survey and respondent."""
    return _asset("respondent.html")


def part(folder: str, name: str) -> Response:
    """Serve a part of the form, from the folder of this release.

    A folder of another release gives 404, never this release's file instead: a page must run with its own parts or not
    at all. The proxy can ask a node of the other release (``deploy/nginx.conf``).
    """
    reply = _asset(name, folder)
    if reply.status_code == HTTPStatus.OK and reply.mimetype != "text/html":
        reply.headers["Cache-Control"] = _FOR_EVER
        # Parts are subresources, for which the page's own policy applies; this short one covers direct requests.
        reply.headers["Content-Security-Policy"] = "default-src 'none'"
    return reply


def _question_page(name: str) -> Response:
    """Serve the page of a question of another system's survey; the question never reaches the server."""
    reply = _asset(name)
    packed = current_app.extensions["assets"].get(name)
    if packed is not None:
        reply.headers.update(question_headers(packed.asset.policy))
    return reply


def published_question(digest: str) -> Response:
    """Serve the page of a published question that leads on to another survey; its bytes have the address's digest."""
    packed, settings = current_app.extensions["assets"].get("question_link.html"), current_app.extensions["settings"]
    document = read_published(current_app.extensions["storage"], settings.data, digest)
    if packed is None or document is None:
        return problems.response("not_found")
    found = current_app.extensions["storage"].institutions.documents()
    body = published_page(packed.asset.body, document, institution_of(found, settings.shown_institution).name)
    return Response(body, content_type=packed.asset.content_type, headers=link_headers(packed.asset.policy))


def question_element_by_hash(part: str) -> Response:
    """Serve the element's script, of this release or a former one, which lines in other surveys name by its hash."""
    reply = _for_any_origin(f"element-{part}.js")
    if reply.status_code == HTTPStatus.OK:
        reply.headers["Cache-Control"] = _FOR_EVER
    return reply


def _for_any_origin(name: str) -> Response:
    """Serve a script that pages of any origin may load."""
    reply = _asset(name)
    reply.headers.extend(ANY_ORIGIN)
    return reply


def survey(name: str) -> Response:
    """Serve the canonical bytes of the newest revision; the same for everybody."""
    return Response(current_app.extensions["published"].newest(name), content_type="application/json")


def revisions(name: str) -> Response:
    """Serve all published revisions; the same bytes for everybody, so that the request reveals nothing about a link."""
    return Response(current_app.extensions["published"].revisions(name), content_type="application/json")


def status(name: str) -> Response:
    """Serve the status of revisions and waves; the same for everybody."""
    return Response(current_app.extensions["published"].status(name), content_type="application/json")


def token(name: str) -> Response:
    """Check by its hash if a token can be spent.

    Spent, revoked and unknown tokens get the same reply, which reveals nothing about other people.
    """
    if not current_app.extensions["published"].is_token_good(name, request.get_data()):
        return problems.response("token_invalid")
    return Response(b'{"format":"sottovoce-token/1","good":true}', content_type="application/json")


def redeem(name: str) -> Response:
    """Sign the blinded ids that came with an invitation; a repeated request gets the same reply.

    The server closes the connection, because a report on the same connection would link report and invitation.
    """
    signed = current_app.extensions["redeeming"].redeem(name, request.get_data())
    return Response(signed, content_type="application/json", headers={"Connection": "close"})


def report(name: str) -> Response:
    """Admit a report and return its receipt; a repeated report gets the same receipt."""
    sent_with = request.headers.get("Authorization", "")
    of_sender = bearer_token(sent_with), blind_signature(sent_with)
    pending = current_app.extensions["admission"].begin(name, request.get_data(), *of_sender)
    return Response(pending.reply(), content_type="application/json")


def batch(name: str) -> Response:
    """Admit up to 1,000 reports; the reply has a receipt or a reason for each, in order."""
    pending = current_app.extensions["admission"].begin_batch(name, request.get_data())
    return Response(pending.reply(), content_type="application/json")


def withdraw(name: str) -> Response:
    """Withdraw a report, until the survey closes; a repeated request gets the same reply."""
    confirmation = current_app.extensions["admission"].withdraw(name, request.get_data())
    return problems.response("not_found") if confirmation is None else jsonify(confirmation)


def register_limits(app: Flask, settings: Settings) -> None:
    """Enforce the request limits inside the app for requests that did not pass the gate, and let devices call it.

    CORS headers without credentials let a saved form or a static host send reports.
    """
    limits = RateLimits(settings)

    def check() -> None:
        if PASSED not in request.environ:
            # WSGI joins all lines in order: the nearest proxy appends last, and the sender may have written the first.
            forwarded = request.headers.get("X-Forwarded-For", "")
            limits.check_sender(f"{request.method} {request.path}", request.remote_addr, forwarded)
            check_head(request.method, request.path, [(name.lower(), value) for name, value in request.headers])

    def note(reply: Response) -> Response:
        asked, status = f"{request.method} {request.path}", reply.status_code
        if is_for_respondents(asked):
            reply.headers.extend(ANY_ORIGIN)
            if request.method == "OPTIONS":
                reply.headers["Access-Control-Allow-Methods"] = "GET, POST"
                reply.headers["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
        reply.headers.extend(limits.headers(asked, status))
        if PASSED not in request.environ:
            limits.note(asked, status, request.remote_addr, request.headers.get("X-Forwarded-For", ""))
        return reply

    register_hosts(app, settings.hosts, bool(settings.trusted_hosts))
    app.before_request(check)
    app.after_request(note)


def _asset(name: str, folder: str | None = None) -> Response:
    """Serve an asset, compressed if the client accepts it; 404 if ``folder`` is given and is not the asset's folder."""
    packed = current_app.extensions["assets"].get(name)
    if packed is None or folder not in {None, packed.asset.folder}:
        return problems.response("not_found")
    asset = packed.asset
    reply = Response(asset.body, content_type=asset.content_type)
    reply.headers["Vary"] = "Accept-Encoding"
    if asset.style:
        reply.headers["Content-Security-Policy"] = form_policy(asset.style)
    coding = next((coding for coding in packed.codings if request.accept_encodings[coding] > 0), None)
    if coding is not None:
        reply.data = packed.codings[coding]
        reply.headers["Content-Encoding"] = coding
    return reply


_SURVEY = "/api/v1/surveys/<name>"


def _of_survey(method: str, path: str, view: Callable[..., Any], summary: str, gives: str, **more: Any) -> Route:  # noqa: ANN401 - as Route takes them
    endpoint = f"collect.{view.__name__}"
    return Route(endpoint, method, f"{_SURVEY}{path}", view, summary, Kind.RESPONDENT, (gives,), **more)


ROUTES = (
    Route("collect.page", "GET", "/s/<name>", page, "Serve the form; the same page for every survey."),
    # Below /s/, so that its scope covers only the respondents' pages.
    Route("collect.worker", "GET", "/s/sw.js", partial(_asset, "sw.js"), "Serve the form's service worker.",
          gives=("text/javascript",)),
    Route("collect.asset", "GET", "/assets/<name>", partial(_asset, folder=""),
          "Serve a file that several pages share.", gives=("*/*",)),
    Route("collect.part", "GET", "/assets/<folder>/<path:name>", part, "Serve a script, style or font of the form.",
          gives=("*/*",)),
    Route("collect.question", "GET", "/q/1/", partial(_question_page, "question.html"),
          "Serve the page of a single question."),
    Route("collect.question_block", "GET", "/q/1/block.html", partial(_question_page, "question_block.html"),
          "Serve the page of questions that are randomized together."),
    Route("collect.published_question", "GET", "/q/1/<digest>", published_question,
          "Serve the page of a question that leads on to another survey."),
    Route("collect.question_element", "GET", "/q/1/element.js", partial(_for_any_origin, "question.js"),
          "Serve the script of the element that opens the page of a single question.", gives=("text/javascript",)),
    Route("collect.question_element_by_hash", "GET", "/q/1/element-<part>.js", question_element_by_hash,
          "Serve the script of that element, of this release or a former one, by its hash.",
          gives=("text/javascript",)),
    Route("collect.question_frame", "GET", "/q/1/frame.js", partial(_for_any_origin, "question_frame.js"),
          "Serve the script that holds the page in a frame.", gives=("text/javascript",)),
    _of_survey("GET", "", survey, "Return the newest revision of a survey as canonical JSON.", "survey"),
    _of_survey("GET", "/revisions", revisions, "List all published revisions of a survey, newest first.", "revisions"),
    _of_survey("GET", "/status", status, "List the revisions and waves that accept reports now.", "status"),
    _of_survey("POST", "/token", token, "Check by its hash whether a one-time token can still be used.", "token-good",
               body="token", refuses=("token_invalid",)),
    _of_survey("POST", "/redeem", redeem, "Redeem an invitation: sign the blinded report ids of all waves at once.",
               "redemption", body="redeem", refuses=("token_invalid", "already_redeemed", "closed", "digest_mismatch")),
    _of_survey("POST", "/reports", report,
               "Submit one report as canonical JSON; every repetition gets the same receipt.", "receipt", body="report",
               refuses=REJECTIONS),
    _of_survey("POST", "/reports/batch", batch,
               "Submit up to 1,000 reports; the reply has a receipt or an error for each.", "batch-receipt",
               body="batch"),
    _of_survey("POST", "/withdraw", withdraw, "Withdraw a report, until the survey closes.", "withdrawal",
               body="withdraw", refuses=("not_found", "closed")),
)  # fmt: skip
"""Respondents' routes."""
