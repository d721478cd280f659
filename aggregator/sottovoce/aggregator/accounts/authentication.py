"""Authenticate staff. Deny by default: every route needs an authorized account, except those in ``PUBLIC``.

Staff hold random keys. Programs send a key as ``Authorization: Bearer``. The studio exchanges a key for a session,
whose cookie is HttpOnly and SameSite=Strict. The server stores only hashes.
"""

import hmac
import re
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from flask import Flask, Response, current_app, g, redirect, render_template, request, url_for
from sottovoce.aggregator.accounts import visitors
from sottovoce.aggregator.accounts.permissions import AccessDecision, access_decision, actor_of, publish_decision
from sottovoce.aggregator.accounts.secrets import KEY_DAYS, key_hash, link_hash, new_cookie, new_key
from sottovoce.aggregator.clock import DAY
from sottovoce.aggregator.http import problems
from sottovoce.aggregator.http.headers import EXPECTED, bearer_token
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.accounts.models import EVERY_SURVEY, SCOPES, AccessKey, Account, StaffSession
from werkzeug.http import parse_cookie

ADDRESS = "kept_for"
"""Form field with the address that the kept form was posted to."""

MARK = "kept."
"""Prefix of the names of kept fields, which separates them from the fields of the sign-in page."""

SIGNED_IN = "signed_in"
"""Name of the button for a person who has signed in elsewhere meanwhile."""

is_page = re.compile(r"/dashboard/[A-Za-z0-9/_.?=&-]{0,500}").fullmatch
"""Matches the pages that sign-in may redirect to; only paths of this site, to prevent open redirects."""


class ResumedForm(NamedTuple):
    """A form that was posted to ``address`` after its session ended.

    Its fields travel through the sign-in page as hidden fields and are posted again afterwards; no cookie, log or
    database stores them. The person first sees a page with one button, and that post gets the usual CSRF check.
    """

    address: str
    fields: tuple[tuple[str, str], ...]


def posted_form() -> ResumedForm | None:
    """Return the form posted in this request, without its CSRF token; None if it has no other field."""
    fields = [(name, text) for name, text in request.form.items(multi=True) if name != "form_token"]
    address = request.full_path.rstrip("?")
    return ResumedForm(address, tuple(fields)) if fields and is_page(address) else None


def resumed_form() -> ResumedForm | None:
    """Return the kept form inside the posted sign-in form; None if there is none."""
    address, fields = request.form.get(ADDRESS, ""), request.form.items(multi=True)
    resumed = tuple((name.removeprefix(MARK), text) for name, text in fields if name.startswith(MARK))
    return ResumedForm(address, resumed) if resumed and is_page(address) else None


_PUBLIC_ROUTES = {
    "collect": (
        "page worker asset part question question_block question_element question_element_by_hash question_frame "
        "published_question survey revisions status token redeem report batch withdraw"
    ),
    "front": "front calendar empty problem",
    "machine": "healthz readyz openapi",
    "auth": "login enter offer sign_in open_page",
    "studio": "style font design_style script drafts_script language accessibility ethics shared_results",
    "oidc": "accept callback invitation start",
    "passkeys": "offer script sign_in",
    "access": "invitation accept",
}
PUBLIC = frozenset(f"{blueprint}.{route}" for blueprint, routes in _PUBLIC_ROUTES.items() for route in routes.split())
"""Endpoints that need no sign-in; a test compares them with the URL map."""

NOT_ALLOWED = "your role on this survey, or your key, does not allow this; ask its owner, or an admin"


def authenticate_key(storage: Storage, authorization: str, day: int) -> tuple[Account, AccessKey] | None:
    """Return account and key of an ``Authorization`` header; None without a key valid on ``day`` (since 1970-01-01)."""
    given = bearer_token(authorization)
    return storage.access.key(key_hash(given), day) if given else None


def has_session(storage: Storage, cookies: str, secure: bool, moment: int) -> bool:
    """Return True if the header ``Cookie`` holds a session valid at ``moment``, in seconds since 1970."""
    secret = parse_cookie(cookies).get(_name_of_cookie(secure), "")
    return bool(secret) and storage.access.session(key_hash(secret), moment) is not None


def register(app: Flask) -> None:
    """Check authentication and rights before every request of the app."""
    app.before_request(_guard)
    visitors.admit_visitors(app)


def _guard() -> Response | None:
    endpoint = request.endpoint
    if endpoint is None or endpoint in PUBLIC or request.method == "OPTIONS":
        return None
    refused = _authenticate_page() if request.path.startswith("/dashboard") else _authenticate_client()
    return refused or (None if visitors.is_visitor() else _check_right(endpoint))


