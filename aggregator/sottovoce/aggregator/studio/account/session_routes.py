"""The rows of the pages through which researchers come in and leave."""

from sottovoce.aggregator.accounts import authentication
from sottovoce.aggregator.http.routing import Kind, Route

_HTML = ("text/html",)

ROUTES = (
    Route("auth.login", "GET", "/dashboard/login", authentication.login, "Ask for the token.", Kind.PAGE, _HTML),
    Route(
        "auth.enter",
        "POST",
        "/dashboard/login",
        authentication.enter,
        "Begin a session with a token.",
        Kind.PAGE,
        _HTML,
    ),
    Route(
        "auth.offer",
        "GET",
        "/dashboard/sign-in",
        authentication.offer,
        "Offer to sign in with a link.",
        Kind.PAGE,
        _HTML,
    ),
    Route(
        "auth.sign_in",
        "POST",
        "/dashboard/sign-in",
        authentication.sign_in,
        "Begin a session by a link.",
        Kind.PAGE,
        _HTML,
    ),
    Route(
        "auth.open_page",
        "GET",
        "/dashboard/open",
        authentication.open_page,
        "Sign in by a link.",
        Kind.PAGE,
        _HTML,
    ),
    Route("auth.leave", "POST", "/dashboard/logout", authentication.leave, "End the session.", Kind.PAGE, _HTML),
)
