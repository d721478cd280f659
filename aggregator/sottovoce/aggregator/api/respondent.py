"""What respondents use: the page, the survey's bytes, where to send a report or take it back. No cookie, no log."""

from http import HTTPStatus

from flask import Flask, Response, current_app, jsonify, request
from sottovoce.aggregator.http import problems
from sottovoce.aggregator.http.authorization_header import bearer_token, blind_signature
from sottovoce.aggregator.http.headers import ANY_ORIGIN, form_policy, is_for_respondents
from sottovoce.aggregator.http.routing import Kind, Route
from sottovoce.aggregator.intake.request_limits import PASSED, Limits, check_head
from sottovoce.aggregator.settings import Settings
from sottovoce.shared.errors import REJECTIONS

_FOR_EVER = "public, max-age=31536000, immutable"
"""Of what is named by its digest; a year is the longest that caches heed."""


def page(name: str) -> Response:  # noqa: ARG001 - the same page for every survey
    """The form; the same bytes for everybody."""
    return _asset("respondent.html")


def worker() -> Response:
    """The form's service worker; here, so that it has a say in the respondents' pages and in no other."""
    return _asset("sw.js")


def asset(name: str) -> Response:
    """What belongs to no page in particular: the pieces of a page in one file."""
    return _asset(name, "")


def part(folder: str, name: str) -> Response:
    """
    A part of the form, for whoever has the page that names this folder.

    Another release's folder is not here, and nothing of ours is given in its place: a page runs with its own parts, or
    not at all. The proxy may ask a node of that release (``deploy/nginx.conf``).
    """
    reply = _asset(name, folder)
    if reply.status_code == HTTPStatus.OK and reply.mimetype != "text/html":
        reply.headers["Cache-Control"] = _FOR_EVER
        # It is no document: the page's own policy holds for it, and this one is short.
        reply.headers["Content-Security-Policy"] = "default-src 'none'"
    return reply


def survey(name: str) -> Response:
    """The newest revision's canonical bytes; the same for everybody."""
    return Response(current_app.extensions["published"].newest(name), content_type="application/json")


def revisions(name: str) -> Response:
    """All published revisions; the same bytes for everybody, so that asking says nothing about a link."""
    return Response(current_app.extensions["published"].revisions(name), content_type="application/json")


def status(name: str) -> Response:
    """Which revisions and waves answer now; the same for everybody."""
    return Response(current_app.extensions["published"].status(name), content_type="application/json")


def token(name: str) -> Response:
    """Whether a token may be spent, by its hash: one reply for yes, and one for everything else."""
    if not current_app.extensions["published"].is_token_good(name, request.get_data()):
        return problems.response("token_invalid")
    return Response(b'{"format":"sottovoce-token/1","good":true}', content_type="application/json")


def redeem(name: str) -> Response:
    """
    Sign what an invitation was sent with; the reply is the same for every copy of the request.

    The connection ends with it: a report that came on the same one would be known to be of the same device.
    """
    signed = current_app.extensions["redeeming"].redeem(name, request.get_data())
    return Response(signed, content_type="application/json", headers={"Connection": "close"})


def report(name: str) -> Response:
    """Admit one report; the reply is its receipt, the same for every copy of it."""
    sent_with = request.headers.get("Authorization", "")
    of_sender = bearer_token(sent_with), blind_signature(sent_with)
    pending = current_app.extensions["admission"].begin(name, request.get_data(), *of_sender)
    return Response(pending.reply(), content_type="application/json")


def batch(name: str) -> Response:
    """Admit up to 1,000 reports; the reply has a receipt or a reason for each, in their order."""
    pending = current_app.extensions["admission"].begin_batch(name, request.get_data())
    return Response(pending.reply(), content_type="application/json")


def withdraw(name: str) -> Response:
    """Take a report back, until the survey closes; the reply is the same however often one asks."""
    confirmation = current_app.extensions["admission"].withdraw(name, request.get_data())
    return problems.response("not_found") if confirmation is None else jsonify(confirmation)


