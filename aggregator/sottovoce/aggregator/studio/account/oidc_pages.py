"""Sign in with an institution's account by OpenID Connect: redirect to the provider, and callback.

The page shows a link to the provider, because the content security policy forbids forms that leave the site. The
callback is a navigation from another site: the cookie of the attempt is ``SameSite=Lax``, or the browser would not send
it. The session cookie is ``Strict``. A page that then navigates by itself sets it: after a plain redirect, the browser
would still withhold it.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode

from flask import Response, current_app, g, redirect, render_template, request, url_for
from sottovoce.aggregator.accounts import authentication
from sottovoce.aggregator.accounts.account_invitations import sign_in_link_secret
from sottovoce.aggregator.accounts.accounts import MOST_NAME, check_text
from sottovoce.aggregator.accounts.authentication import link_hash, new_cookie, new_id, storage
from sottovoce.aggregator.accounts.oidc import START_AGAIN, Provider, attempt_of
from sottovoce.aggregator.accounts.sign_in_errors import SignInRefused
from sottovoce.aggregator.clock import DAY
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.storage.accounts.models import AccessRefused, Account
from sottovoce.aggregator.studio.request_context import refusal_message, tables
from werkzeug.wrappers import Response as BaseResponse

ATTEMPT_SECONDS = 600
"""Lifetime of a sign-in attempt: time that a person may take at the provider."""

ATTEMPT_PARTS = 4
"""Parts of the attempt's cookie: secret of the attempt, page to open next, secret of a link, name of a new person."""

NOT_INVITED = (
    "Your institution knows you, but you have no invitation here. Ask the operator of this aggregator, or the "
    "owner of the survey, for one."
)
INVITATION_SPENT = "This invitation was used before, or has expired. Ask for a new one."
DISABLED = "This account is disabled. Ask the operator of this aggregator."


def start() -> BaseResponse:
    """Redirect the browser to the institution's sign-in page."""
    address, attempt = _new_attempt()
    return _with_attempt(redirect(address), attempt, request.args.get("next", ""))


def invitation() -> str:
    """Ask an invited person for a display name; the provider is not asked for names."""
    return render_template("invitation_by_institution.html", address="", most=MOST_NAME)


def accept() -> BaseResponse:
    """Show the link to the provider; the person who returns from there gets the account of the invitation."""
    link = request.args.get("link", "")
    try:
        name = check_text(request.form.get("name", ""), "a name")
    except AccessRefused as refused:
        raise SignInRefused(refusal_message(refused)) from None
    if storage().access.invitation(link_hash(link), authentication.now() // DAY) is None:
        raise SignInRefused(INVITATION_SPENT)
    address, attempt = _new_attempt()
    return _with_attempt(_redirect_to_provider(address), attempt, "", link, name)


def bind() -> BaseResponse:
    """Show the link to the provider that binds the institution's identity to the signed-in account.

    The callback comes from another site, without the session cookie, so it must learn from elsewhere which account to
    bind. That must be a secret, or an attacker could bind an identity to a victim's account. It is a one-time sign-in
    link for this account that is stored only in the cookie of the attempt.
    """
    address, attempt = _new_attempt()
    secret = sign_in_link_secret(tables(), g.actor.account.id, authentication.now() // DAY)
    return _with_attempt(_redirect_to_provider(address), attempt, url_for("access.me"), secret)


def callback() -> BaseResponse:
    """Handle the redirect back from the provider, which carries a one-time authorization code."""
    cookie = request.cookies.get(_cookie_name(), "")
    try:
        parts = [urlsafe_b64decode(part.encode()).decode() for part in cookie.split(".")]
    except ValueError:
        parts = []
    if len(parts) != ATTEMPT_PARTS or not parts[0]:
        raise SignInRefused(START_AGAIN)
    attempt, page_asked_for, link, name = parts
    subject = _provider().subject(attempt_of(attempt), request.args)
    page = Response(render_template("signed_in.html", onward=authentication.redirect_target(page_asked_for)))
    reply = _bound(subject, link, page) if link and not name else _start_session(subject, link, name, page)
    if reply is None:
        raise SignInRefused(DISABLED)
    reply.delete_cookie(_cookie_name(), **authentication.cookie_options("Lax"))
    return reply


def _start_session(subject: str, link: str, name: str, page: Response) -> BaseResponse | None:
    account = storage().access.account_of_subject(subject) or _accept_invited(subject, link, name)
    return authentication.begin_session(account.id, "oidc", page)


def _bound(subject: str, link: str, page: Response) -> BaseResponse:
    """Bind the institution's identity to the account of the one-time link; spend the link first."""
    begun = authentication.begin_session_by_link(link)
    if begun is None:
        raise SignInRefused(INVITATION_SPENT)
    account, cookie = begun
    try:
        storage().access.by(account.id.hex()).set_subject(account.id, subject)
    except AccessRefused as refused:
        raise SignInRefused(refusal_message(refused)) from None
    return authentication.with_cookie(page, cookie)


def _redirect_to_provider(address: str) -> Response:
    return Response(render_template("invitation_by_institution.html", address=address, most=MOST_NAME))


def _accept_invited(subject: str, link: str, name: str) -> Account:
    """Make an account for a new person and spend the invitation."""
    if not link:
        raise SignInRefused(NOT_INVITED)
    account = Account(new_id(), name, subject=subject)
    if not storage().access.accept_invitation(link_hash(link), account, authentication.now() // DAY):
        raise SignInRefused(INVITATION_SPENT)
    return account


def _new_attempt() -> tuple[str, str]:
    """Begin a sign-in attempt; return the provider's URL and the secret for the attempt's cookie."""
    secret, _ = new_cookie()
    return _provider().address(attempt_of(secret)), secret


def _with_attempt(reply: BaseResponse, attempt: str, page: str, link: str = "", name: str = "") -> BaseResponse:
    """Add the attempt's cookie to the reply: secret, next page, and link and name of an invited person, if any."""
    parts = (attempt, page, link, name)
    value = ".".join(urlsafe_b64encode(part.encode("utf-8", "replace")).decode() for part in parts)
    reply.set_cookie(_cookie_name(), value, max_age=ATTEMPT_SECONDS, **authentication.cookie_options("Lax"))
    return reply


def _provider() -> Provider:
    provider: Provider = current_app.extensions["provider"]
    return provider


def _cookie_name() -> str:
    return authentication.cookie_name(authentication.is_secure(), "sottovoce-oidc")


ROUTES = (
    Route("oidc.start", "GET", "/dashboard/oidc/start", start, "Send the browser to the institution."),
    Route("oidc.invitation", "GET", "/dashboard/oidc/invitation", invitation,
          "Ask an invited person for the name that colleagues see; the institution is not asked for names."),
    Route("oidc.accept", "POST", "/dashboard/oidc/invitation", accept,
          "Show the link to the institution's sign-in, which is accepted from then on."),
    Route("oidc.bind", "POST", "/dashboard/oidc/bind", bind,
          "Show the link that connects your own account to the institution's sign-in."),
    Route("oidc.callback", "GET", "/dashboard/oidc/callback", callback,
          "Receive the browser from the institution with a one-time code."),
)  # fmt: skip
"""Routes of sign-in by OpenID Connect."""
