"""Authenticate staff and visitors, and decide what each may do. Deny by default: every route needs an authorized
account, except those in ``PUBLIC`` and, where visitors may come, those in ``FOR_VISITORS``.

Secrets     Staff hold random keys. Programs send a key as ``Authorization: Bearer``. The studio exchanges a key for a
            session, whose cookie is HttpOnly and SameSite=Strict. Keys, links and session cookies are shown once; the
            server stores only their hashes.
Rights      One table has the rights by route; a route that is neither in it nor public is refused. An account has a
            role on a survey or on every survey. Admin is a property of the account and gives no access to results. A
            key has at most the rights of its account, limited to its scopes and its survey.
Visitors    Where ``SOTTOVOCE_PUBLIC_ANALYSIS`` is 1, people without an account may analyze a file. A cookie with a
            random secret tells them apart, and protects their forms as a session does. The server stores nothing of
            them: their files stay in memory, and only a hash of the secret names whose they are.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from flask import Flask, Response, current_app, g, redirect, render_template, request, url_for
from sottovoce.aggregator.clock import DAY
from sottovoce.aggregator.http import problems
from sottovoce.aggregator.http.headers import EXPECTED, bearer_token
from sottovoce.aggregator.settings import SettingError
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.accounts.models import EVERY_SURVEY, ROLES, SCOPES, AccessKey, Account
from sottovoce.aggregator.walls import missing
from werkzeug.http import parse_cookie
from werkzeug.wrappers import Response as BaseResponse

ADDRESS = "kept_for"
"""Form field with the address that the kept form was posted to."""

MARK = "kept."
"""Prefix of the names of kept fields, which separates them from the fields of the sign-in page."""

SIGNED_IN = "signed_in"
"""Name of the button for a person who has signed in elsewhere meanwhile."""

is_page = re.compile(r"/dashboard/[A-Za-z0-9/_.?=&-]{0,500}").fullmatch
"""Matches the pages that sign-in may redirect to; only paths of this site, to prevent open redirects."""

KEY_DAYS, MOST_KEY_DAYS = 90, 366
"""Validity of a key in days: default and maximum."""

VIEW_DAYS, MOST_VIEW_DAYS = 30, 366
"""Validity of a link for an ethics board in days: default and maximum."""

KEY_PREFIX = "sottovoce-key-"
"""Prefix that lets people and secret scanners recognize a leaked key."""

_VISITED = (
    "analyze analyze_upload analyzed analyzed_change analyzed_tables analyzed_tables_file "
    "analyzed_models analyzed_models_file analyzed_end_analysis"
)
FOR_VISITORS = frozenset(f"studio.{route}" for route in _VISITED.split())
"""Endpoints for visitors."""

VISITOR = "visitor:"
"""Beginning of the ids of visitors, which no id of an account has."""


@dataclass(frozen=True)
class Actor:
    """A principal of a request; ``grants`` are roles by survey or ``EVERY_SURVEY``, ``key`` is None for a session."""

    account: Account
    grants: Mapping[str, str]
    key: AccessKey | None = None

    @property
    def survey(self) -> str:
        """Survey that the key is limited to, or ``EVERY_SURVEY``."""
        return EVERY_SURVEY if self.key is None else self.key.survey

    @property
    def is_admin(self) -> bool:
        """True for an admin account, unless its key is limited to one survey."""
        return self.account.admin and self.survey == EVERY_SURVEY

    def role(self, survey: str) -> str | None:
        """Return the role on a survey, which wins over a role on every survey; None if there is none."""
        if self.key is not None and self.key.survey not in {EVERY_SURVEY, survey}:
            return None
        return self.grants.get(survey) or self.grants.get(EVERY_SURVEY)

    def may_publish_new(self) -> bool:
        """Return True if the actor may publish under a new name: an admin, or an owner of any survey."""
        return self.survey == EVERY_SURVEY and (self.account.admin or "owner" in self.grants.values())


STAFF = "staff"
"""Any signed-in account; views of lists filter by role themselves."""

ADMIN = "admin"

NO_KEY = "-"
"""Instead of a scope: a page for people, which no key can open."""

ANY_SCOPE = ""


class Right(NamedTuple):
    """A right to use a route.

    Attributes:
        who: roles on the survey in the URL, or ``STAFF``, or ``ADMIN``.
        scope: scope that a key needs, or ``NO_KEY`` or ``ANY_SCOPE``.
    """

    who: frozenset[str]
    scope: str


_ROUTES = (
    (STAFF, ANY_SCOPE, "results", "surveys"),
    ("owner", "surveys:write", "results", "publish close reopen delete"),
    ("owner admin", "surveys:write", "questions", "published publish withdraw"),
    ("owner analyst", "results:read", "results", "estimates export"),
    ("owner analyst", "results:read", "joint", "crosstab compare mixture items pairs test regression weights analysis"),
    ("owner analyst", "results:read", "joint", "cancel"),
    ("owner fieldwork", "tokens:issue", "tokens", "stats create revoke"),
    (ADMIN, "metrics:read", "machine", "metrics"),
    (STAFF, NO_KEY, "auth", "leave"),
    (STAFF, NO_KEY, "access", "me make_key revoke_key end_session end_sessions"),
    ("owner analyst fieldwork viewer", NO_KEY, "access", "leave"),
    (STAFF, NO_KEY, "oidc", "bind"),
    (STAFF, NO_KEY, "passkeys", "own add remove"),
    (STAFF, NO_KEY, "studio", "surveys"),
    ("owner analyst fieldwork viewer", NO_KEY, "studio", "survey"),
    (STAFF, NO_KEY, "studio", _VISITED),
    ("owner admin", NO_KEY, "studio", "new begin links publish_link withdraw_link"),
    ("owner", NO_KEY, "studio", "design save_design discard"),
    ("owner analyst fieldwork viewer", NO_KEY, "studio", "preview preview_form elsewhere"),
    ("owner", NO_KEY, "studio", "try_out publish publish_now choose_column correct settings survey_institution"),
    ("owner", NO_KEY, "studio", "change_survey_institution close reopen retire delete"),
    ("owner analyst fieldwork viewer", NO_KEY, "studio", "privacy privacy_print privacy_data"),
    ("owner analyst", NO_KEY, "studio", "rehearse rehearse_download rehearse_chart rehearse_picture"),
    ("owner analyst", NO_KEY, "studio", "rehearse_figures rehearse_tables rehearse_tables_file rehearse_models"),
    ("owner analyst", NO_KEY, "studio", "rehearse_models_file rehearse_files rehearse_file tables tables_file"),
    ("owner analyst", NO_KEY, "studio", "models models_file end_analysis files file"),
    ("owner", NO_KEY, "studio", "open_budget release"),
    ("owner fieldwork", NO_KEY, "studio", "invite personal_links take_links_back qr_svg qr_png poster saved_page"),
    ("owner analyst viewer", NO_KEY, "studio", "results"),
    ("owner analyst", NO_KEY, "studio", "download"),
    ("owner analyst viewer", NO_KEY, "studio", "chart picture"),
    ("owner analyst", NO_KEY, "studio", "figures"),
    (ADMIN, NO_KEY, "studio", "institution change_institution accounts invite_account account change_account"),
    (ADMIN, NO_KEY, "studio", "journal"),
    ("owner", NO_KEY, "studio", "team change_team board change_board history"),
)
"""Who may use which routes of a blueprint, and the scope that a key needs, in the order of ``docs/access.md``."""

RIGHTS: dict[str, Right] = {
    f"{blueprint}.{route}": Right(frozenset(who.split()), scope)
    for who, scope, blueprint, routes in _ROUTES
    for route in routes.split()
}
"""Rights of every route that is not public; a test compares them with the URL map."""


class AccessDecision(Enum):
    """A decision about a request; UNKNOWN hides from accounts without a role that a survey exists."""

    ALLOWED = "allowed"
    REFUSED = "refused"
    UNKNOWN = "unknown"


def access_decision(actor: Actor, endpoint: str, survey: str | None) -> AccessDecision:
    """Decide if an actor may use an endpoint; ``survey`` is the one in the URL, None if the URL has none."""
    right = RIGHTS.get(endpoint)
    if right is None:
        return AccessDecision.REFUSED
    # Routes with roles but without a survey in the URL begin a new survey.
    role = actor.role(survey) if survey is not None else "owner" if actor.may_publish_new() else None
    if right.who & set(ROLES) and role is None:
        return AccessDecision.REFUSED if survey is None else AccessDecision.UNKNOWN
    is_admitted = STAFF in right.who or role in right.who or (ADMIN in right.who and actor.is_admin)
    has_scope = actor.key is None or right.scope == ANY_SCOPE or right.scope in actor.key.scopes
    return AccessDecision.ALLOWED if is_admitted and has_scope else AccessDecision.REFUSED


def publish_decision(actor: Actor, survey: str, is_new: bool) -> AccessDecision:
    """Decide if an actor may publish; ``is_new`` if no survey has this name.

    The owner of a survey may publish corrections; admins and owners of any survey may publish under a new name.
    """
    found = access_decision(actor, "results.publish", survey)
    if found is AccessDecision.ALLOWED or not is_new:
        return found
    may_write = actor.key is None or "surveys:write" in actor.key.scopes
    return AccessDecision.ALLOWED if actor.may_publish_new() and may_write else AccessDecision.REFUSED


def new_key() -> tuple[str, bytes]:
    """Make a key; return it, to be shown once, and its hash, to be stored."""
    key = KEY_PREFIX + secrets.token_urlsafe(24)
    return key, key_hash(key)


def key_hash(secret: str) -> bytes:
    """Hash a key or a session secret; SHA-256 suffices, since at least 192 random bits cannot be guessed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def new_link() -> tuple[str, bytes]:
    """Make the secret of a link; return it and its hash, unlike a key's, so that neither can be used as the other."""
    secret = secrets.token_urlsafe(24)
    return secret, link_hash(secret)


