"""Admit visitors without an account, who may analyze a file where ``SOTTOVOCE_PUBLIC_ANALYSIS`` is 1.

A cookie with a random secret tells visitors apart, and protects their forms as a session does. The server stores
nothing of them: their files stay in memory, and only a hash of the secret names whose they are.
"""

import hashlib

from flask import Flask, Response, current_app, g, request
from sottovoce.aggregator.accounts.secrets import new_cookie
from sottovoce.aggregator.settings import SettingError
from sottovoce.aggregator.walls import missing

_VISITED = (
    "analyze analyze_upload analyzed analyzed_change analyzed_tables analyzed_tables_file "
    "analyzed_models analyzed_models_file analyzed_end_analysis"
)
FOR_VISITORS = frozenset(f"studio.{route}" for route in _VISITED.split())
"""Endpoints for visitors."""

VISITOR = "visitor:"
"""Beginning of the ids of visitors, which no id of an account has."""


def admit_visitors(app: Flask) -> None:
    """Give new visitors their cookie, and let the page of sign-in name the way in.

    Raises SettingError where nothing would keep a reader of strangers' files from the database.
    """
    app.config["PUBLIC_ANALYSIS"] = app.extensions["settings"].public_analysis == 1
    if app.config["PUBLIC_ANALYSIS"] and (reason := missing()):
        raise SettingError(f"SOTTOVOCE_PUBLIC_ANALYSIS needs walls around the process that reads the files: {reason}")
    app.after_request(_with_cookie)


def are_allowed(endpoint: str | None) -> bool:
    """Return True if a request without a session may come from a visitor."""
    return current_app.config["PUBLIC_ANALYSIS"] and endpoint in FOR_VISITORS


def is_visitor() -> bool:
    """Return True if the request comes from a visitor."""
    return "visitor" in g


def visitor_id() -> str:
    """Return the name of the visitor's files; it does not reveal the secret."""
    return f"{VISITOR}{hashlib.sha256(g.visitor.encode()).hexdigest()}"


def visitor_secret() -> str:
    """Return the secret of the visitor, a new one if the request has none; "" for a form without one."""
    known = request.cookies.get(_visitor_cookie(), "")
    return known if known or request.method == "POST" else new_cookie()[0]


def _with_cookie(reply: Response) -> Response:
    if is_visitor() and g.visitor and _visitor_cookie() not in request.cookies:
        secure = current_app.extensions["settings"].secure
        reply.set_cookie(_visitor_cookie(), g.visitor, secure=secure, httponly=True, samesite="Strict", path="/")
    return reply


def _visitor_cookie() -> str:
    # Browsers accept the __Host- prefix only over https, as for sessions.
    return "__Host-sottovoce-visitor" if current_app.extensions["settings"].secure else "sottovoce-visitor"