def allow_any_origin(reply: Response) -> Response:
    """A saved page or a static host may read the survey and send a report, without credentials."""
    if is_for_respondents(request.method, request.path):
        reply.headers.extend(ANY_ORIGIN)
        if request.method == "OPTIONS":
            reply.headers["Access-Control-Allow-Methods"] = "GET, POST"
            reply.headers["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
    return reply


def register_limits(app: Flask, settings: Settings) -> None:
    """Let the application itself keep to the limits wherever the gate does not stand in front of it."""
    limits = Limits(settings)

    def check() -> None:
        if PASSED not in request.environ:
            headers = _headers()
            limits.check_sender(f"{request.method} {request.path}", request.remote_addr, headers)
            check_head(request.method, request.path, headers)

    def note(reply: Response) -> Response:
        if PASSED not in request.environ:
            limits.note(f"{request.method} {request.path}", reply.status_code, request.remote_addr, _headers())
        return reply

    def tell(reply: Response) -> Response:
        reply.headers.extend(limits.headers(f"{request.method} {request.path}", reply.status_code))
        return reply

    app.before_request(check)
    app.after_request(note)
    app.after_request(tell)
    app.after_request(allow_any_origin)


def _headers() -> list[tuple[str, str]]:
    return [(name.lower(), value) for name, value in request.headers]


def _asset(name: str, folder: str | None = None) -> Response:
    """A file, which must be in this folder if one is given."""
    packed = current_app.extensions["assets"].get(name)
    if packed is None or folder not in {None, packed.asset.folder}:
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


_SURVEY = "/api/v1/surveys/<name>"

ROUTES = (
    Route("collect.page", "GET", "/s/<name>", page, "The form; the same for every survey.", Kind.PAGE, ("text/html",)),
    Route("collect.worker", "GET", "/s/sw.js", worker, "The form's service worker.", Kind.PAGE, ("text/javascript",)),
    Route("collect.asset", "GET", "/assets/<name>", asset, "A file of no page in particular.", Kind.PAGE, ("*/*",)),
    Route("collect.part", "GET", "/assets/<folder>/<path:name>", part, "A part of the form.", Kind.PAGE, ("*/*",)),
    Route(
        "collect.survey",
        "GET",
        _SURVEY,
        survey,
        "The newest revision of a survey, in its canonical bytes.",
        Kind.RESPONDENT,
        ("survey",),
    ),
    Route(
        "collect.revisions",
        "GET",
        f"{_SURVEY}/revisions",
        revisions,
        "All published revisions of a survey, newest first.",
        Kind.RESPONDENT,
        ("revisions",),
    ),
    Route(
        "collect.status",
        "GET",
        f"{_SURVEY}/status",
        status,
        "Which revisions and waves answer now.",
        Kind.RESPONDENT,
        ("status",),
    ),
    Route(
        "collect.token",
        "POST",
        f"{_SURVEY}/token",
        token,
        "Whether a one-time token may be spent, asked by its hash.",
        Kind.RESPONDENT,
        ("token-good",),
        body="token",
        refuses=("token_invalid",),
    ),
    Route(
        "collect.redeem",
        "POST",
        f"{_SURVEY}/redeem",
        redeem,
        "Have the blinded ids of coming reports signed for an invitation, for all waves at once.",
        Kind.RESPONDENT,
        ("redemption",),
        body="redeem",
        refuses=("token_invalid", "already_redeemed", "closed", "digest_mismatch"),
    ),
    Route(
        "collect.report",
        "POST",
        f"{_SURVEY}/reports",
        report,
        "Send one report, in its canonical bytes; the receipt is the same for every copy of it.",
        Kind.RESPONDENT,
        ("receipt",),
        body="report",
        refuses=REJECTIONS,
    ),
    Route(
        "collect.batch",
        "POST",
        f"{_SURVEY}/reports/batch",
        batch,
        "Send up to 1,000 reports; each gets its receipt or its reason.",
        Kind.RESPONDENT,
        ("batch-receipt",),
        body="batch",
    ),
    Route(
        "collect.withdraw",
        "POST",
        f"{_SURVEY}/withdraw",
        withdraw,
        "Take a report back, until the survey closes.",
        Kind.RESPONDENT,
        ("withdrawal",),
        body="withdraw",
        refuses=("not_found", "closed"),
    ),
)
"""What respondents use."""
