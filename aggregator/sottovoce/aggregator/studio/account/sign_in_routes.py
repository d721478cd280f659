"""Route sign-in: keys and links always; passkeys and OpenID Connect only if the settings allow them."""

from collections.abc import Sequence

from flask import Flask, Response, render_template
from sottovoce.aggregator.accounts import authentication
from sottovoce.aggregator.accounts.sign_in_errors import SignInRefused
from sottovoce.aggregator.accounts.sign_in_settings import check_passkeys, provider_of
from sottovoce.aggregator.clock import Clock
from sottovoce.aggregator.http import problems
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.studio.request_context import words

SESSION_ROUTES = (
    Route("auth.login", "GET", "/dashboard/login", authentication.login, "Ask for the token."),
    Route("auth.enter", "POST", "/dashboard/login", authentication.enter, "Begin a session with a token."),
    Route("auth.offer", "GET", "/dashboard/sign-in", authentication.offer, "Offer to sign in with a link."),
    Route("auth.sign_in", "POST", "/dashboard/sign-in", authentication.sign_in, "Begin a session with a link."),
    Route("auth.open_page", "GET", "/dashboard/open", authentication.open_page, "Sign in with a link."),
    Route("auth.leave", "POST", "/dashboard/logout", authentication.leave, "End the session."),
)
"""Routes to sign in and out that exist with any setting."""


def register_doors(app: Flask, settings: Settings, clock: Clock) -> Sequence[Route]:
    """Set up the sign-in methods that the settings allow, and return their routes.

    A disabled method gets no routes, and its modules are not imported. Raises SettingError if a method is allowed but a
    setting that it needs is missing.
    """
    app.config["SIGN_IN_METHODS"] = settings.allowed_sign_in_methods
    app.register_error_handler(SignInRefused, _not_signed_in)
    routes: list[Route] = []
    if "oidc" in settings.allowed_sign_in_methods:
        from sottovoce.aggregator.studio.account import oidc_pages

        app.extensions["provider"] = provider_of(settings, clock)
        routes += oidc_pages.ROUTES
    if "passkey" in settings.allowed_sign_in_methods:
        check_passkeys(settings)
        from sottovoce.aggregator.studio.account import passkey_pages

        routes += passkey_pages.ROUTES
    return routes


def _not_signed_in(refused: SignInRefused) -> Response:
    reply = Response(
        render_template("not_signed_in.html", sentence=words().in_this_language(str(refused))),
        problems.STATUS[refused.code],
    )
    if reply.status_code == problems.STATUS["unauthorized"]:
        authentication.count_refused()
        reply.headers.extend(problems.CHALLENGE)
    return reply
