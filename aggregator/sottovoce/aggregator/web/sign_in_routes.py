"""The rows of the pages through which researchers come in and leave."""

from sottovoce.aggregator.web import auth
from sottovoce.aggregator.web.route_table import Kind, Route

_HTML = ("text/html",)

ROUTES = (
    Route("auth.login", "GET", "/dashboard/login", auth.login, "Ask for the token.", Kind.PAGE, _HTML),
    Route("auth.enter", "POST", "/dashboard/login", auth.enter, "Begin a session with a token.", Kind.PAGE, _HTML),
    Route("auth.offer", "GET", "/dashboard/sign-in", auth.offer, "Offer to sign in with a link.", Kind.PAGE, _HTML),
    Route("auth.sign_in", "POST", "/dashboard/sign-in", auth.sign_in, "Begin a session by a link.", Kind.PAGE, _HTML),
    Route(
        "auth.open_page",
        "GET",
        "/dashboard/open",
        auth.open_page,
        "Sign in by a link.",
        Kind.PAGE,
        _HTML,
    ),
    Route("auth.leave", "POST", "/dashboard/logout", auth.leave, "End the session.", Kind.PAGE, _HTML),
)
