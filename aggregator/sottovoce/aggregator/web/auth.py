"""
Deny by default: every route needs a researcher, but for those on one list.

Researchers hold a random token. Programs send it as ``Authorization: Bearer``; the dashboard exchanges it for a
session whose cookie no script can read and no other site can use. Only hashes are stored.
"""

import hashlib
import hmac
import secrets
from typing import Any
from urllib.parse import urlsplit

from flask import Flask, Response, current_app, g, redirect, render_template, request, url_for
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.web import problems
from sottovoce.aggregator.web.authorization import EXPECTED, bearer_token

PUBLIC = frozenset(
    {
        "collect.page",
        "collect.worker",
        "collect.asset",
        "collect.part",
        "collect.survey",
        "collect.revisions",
        "collect.status",
        "collect.token",
        "collect.report",
        "collect.batch",
        "collect.withdraw",
        "front.front",
        "machine.healthz",
        "machine.readyz",
        "machine.openapi",
        "front.problem",
        "auth.login",
        "auth.enter",
        "auth.offer",
        "auth.sign_in",
        "studio.style",
        "studio.script",
        "studio.language",
    }
)
"""The endpoints that anybody may use; a test walks the URL map."""

TOKEN_PREFIX = "researcher-"


def new_token() -> tuple[str, bytes]:
    """A researcher's token, to be shown once, and its hash, to be stored."""
    token = TOKEN_PREFIX + secrets.token_urlsafe(24)
    return token, token_hash(token)


def token_hash(token: str) -> bytes:
    """192 random bits need no slow hash."""
    return hashlib.sha256(token.encode()).digest()


def new_sign_in() -> tuple[str, bytes]:
    """
    The path of a page that signs one researcher in, once, and what is stored of it in the place of a token.

    Its secret is no token: it is hashed in another way, so that it lets nobody in but through ``sign_in``.
    """
    secret = secrets.token_urlsafe(24)
    return f"/dashboard/sign-in?link={secret}", _link_hash(secret)


def _link_hash(secret: str) -> bytes:
    return hashlib.blake2b(secret.encode(), digest_size=32, person=b"sign-in link").digest()


def researcher_of(storage: Storage, authorization: str) -> str | None:
    """The researcher whose token stands in an ``Authorization`` header, or None."""
    token = bearer_token(authorization)
    return storage.researcher(token_hash(token)) if token else None


def register(app: Flask) -> None:
    """Guard every route of the app."""
    app.before_request(_guard)


def _guard() -> Response | None:
    endpoint = request.endpoint
    if endpoint is None or endpoint in PUBLIC or request.method == "OPTIONS":
        return None
    if endpoint.startswith(("studio.", "auth.")):
        return _guard_page()
    name = researcher_of(current_app.extensions["storage"], request.headers.get("Authorization", ""))
    return problems.response("unauthorized", EXPECTED) if name is None else None


def _guard_page() -> Response | None:
    session = request.cookies.get(_cookie_name())
    now = int(current_app.extensions["clock"]().timestamp())
    name = current_app.extensions["storage"].session(token_hash(session), now) if session else None
    if name is None:
        return _found(redirect(url_for("auth.login")))
    if request.method == "POST" and not (_same_origin() and _form_token_matches(session or "")):
        return problems.response("forbidden")
    g.researcher, g.form_token = name, _form_token(session or "")
    return None


def login() -> str:
    """Ask for the token."""
    return render_template("login.html", refused=False)


def enter() -> Response | tuple[str, int, list[tuple[str, str]]]:
    """Exchange the token for a session."""
    if not _same_origin():
        return problems.response("forbidden")
    reply = _begin_session(
        token_hash(request.form.get("token", "").strip()), _found(redirect(url_for("studio.surveys")))
    )
    return _not_known() if reply is None else reply


def offer() -> str:
    """What the link leads to: a button. Programs that look at links before people do press none."""
    return render_template("sign_in.html", token=None)


def sign_in() -> Response | tuple[str, int, list[tuple[str, str]]]:
    """Exchange the link, which is worth nothing after that, for a token, shown once, and a session."""
    if not _same_origin():
        return problems.response("forbidden")
    token, digest = new_token()
    link = _link_hash(request.args.get("link", ""))
    exchanged = _is_known(link) and current_app.extensions["storage"].exchange_token(link, digest) is not None
    reply = _begin_session(digest, Response(render_template("sign_in.html", token=token))) if exchanged else None
    return _not_known() if reply is None else reply


def leave() -> Response:
    """End the session here and in the browser."""
    current_app.extensions["storage"].end_session(token_hash(request.cookies.get(_cookie_name(), "")))
    reply = _found(redirect(url_for("auth.login")))
    reply.delete_cookie(_cookie_name(), **_cookie_options())
    return reply


def _not_known() -> tuple[str, int, list[tuple[str, str]]]:
    return render_template("login.html", refused=True), problems.STATUS["unauthorized"], problems.CHALLENGE


def _is_known(token: bytes) -> bool:
    """Asked before anything is written: whoever guesses does not keep reports from being stored."""
    return current_app.extensions["storage"].researcher(token) is not None


def _begin_session(token: bytes, reply: Response) -> Response | None:
    """
    The reply with the cookie of a session that was begun with the token of this hash; None if it lets nobody in.

    Both are one step in the database: a token that is revoked at this moment leaves no session behind.
    """
    session = secrets.token_urlsafe(32)
    now = int(current_app.extensions["clock"]().timestamp())
    if not _is_known(token) or current_app.extensions["storage"].start_session(token_hash(session), token, now) is None:
        return None
    reply.set_cookie(_cookie_name(), session, **_cookie_options())
    return reply


def _secure() -> bool:
    return bool(current_app.extensions["settings"].secure)


def _cookie_name() -> str:
    # Browsers accept the __Host- prefix over https only; a set-up on one's own machine has none.
    return "__Host-sottovoce" if _secure() else "sottovoce"


def _cookie_options() -> dict[str, Any]:
    return {"secure": _secure(), "httponly": True, "samesite": "Strict", "path": "/"}


def _same_origin() -> bool:
    """A browser that posts a form says where the form came from; one that does not say is not let in."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site == "same-origin"
    return urlsplit(request.headers.get("Origin", "")).netloc == request.host


def _form_token(session: str) -> str:
    return hmac.digest(session.encode(), b"form", "sha256").hex()


def _form_token_matches(session: str) -> bool:
    return hmac.compare_digest(request.form.get("form_token", "").encode(), _form_token(session).encode())


def _found(reply: Any) -> Response:  # noqa: ANN401 - werkzeug's redirect is typed as its own base class
    return Response(reply.get_data(), reply.status_code, headers=list(reply.headers))