def link_hash(secret: str) -> bytes:
    """Hash the secret of a link."""
    return hashlib.blake2b(secret.encode("utf-8", "surrogatepass"), digest_size=32, person=b"sign-in link").digest()


def new_cookie() -> tuple[str, bytes]:
    """Make the secret of a session; return it and its hash."""
    secret = secrets.token_urlsafe(32)
    return secret, key_hash(secret)


def new_id() -> bytes:
    """Make a random id for an account."""
    return secrets.token_bytes(16)


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

FOREIGN_FORM = "the form did not come from this site"
NOT_ALLOWED = "your role on this survey, or your key, does not allow this; ask its owner, or an admin"


def authenticate_key(storage: Storage, authorization: str, day: int) -> tuple[Account, AccessKey] | None:
    """Return account and key of an ``Authorization`` header; None without a key valid on ``day`` (since 1970-01-01)."""
    given = bearer_token(authorization)
    return storage.access.key(key_hash(given), day) if given else None


def has_session(storage: Storage, cookies: str, secure: bool, moment: int) -> bool:
    """Return True if the header ``Cookie`` holds a session valid at ``moment``, in seconds since 1970."""
    secret = parse_cookie(cookies).get(cookie_name(secure), "")
    return bool(secret) and storage.access.session(key_hash(secret), moment) is not None


