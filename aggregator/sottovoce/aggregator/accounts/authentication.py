"""
Deny by default: every route needs a member of staff who may use it, but for those on one list.

Members of staff hold random keys. Programs send one as ``Authorization: Bearer``; the dashboard exchanges one for a
session whose cookie no script can read and no other site can use. Only hashes are stored.
"""

import hmac
import re
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from flask import Flask, Response, current_app, g, redirect, render_template, request, url_for
from sottovoce.aggregator.accounts.permissions import AccessDecision, may, may_publish
from sottovoce.aggregator.accounts.principal import actor_of
from sottovoce.aggregator.accounts.secrets import KEY_DAYS, key_hash, link_hash, new_cookie, new_key
from sottovoce.aggregator.clock import DAY
from sottovoce.aggregator.http import problems
from sottovoce.aggregator.http.authorization_header import EXPECTED, bearer_token
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.accounts.models import EVERY_SURVEY, SCOPES, AccessKey, Account, StaffSession

ADDRESS = "kept_for"
"""The name of the field that says where it was posted."""

MARK = "kept."
"""What stands before the names of the fields, so that they are not taken for those of the page for signing in."""

SIGNED_IN = "signed_in"
"""The button of whoever has signed in elsewhere meanwhile."""

is_page = re.compile(r"/dashboard/[A-Za-z0-9/_.?=&-]{0,500}").fullmatch
"""Pages that one is led back to: of this site, whatever a link or a form says."""


class KeptForm(NamedTuple):
    """
    A form that was posted after its session had ended.

    It goes with the page for signing in, and back to where it was posted: it stands in the pages' own forms, not in a
    cookie, a log or the database. The reader sees a page with one button first, and the form's own check is made then.

    Attributes:
        address: where to.
        fields: names and texts, in their order.
    """

    address: str
    fields: tuple[tuple[str, str], ...]


def posted_form() -> KeptForm | None:
    """The form in this request, posted to a page; None if nothing of it was typed or chosen."""
    fields = [(name, text) for name, text in request.form.items(multi=True) if name != "form_token"]
    address = request.full_path.rstrip("?")
    return KeptForm(address, tuple(fields)) if fields and is_page(address) else None


def kept_form() -> KeptForm | None:
    """The form that came along in that of the page for signing in, if there is one."""
    address = request.form.get(ADDRESS, "")
    fields = [(name, text) for name, text in request.form.items(multi=True) if name.startswith(MARK)]
    kept = tuple((name.removeprefix(MARK), text) for name, text in fields)
    return KeptForm(address, kept) if kept and is_page(address) else None


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
        "collect.redeem",
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
        "studio.drafts_script",
        "studio.language",
        "studio.ethics",
        "auth.open_page",
        "oidc.accept",
        "oidc.callback",
        "oidc.invitation",
        "oidc.start",
        "passkeys.offer",
        "passkeys.script",
        "passkeys.sign_in",
        "access.invitation",
        "access.accept",
    }
)
"""The endpoints that anybody may use; a test walks the URL map."""

NOT_ALLOWED = "your role on this survey, or your key, does not allow this; ask its owner, or an admin"


def let_in_by(storage: Storage, authorization: str, day: int) -> tuple[Account, AccessKey] | None:
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
    refused = _let_in_page() if request.path.startswith("/dashboard") else _let_in_program()
    return refused or _check_right(endpoint)


