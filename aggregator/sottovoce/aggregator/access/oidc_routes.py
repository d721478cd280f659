"""
Sign-in by an institution: the way there and the way back.

The way there is a link, since the content security policy lets no form lead elsewhere. The browser comes back from
another site: its cookie for this attempt is Lax, else it would not be sent along, and the session's, which is Strict,
is set by a page from which the browser goes on by itself: on a redirect it would still be held back.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

from flask import Response, current_app, redirect, render_template, request, url_for
from sottovoce.aggregator.access.keys import link_hash, new_cookie, new_id
from sottovoce.aggregator.access.oidc import START_AGAIN, Provider, attempt_of
from sottovoce.aggregator.access.sign_in_errors import SignInRefused
from sottovoce.aggregator.clock import DAY
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.access_rows import Account
from sottovoce.aggregator.web import auth, problems
from sottovoce.aggregator.web.route_table import Kind, Route

ATTEMPT_SECONDS = 600
"""How long a person may take at the institution's own pages."""

MOST_NAME = 80
"""Characters of a name."""

NOT_INVITED = (
    "Your institution knows you, but nobody has invited you here. Ask whoever runs this aggregator, or owns the "
    "survey, for an invitation."
)
INVITATION_SPENT = "This invitation was used before, or has expired. Ask for another one."
DISABLED = "This account is disabled. Ask whoever runs this aggregator."


def start() -> Response:
    """Send the browser to the institution."""
    address, attempt = _new_attempt()
    return _with_attempt(auth.redirected(redirect(address)), [attempt])


def invitation() -> str:
    """Ask an invited person what colleagues are to call them; the institution is not asked for names."""
    return render_template("invitation_by_institution.html", address="", most=MOST_NAME)


def accept() -> Response:
    """Show the link to the institution: whoever comes back from there is let in, from then on."""
    if not auth.is_same_origin():
        return problems.response("forbidden")
    link, name = request.args.get("link", ""), request.form.get("name", "").strip()[:MOST_NAME]
    if not name or _storage().access.invitation(link_hash(link), auth.now() // DAY) is None:
        raise SignInRefused(INVITATION_SPENT)
    address, attempt = _new_attempt()
    page = Response(render_template("invitation_by_institution.html", address=address, most=MOST_NAME))
    return _with_attempt(page, [attempt, link, name])


def callback() -> Response:
    """Where the institution sends the browser back to, with a code that is good once."""
    attempt, *invited = _attempt()
    subject = _provider().subject(attempt_of(attempt), request.args)
    account = _storage().access.account_of_subject(subject) or _invited(subject, *invited)
    page = Response(render_template("signed_in.html", onward=url_for("studio.surveys")))
    reply = auth.begin_session(account.id, "oidc", page)
    if reply is None:
        raise SignInRefused(DISABLED)
    reply.delete_cookie(_cookie_name(), **_cookie_options())
    return reply


def _invited(subject: str, link: str = "", name: str = "") -> Account:
    """The account of a person whom nobody knew, for an invitation, which is spent."""
    if not link:
        raise SignInRefused(NOT_INVITED)
    account = Account(new_id(), name, subject=subject)
    if not _storage().access.accept_invitation(link_hash(link), account, auth.now() // DAY):
        raise SignInRefused(INVITATION_SPENT)
    return account


def _new_attempt() -> tuple[str, str]:
    """Where the browser is to go, and the secret that it is to keep until it comes back."""
    secret, _ = new_cookie()
    return _provider().address(attempt_of(secret)), secret


def _with_attempt(reply: Response, parts: list[str]) -> Response:
    """The reply with the attempt's secret, and the invitation and name of somebody new, in a cookie."""
    value = ".".join(urlsafe_b64encode(part.encode("utf-8", "replace")).decode() for part in parts)
    reply.set_cookie(_cookie_name(), value, max_age=ATTEMPT_SECONDS, **_cookie_options())
    return reply


def _attempt() -> list[str]:
    """What ``_with_attempt`` has put into the cookie."""
    cookie = request.cookies.get(_cookie_name(), "")
    try:
        parts = [urlsafe_b64decode(part.encode()).decode() for part in cookie.split(".")]
    except ValueError:
        parts = []
    if len(parts) not in {1, 3} or not all(parts):
        raise SignInRefused(START_AGAIN)
    return parts


def _provider() -> Provider:
    provider: Provider = current_app.extensions["provider"]
    return provider


def _storage() -> Storage:
    storage: Storage = current_app.extensions["storage"]
    return storage


def _cookie_name() -> str:
    return "__Host-sottovoce-oidc" if auth.is_secure() else "sottovoce-oidc"


def _cookie_options() -> dict[str, Any]:
    return {"secure": auth.is_secure(), "httponly": True, "samesite": "Lax", "path": "/"}


_HTML = ("text/html",)

ROUTES = (
    Route(
        "oidc.start",
        "GET",
        "/dashboard/oidc/start",
        start,
        "Send the browser to the institution.",
        Kind.PAGE,
        _HTML,
    ),
    Route(
        "oidc.invitation",
        "GET",
        "/dashboard/oidc/invitation",
        invitation,
        "Ask an invited person what colleagues are to call them; the institution is not asked for names.",
        Kind.PAGE,
        _HTML,
    ),
    Route(
        "oidc.accept",
        "POST",
        "/dashboard/oidc/invitation",
        accept,
        "Show the link to the institution: whoever comes back from there is let in, from then on.",
        Kind.PAGE,
        _HTML,
    ),
    Route(
        "oidc.callback",
        "GET",
        "/dashboard/oidc/callback",
        callback,
        "Where the institution sends the browser back to, with a code that is good once.",
        Kind.PAGE,
        _HTML,
    ),
)
"""The way to an institution and back."""