def register(app: Flask) -> None:
    """Check authentication and rights before every request of the app."""
    secure = app.extensions["settings"].secure
    app.config.update(SERVED_BY_HTTPS=secure, STAFF_COOKIE=cookie_name(secure))
    app.before_request(_guard)
    admit_visitors(app)


def _guard() -> BaseResponse | None:
    endpoint = request.endpoint
    if endpoint is None or endpoint in PUBLIC or request.method == "OPTIONS":
        # A form that needs no session has no token by which to know it.
        is_form = endpoint in PUBLIC and request.method == "POST" and request.path.startswith(problems.STAFF)
        return problems.response("forbidden", FOREIGN_FORM) if is_form and not is_same_origin() else None
    refused = _authenticate_page() if request.path.startswith("/dashboard") else _authenticate_client()
    if refused is not None or "visitor" in g:
        return refused
    survey = (request.view_args or {}).get("name")
    if endpoint == "results.publish":
        verdict = publish_decision(g.actor, survey or "", is_new=not storage().revisions(survey or ""))
    else:
        verdict = access_decision(g.actor, endpoint, survey)
    if verdict is AccessDecision.UNKNOWN:
        return problems.response("unknown_survey")
    return problems.response("forbidden", NOT_ALLOWED) if verdict is AccessDecision.REFUSED else None