def _let_in_program() -> Response | None:
    found = let_in_by(_storage(), request.headers.get("Authorization", ""), now() // DAY)
    if found is None:
        if "Authorization" in request.headers:
            count_refused()
        return problems.response("unauthorized", EXPECTED)
    g.actor, g.who = actor_of(_storage(), *found), found[0].id.hex()
    return None


def _let_in_page() -> Response | None:
    cookie, session = session_secret(), _session()
    if session is None:
        kept = posted_form() if request.method == "POST" and is_same_origin() else None
        if kept is not None:
            page = render_template("login.html", refused=False, kept_form=kept)
            return Response(page, problems.STATUS["unauthorized"], problems.CHALLENGE)
        return redirected(redirect(url_for("auth.login", next=_page_asked_for())))
    if request.method == "POST" and not (is_same_origin() and _form_token_matches(cookie)):
        return problems.response("forbidden", "the form did not come from this site")
    g.actor, g.form_token = actor_of(_storage(), session.account), _form_token(cookie)
    g.session, g.who = session, session.account.id.hex()
    return None


def _check_right(endpoint: str) -> Response | None:
    survey = (request.view_args or {}).get("name")
    if endpoint == "results.publish":
        verdict = may_publish(g.actor, survey or "", is_new=not _storage().revisions(survey or ""))
    else:
        verdict = may(g.actor, endpoint, survey)
    if verdict is AccessDecision.UNKNOWN:
        return problems.response("unknown_survey")
    return problems.response("forbidden", NOT_ALLOWED) if verdict is AccessDecision.REFUSED else None


def _page_asked_for() -> str | None:
    """Where signing in leads back to; None for the list of surveys, and for what is no page."""
    was_seen = request.method == "GET" and request.endpoint != "studio.surveys"
    return request.full_path.rstrip("?") if was_seen and is_page(request.full_path) else None


def onward(page: str) -> str:
    """Where signing in leads to: the page that was asked for, if it is one of this site; else the list of surveys."""
    return page if is_page(page) else url_for("studio.surveys")


def login() -> str:
    """Ask for the token."""
    return render_template("login.html", refused=False)


def enter() -> Response | tuple[str, int, list[tuple[str, str]]]:
    """Exchange the token for a session; what came along is given back, also to whoever has signed in elsewhere."""
    if not is_same_origin():
        return problems.response("forbidden")
    kept = kept_form()
    if kept is not None and SIGNED_IN in request.form and _session() is not None:
        return _given_back(kept, session_secret())
    cookie = _begin_session_by_key(request.form.get("token", "").strip())
    if cookie is None:
        return _not_known()
    if kept is not None:
        return with_cookie(_given_back(kept, cookie), cookie)
    return with_cookie(redirected(redirect(onward(request.args.get("next", "")))), cookie)


def _begin_session_by_key(token: str) -> str | None:
    """The cookie of a session; None if the key lets nobody in, or that door is shut."""
    digest = key_hash(token)
    # Looked up before anything is written: whoever guesses does not keep reports from being stored.
    if "key" not in current_app.config["SIGN_IN_METHODS"] or _storage().access.key(digest, now() // DAY) is None:
        return None
    cookie, session = new_cookie()
    return cookie if _storage().access.start_session_by_key(session, digest, now()) else None


def _session() -> StaffSession | None:
    """The session of the browser that asks, if it lasts."""
    cookie = session_secret()
    return _storage().access.session(key_hash(cookie), now()) if cookie else None


def _given_back(kept: KeptForm, session: str) -> Response:
    """A page from which what was kept is posted again, under the new session, once somebody presses its button."""
    return Response(render_template("kept_form.html", kept_form=kept, form_token=_form_token(session)))


def offer() -> str:
    """What the link leads to: a button. Programs that look at links before people do press none."""
    return render_template("sign_in.html", token=None)


def sign_in() -> Response | tuple[str, int, list[tuple[str, str]]]:
    """Exchange the link, which is worth nothing after that, for a token, shown once, and a session."""
    if not is_same_origin():
        return problems.response("forbidden")
    begun = begin_session_by_link(request.args.get("link", ""))
    if begun is None:
        return _not_known()
    account, cookie = begun
    key, digest = new_key()
    own = AccessKey(digest, account.id, "to sign in", frozenset(SCOPES), EVERY_SURVEY, now() // DAY + KEY_DAYS)
    _storage().access.by(account.id.hex()).add_key(own)
    return with_cookie(Response(render_template("sign_in.html", token=key)), cookie)


def open_page() -> Response | str:
    """
    Exchange a link for a session without asking, where a person opened it: no page led here, no program looks ahead.

    Only on one's own machine, where the program has just told the link: one that came by mail, or from another site,
    would sign somebody in as whoever made it, without being asked.
    """
    sent = request.headers
    opened = sent.get("Sec-Fetch-Site") == "none" and not (sent.get("Sec-Purpose") or sent.get("Purpose"))
    opened = opened and not is_secure()
    begun = begin_session_by_link(request.args.get("link", "")) if opened else None
    if begun is None:
        return render_template("sign_in.html", token=None)
    return with_cookie(redirected(redirect(url_for("studio.surveys"))), begun[1])


def begin_session_by_link(secret: str) -> tuple[Account, str] | None:
    """Who is signed in by a link, which is spent, and the cookie of the session; None if it lets nobody in."""
    link = link_hash(secret)
    # Looked up before anything is written: whoever guesses does not keep reports from being stored.
    if _storage().access.invitation(link, now() // DAY) is None:
        return None
    cookie, session = new_cookie()
    account = _storage().access.start_session_by_link(session, link, now())
    return None if account is None else (account, cookie)


def leave() -> Response:
    """End the session here and in the browser."""
    _storage().access.end_session(key_hash(request.cookies.get(_cookie_name(), "")))
    reply = redirected(redirect(url_for("auth.login")))
    reply.delete_cookie(_cookie_name(), **_cookie_options())
    return reply


def _not_known() -> tuple[str, int, list[tuple[str, str]]]:
    count_refused()
    page = render_template("login.html", refused=True, kept_form=kept_form())
    return page, problems.STATUS["unauthorized"], problems.CHALLENGE


def count_refused() -> None:
    """One more came with a key, a link or an answer that lets nobody in; nothing is written."""
    current_app.extensions["refused_logins"].count(now())
    current_app.extensions["admission"].rejected["unauthorized"] += 1


def begin_session(account_id: bytes, door: str, reply: Response) -> Response | None:
    """
    The reply with the cookie of a session of this account; None if it is disabled.

    Args:
        account_id: who has come in.
        door: by what: one of ``doors.SIGN_IN_METHODS``.
        reply: what the browser is sent.
    """
    cookie, session = new_cookie()
    begun = _storage().access.start_session(session, account_id, door, now())
    return with_cookie(reply, cookie) if begun else None


def with_cookie(reply: Response, cookie: str) -> Response:
    """The reply with the secret of a session that was begun, which no script reads and no other site uses."""
    reply.set_cookie(_cookie_name(), cookie, **_cookie_options())
    return reply


def _storage() -> Storage:
    storage: Storage = current_app.extensions["storage"]
    return storage


def now() -> int:
    """Seconds since 1970."""
    return int(current_app.extensions["clock"]().timestamp())


def is_secure() -> bool:
    """Whether people come here through https."""
    return bool(current_app.extensions["settings"].secure)


def session_secret() -> str:
    """What only the browser of the session that asks has; it stands in no page."""
    return request.cookies.get(_cookie_name(), "")


def _cookie_name() -> str:
    # Browsers accept the __Host- prefix over https only; a set-up on one's own machine has none.
    return "__Host-sottovoce" if is_secure() else "sottovoce"


def _cookie_options() -> dict[str, Any]:
    return {"secure": is_secure(), "httponly": True, "samesite": "Strict", "path": "/"}


def is_same_origin() -> bool:
    """A browser that posts a form says where the form came from; one that does not say is not let in."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site == "same-origin"
    return urlsplit(request.headers.get("Origin", "")).netloc == request.host


def _form_token(session: str) -> str:
    return hmac.digest(session.encode(), b"form", "sha256").hex()


def _form_token_matches(session: str) -> bool:
    return hmac.compare_digest(request.form.get("form_token", "").encode(), _form_token(session).encode())


def redirected(reply: Any) -> Response:  # noqa: ANN401 - werkzeug's redirect is typed as its own base class
    """A redirect as a reply of Flask's own kind."""
    return Response(reply.get_data(), reply.status_code, headers=list(reply.headers))
