"""
Deny by default: every route needs a member of staff, but for those on one list.

Members of staff hold random keys. Programs send one as ``Authorization: Bearer``; the dashboard exchanges one for a
session whose cookie no script can read and no other site can use. Only hashes are stored.
"""

import hmac
from typing import Any
from urllib.parse import urlsplit

from flask import Flask, Response, current_app, g, redirect, render_template, request, url_for
from sottovoce.aggregator.access.keys import KEY_DAYS, key_hash, link_hash, new_cookie, new_key
from sottovoce.aggregator.clock import DAY
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.access_rows import EVERY_SURVEY, SCOPES, Account, Key
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


def let_in_by(storage: Storage, authorization: str, day: int) -> tuple[Account, Key] | None:
    """
    The key in an ``Authorization`` header, and whose it is; None if there is none that lets in.

    Args:
        storage: an open database.
        authorization: the header.
        day: today, counted from 1970-01-01.
    """
    given = bearer_token(authorization)
    return storage.access.key(key_hash(given), day) if given else None


def register(app: Flask) -> None:
    """Guard every route of the app."""
    app.before_request(_guard)


def _guard() -> Response | None:
    endpoint = request.endpoint
    if endpoint is None or endpoint in PUBLIC or request.method == "OPTIONS":
        return None
    if endpoint.startswith(("studio.", "auth.")):
        return _guard_page()
    found = let_in_by(_storage(), request.headers.get("Authorization", ""), _now() // DAY)
    return problems.response("unauthorized", EXPECTED) if found is None else None


def _guard_page() -> Response | None:
    cookie = request.cookies.get(_cookie_name())
    session = _storage().access.session(key_hash(cookie), _now()) if cookie else None
    if session is None:
        return _found(redirect(url_for("auth.login")))
    if request.method == "POST" and not (_same_origin() and _form_token_matches(cookie or "")):
        return problems.response("forbidden")
    g.account, g.form_token = session.account, _form_token(cookie or "")
    return None


def login() -> str:
    """Ask for the token."""
    return render_template("login.html", refused=False)


def enter() -> Response | tuple[str, int, list[tuple[str, str]]]:
    """Exchange the token for a session."""
    if not _same_origin():
        return problems.response("forbidden")
    digest = key_hash(request.form.get("token", "").strip())
    # Looked up before anything is written: whoever guesses does not keep reports from being stored.
    if _storage().access.key(digest, _now() // DAY) is None:
        return _not_known()
    cookie, session = new_cookie()
    if _storage().access.start_session_by_key(session, digest, _now()) is None:
        return _not_known()
    return _with_cookie(_found(redirect(url_for("studio.surveys"))), cookie)


def offer() -> str:
    """What the link leads to: a button. Programs that look at links before people do press none."""
    return render_template("sign_in.html", token=None)


def sign_in() -> Response | tuple[str, int, list[tuple[str, str]]]:
    """Exchange the link, which is worth nothing after that, for a token, shown once, and a session."""
    if not _same_origin():
        return problems.response("forbidden")
    link, today = link_hash(request.args.get("link", "")), _now() // DAY
    # Looked up before anything is written, as above.
    if _storage().access.invitation(link, today) is None:
        return _not_known()
    cookie, session = new_cookie()
    account = _storage().access.start_session_by_link(session, link, _now())
    if account is None:
        return _not_known()
    key, digest = new_key()
    own = Key(digest, account.id, "own", frozenset(SCOPES), EVERY_SURVEY, today + KEY_DAYS)
    _storage().access.add_key(own)
    return _with_cookie(Response(render_template("sign_in.html", token=key)), cookie)


def leave() -> Response:
    """End the session here and in the browser."""
    _storage().access.end_session(key_hash(request.cookies.get(_cookie_name(), "")))
    reply = _found(redirect(url_for("auth.login")))
    reply.delete_cookie(_cookie_name(), **_cookie_options())
    return reply


def _not_known() -> tuple[str, int, list[tuple[str, str]]]:
    return render_template("login.html", refused=True), problems.STATUS["unauthorized"], problems.CHALLENGE


def begin_session(account_id: bytes, door: str, reply: Response) -> Response | None:
    """
    The reply with the cookie of a session of this account; None if it is disabled.

    Args:
        account_id: who has come in.
        door: by what: one of ``doors.DOORS``.
        reply: what the browser is sent.
    """
    cookie, session = new_cookie()
    begun = _storage().access.start_session(session, account_id, door, _now())
    return _with_cookie(reply, cookie) if begun else None


def _with_cookie(reply: Response, cookie: str) -> Response:
    reply.set_cookie(_cookie_name(), cookie, **_cookie_options())
    return reply


def _storage() -> Storage:
    storage: Storage = current_app.extensions["storage"]
    return storage


def _now() -> int:
    """Seconds since 1970."""
    return int(current_app.extensions["clock"]().timestamp())


def _secure() -> bool:
    return bool(current_app.extensions["settings"].secure)


def session_secret() -> str:
    """What only the browser of the session that asks has; it stands in no page."""
    return request.cookies.get(_cookie_name(), "")


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