def _authenticate_client() -> Response | None:
    found = authenticate_key(_storage(), request.headers.get("Authorization", ""), now() // DAY)
    if found is None:
        if "Authorization" in request.headers:
            count_refused()
        return problems.response("unauthorized", EXPECTED)
    g.actor, g.who = actor_of(_storage(), *found), found[0].id.hex()
    return None


def _authenticate_page() -> Response | None:
    cookie, session = session_secret(), _session()
    if session is None and visitors.are_allowed(request.endpoint):
        return _let_visit(visitors.visitor_secret())
    if session is None:
        form = posted_form() if request.method == "POST" and is_same_origin() else None
        if form is not None:
            page = render_template("login.html", refused=False, resumed_form=form)
            return Response(page, problems.STATUS["unauthorized"], problems.CHALLENGE)
        return flask_redirect(redirect(url_for("auth.login", next=_page_asked_for())))
    if request.method == "POST" and not (is_same_origin() and _form_token_matches(cookie)):
        return problems.response("forbidden", "the form did not come from this site")
    g.actor, g.form_token = actor_of(_storage(), session.account), _form_token(cookie)
    g.session, g.who = session, session.account.id.hex()
    return None


def _let_visit(secret: str) -> Response | None:
    if request.method == "POST" and not (secret and is_same_origin() and _form_token_matches(secret)):
        return problems.response("forbidden", "the form did not come from this site")
    g.visitor, g.form_token = secret, _form_token(secret)
    return None


def _check_right(endpoint: str) -> Response | None:
    survey = (request.view_args or {}).get("name")
    if endpoint == "results.publish":
        verdict = publish_decision(g.actor, survey or "", is_new=not _storage().revisions(survey or ""))
    else:
        verdict = access_decision(g.actor, endpoint, survey)
    if verdict is AccessDecision.UNKNOWN:
        return problems.response("unknown_survey")
    return problems.response("forbidden", NOT_ALLOWED) if verdict is AccessDecision.REFUSED else None


def _page_asked_for() -> str | None:
    """Return the page to open after sign-in; None for the list of surveys."""
    was_seen = request.method == "GET" and request.endpoint != "studio.surveys"
    return request.full_path.rstrip("?") if was_seen and is_page(request.full_path) else None


def redirect_target(page: str) -> str:
    """Return ``page`` if sign-in may redirect to it, else the list of surveys."""
    return page if is_page(page) else url_for("studio.surveys")


def login() -> str:
    """Show the page for signing in."""
    return render_template("login.html", refused=False)


def enter() -> Response | tuple[str, int, list[tuple[str, str]]]:
    """Exchange the key for a session; a kept form is returned, also if the person has signed in elsewhere."""
    if not is_same_origin():
        return problems.response("forbidden")
    form = resumed_form()
    if form is not None and SIGNED_IN in request.form and _session() is not None:
        return _resume_page(form, session_secret())
    cookie = _begin_session_by_key(request.form.get("token", "").strip())
    if cookie is None:
        return _unknown_key_page()
    if form is not None:
        return with_cookie(_resume_page(form, cookie), cookie)
    return with_cookie(flask_redirect(redirect(redirect_target(request.args.get("next", "")))), cookie)


def _begin_session_by_key(token: str) -> str | None:
    """Begin a session and return its cookie; None if the key is invalid, or keys are no sign-in method."""
    digest = key_hash(token)
    # Look up before writing: guesses of keys must not take the write lock that reports need.
    if "key" not in current_app.config["SIGN_IN_METHODS"] or _storage().access.key(digest, now() // DAY) is None:
        return None
    cookie, session = new_cookie()
    return cookie if _storage().access.start_session_by_key(session, digest, now()) else None


def _session() -> StaffSession | None:
    cookie = session_secret()
    return _storage().access.session(key_hash(cookie), now()) if cookie else None


def _resume_page(form: ResumedForm, session: str) -> Response:
    """Return a page with a button that posts the kept form again, under the new session."""
    return Response(render_template("resume_form.html", resumed_form=form, form_token=_form_token(session)))


def offer() -> str:
    """Show the page of a sign-in link: a button, so that link scanners of mail programs do not spend the link."""
    return render_template("sign_in.html", token=None)


def sign_in() -> Response | tuple[str, int, list[tuple[str, str]]]:
    """Spend the one-time link: make a key, which is shown once, and begin a session."""
    if not is_same_origin():
        return problems.response("forbidden")
    begun = begin_session_by_link(request.args.get("link", ""))
    if begun is None:
        return _unknown_key_page()
    account, cookie = begun
    key, digest = new_key()
    own = AccessKey(digest, account.id, "to sign in", frozenset(SCOPES), EVERY_SURVEY, now() // DAY + KEY_DAYS)
    _storage().access.by(account.id.hex()).add_key(own)
    return with_cookie(Response(render_template("sign_in.html", token=key)), cookie)


def open_page() -> Response | str:
    """Exchange a link for a session without a confirmation page, for a local set-up that has just printed the link.

    Requires that a person opened the address directly (``Sec-Fetch-Site: none``, no prefetch) and that the server is
    not served by https, as on your own computer. Otherwise a link in a mail or on another site could sign a victim in
    to the attacker's account (login CSRF).
    """
    sent = request.headers
    opened = sent.get("Sec-Fetch-Site") == "none" and not (sent.get("Sec-Purpose") or sent.get("Purpose"))
    begun = begin_session_by_link(request.args.get("link", "")) if opened and not is_secure() else None
    if begun is None:
        return render_template("sign_in.html", token=None)
    return with_cookie(flask_redirect(redirect(url_for("studio.surveys"))), begun[1])


def begin_session_by_link(secret: str) -> tuple[Account, str] | None:
    """Spend a sign-in link; return its account and the cookie of a new session, or None if the link is invalid."""
    link = link_hash(secret)
    # Look up before writing: guesses of links must not take the write lock that reports need.
    if _storage().access.invitation(link, now() // DAY) is None:
        return None
    cookie, session = new_cookie()
    account = _storage().access.start_session_by_link(session, link, now())
    return None if account is None else (account, cookie)


def leave() -> Response:
    """End the session in the database and delete its cookie."""
    _storage().access.end_session(key_hash(request.cookies.get(_cookie_name(), "")))
    reply = flask_redirect(redirect(url_for("auth.login")))
    reply.delete_cookie(_cookie_name(), **_cookie_options())
    return reply


def _unknown_key_page() -> tuple[str, int, list[tuple[str, str]]]:
    count_refused()
    page = render_template("login.html", refused=True, resumed_form=resumed_form())
    return page, problems.STATUS["unauthorized"], problems.CHALLENGE


def count_refused() -> None:
    """Count a refused sign-in, in memory only."""
    current_app.extensions["refused_logins"].count(now())
    current_app.extensions["admission"].rejected["unauthorized"] += 1


def begin_session(account_id: bytes, door: str, reply: Response) -> Response | None:
    """Begin a session, with its sign-in ``door`` such as ``oidc``, and add its cookie; None for a disabled account."""
    cookie, session = new_cookie()
    return with_cookie(reply, cookie) if _storage().access.start_session(session, account_id, door, now()) else None


def with_cookie(reply: Response, cookie: str) -> Response:
    """Set the session cookie on a reply: HttpOnly and SameSite=Strict."""
    reply.set_cookie(_cookie_name(), cookie, **_cookie_options())
    return reply


def _storage() -> Storage:
    storage: Storage = current_app.extensions["storage"]
    return storage


def now() -> int:
    """Return the current time in seconds since 1970."""
    return int(current_app.extensions["clock"]().timestamp())


def is_secure() -> bool:
    """Return True if the public URL of the aggregator is https."""
    return bool(current_app.extensions["settings"].secure)


def session_secret() -> str:
    """Return the secret in the session cookie; "" if there is none. Pages never contain it."""
    return request.cookies.get(_cookie_name(), "")


def _cookie_name() -> str:
    return _name_of_cookie(is_secure())


def _name_of_cookie(secure: bool) -> str:
    # Browsers accept the __Host- prefix only over https, which a local set-up does not have.
    return "__Host-sottovoce" if secure else "sottovoce"


def _cookie_options() -> dict[str, Any]:
    return {"secure": is_secure(), "httponly": True, "samesite": "Strict", "path": "/"}


def is_same_origin() -> bool:
    """Return True if ``Sec-Fetch-Site``, else ``Origin``, says that the form is from this site; without both, False."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site == "same-origin"
    return urlsplit(request.headers.get("Origin", "")).netloc == request.host


def _form_token(session: str) -> str:
    return hmac.digest(session.encode(), b"form", "sha256").hex()


def _form_token_matches(session: str) -> bool:
    return hmac.compare_digest(request.form.get("form_token", "").encode(), _form_token(session).encode())


def flask_redirect(reply: Any) -> Response:  # noqa: ANN401 - werkzeug's redirect is typed as its own base class
    """Convert werkzeug's redirect to a Flask ``Response``."""
    return Response(reply.get_data(), reply.status_code, headers=list(reply.headers))