def _authenticate_client() -> Response | None:
    found = authenticate_key(storage(), request.headers.get("Authorization", ""), now() // DAY)
    if found is None:
        if "Authorization" in request.headers:
            count_refused()
        return problems.response("unauthorized", EXPECTED)
    account, key = found
    g.actor, g.who = Actor(account, storage().access.grants(account.id), key), account.id.hex()
    return None


def _authenticate_page() -> BaseResponse | None:
    cookie = session_secret()
    session = storage().access.session(key_hash(cookie), now()) if cookie else None
    if session is None and current_app.config["PUBLIC_ANALYSIS"] and request.endpoint in FOR_VISITORS:
        return _let_visit()
    is_own = request.method == "POST" and is_same_origin()
    form = posted_form() if is_own else None
    if session is None:
        if form is not None:
            page = render_template("login.html", refused=False, resumed_form=form)
            return Response(page, problems.STATUS["unauthorized"], problems.CHALLENGE)
        back = _page_asked_for()
        return redirect(url_for("auth.login", next=back, lost=1 if is_own and back else None))
    if request.method == "POST" and not (is_own and _form_token_matches(cookie)):
        # Another tab has signed in since this page was opened.
        return problems.response("forbidden", FOREIGN_FORM) if form is None else _resume_page(form, cookie, "forbidden")
    account = session.account
    g.actor, g.form_token = Actor(account, storage().access.grants(account.id)), _form_token(cookie)
    g.session, g.who = session, account.id.hex()
    return None


def _let_visit() -> Response | None:
    """Know a visitor by the secret in a cookie, a new one if the request has none; a form without one is refused."""
    known = request.cookies.get(_visitor_cookie(), "")
    secret = known if known or request.method == "POST" else new_cookie()[0]
    if request.method == "POST" and not (secret and is_same_origin() and _form_token_matches(secret)):
        return problems.response("forbidden", FOREIGN_FORM)
    g.visitor, g.form_token = secret, _form_token(secret)
    return None


def _page_asked_for() -> str | None:
    """Return the page to open after sign-in, which may be a page that posts to itself; None for the list of surveys."""
    pages = current_app.create_url_adapter(request)
    was_seen = pages is not None and pages.test(request.path, "GET") and request.endpoint != "studio.surveys"
    return request.full_path.rstrip("?") if was_seen and is_page(request.full_path) else None


def redirect_target(page: str) -> str:
    """Return ``page`` if sign-in may redirect to it, else the list of surveys."""
    return page if is_page(page) else url_for("studio.surveys")


def login() -> str:
    """Show the page for signing in."""
    return render_template("login.html", refused=False)


def enter() -> BaseResponse | tuple[str, int, list[tuple[str, str]]]:
    """Exchange the key for a session; a kept form is returned, also if the person has signed in elsewhere."""
    form = resumed_form()
    cookies = request.headers.get("Cookie", "")
    if form is not None and SIGNED_IN in request.form and has_session(storage(), cookies, is_secure(), now()):
        return _resume_page(form, session_secret())
    cookie = _begin_session_by_key(request.form.get("token", "").strip())
    if cookie is None:
        return _unknown_key_page()
    if form is not None:
        return with_cookie(_resume_page(form, cookie), cookie)
    return with_cookie(redirect(redirect_target(request.args.get("next", ""))), cookie)


def _begin_session_by_key(token: str) -> str | None:
    """Begin a session and return its cookie; None if the key is invalid, or keys are no sign-in method."""
    digest = key_hash(token)
    # Look up before writing: guesses of keys must not take the write lock that reports need.
    if "key" not in current_app.config["SIGN_IN_METHODS"] or storage().access.key(digest, now() // DAY) is None:
        return None
    cookie, session = new_cookie()
    return cookie if storage().access.start_session_by_key(session, digest, now()) else None


def _resume_page(form: ResumedForm, session: str, problem: str = "") -> Response:
    """Return a page with a button that posts the kept form again, under the new session."""
    page = render_template("resume_form.html", resumed_form=form, form_token=_form_token(session))
    return Response(page, problems.STATUS.get(problem, 200))


def offer() -> str:
    """Show the page of a sign-in link: a button, so that link scanners of mail programs do not spend the link."""
    return render_template("sign_in.html", token=None)


def sign_in() -> BaseResponse | tuple[str, int, list[tuple[str, str]]]:
    """Spend the one-time link: make a key, which is shown once, and begin a session."""
    begun = begin_session_by_link(request.args.get("link", ""))
    if begun is None:
        return _unknown_key_page()
    account, cookie = begun
    key, digest = new_key()
    own = AccessKey(digest, account.id, "to sign in", frozenset(SCOPES), EVERY_SURVEY, now() // DAY + KEY_DAYS)
    storage().access.by(account.id.hex()).add_key(own)
    return with_cookie(Response(render_template("sign_in.html", token=key)), cookie)


def open_page() -> BaseResponse | str:
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
    return with_cookie(redirect(url_for("studio.surveys")), begun[1])


def begin_session_by_link(secret: str) -> tuple[Account, str] | None:
    """Spend a sign-in link; return its account and the cookie of a new session, or None if the link is invalid."""
    link = link_hash(secret)
    # Look up before writing: guesses of links must not take the write lock that reports need.
    if storage().access.invitation(link, now() // DAY) is None:
        return None
    cookie, session = new_cookie()
    account = storage().access.start_session_by_link(session, link, now())
    return None if account is None else (account, cookie)


def leave() -> BaseResponse:
    """End the session in the database and delete its cookie."""
    storage().access.end_session(key_hash(session_secret()))
    reply = redirect(url_for("auth.login"))
    reply.delete_cookie(current_app.config["STAFF_COOKIE"], **cookie_options())
    return reply


def _unknown_key_page() -> tuple[str, int, list[tuple[str, str]]]:
    count_refused()
    page = render_template("login.html", refused=True, resumed_form=resumed_form())
    return page, problems.STATUS["unauthorized"], problems.CHALLENGE


def count_refused() -> None:
    """Count a refused sign-in, in memory only."""
    current_app.extensions["refused_logins"].count(now())
    current_app.extensions["admission"].rejected["unauthorized"] += 1


def begin_session(account_id: bytes, door: str, reply: BaseResponse) -> BaseResponse | None:
    """Begin a session, with its sign-in ``door`` such as ``oidc``, and add its cookie; None for a disabled account."""
    cookie, session = new_cookie()
    return with_cookie(reply, cookie) if storage().access.start_session(session, account_id, door, now()) else None


def with_cookie(reply: BaseResponse, cookie: str) -> BaseResponse:
    """Set the session cookie on a reply: HttpOnly and SameSite=Strict."""
    reply.set_cookie(current_app.config["STAFF_COOKIE"], cookie, **cookie_options())
    return reply


def storage() -> Storage:
    """Return the storage of the running app."""
    found: Storage = current_app.extensions["storage"]
    return found


def now() -> int:
    """Return the current time in seconds since 1970."""
    return int(current_app.extensions["clock"]().timestamp())


def is_secure() -> bool:
    """Return True if the public URL of the aggregator is https."""
    return bool(current_app.config["SERVED_BY_HTTPS"])


def session_secret() -> str:
    """Return the secret in the session cookie; "" if there is none. Pages never contain it."""
    return request.cookies.get(current_app.config["STAFF_COOKIE"], "")


def cookie_name(secure: bool, name: str = "sottovoce") -> str:
    """Return a cookie's name; browsers accept the prefix only over https, which a local set-up does not have."""
    return f"__Host-{name}" if secure else name


def cookie_options(same_site: str = "Strict") -> dict[str, Any]:
    """Return the attributes of a cookie that no script reads."""
    return {"secure": is_secure(), "httponly": True, "samesite": same_site, "path": "/"}


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


def admit_visitors(app: Flask) -> None:
    """Give new visitors their cookie, and let the page of sign-in name the way in.

    Raises SettingError where nothing would keep a reader of strangers' files from the database.
    """
    app.config["PUBLIC_ANALYSIS"] = app.extensions["settings"].public_analysis == 1
    if not app.config["PUBLIC_ANALYSIS"]:
        return
    if reason := missing():
        raise SettingError(f"SOTTOVOCE_PUBLIC_ANALYSIS needs walls around the process that reads the files: {reason}")
    app.after_request(_with_cookie)


def is_visitor() -> bool:
    """Return True if the request comes from a visitor."""
    return "visitor" in g


def visitor_id() -> str:
    """Return the name of the visitor's files; it does not reveal the secret."""
    return f"{VISITOR}{hashlib.sha256(g.visitor.encode()).hexdigest()}"


def _with_cookie(reply: Response) -> Response:
    if is_visitor() and g.visitor and _visitor_cookie() not in request.cookies:
        reply.set_cookie(_visitor_cookie(), g.visitor, **cookie_options())
    return reply


def _visitor_cookie() -> str:
    return f"{current_app.config['STAFF_COOKIE']}-visitor"
