"""Manage your own roles, keys and sessions, and accept an invitation. Plain forms without a script."""

from typing import Any

from flask import g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.accounts import authentication
from sottovoce.aggregator.accounts.accounts import check_scopes, check_text
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.storage.accounts.models import EVERY_SURVEY, SCOPES, AccessKey, AccessRefused, Account
from sottovoce.aggregator.studio.account.accounts_page import sign_in_ways
from sottovoce.aggregator.studio.request_context import acted, days_asked, refusal_message, tables, today, words
from werkzeug.wrappers import Response as BaseResponse


def make_key() -> ResponseReturnValue:
    """Make a key; it is shown only in this reply, since the server stores a hash."""
    return acted(_make_key, me, lambda: url_for("access.me"))


def _make_key() -> str:
    secret, digest = authentication.new_key()
    given = request.form
    days = days_asked("a key", authentication.MOST_KEY_DAYS)
    survey = given.get("survey", "").strip() or EVERY_SURVEY
    if survey != EVERY_SURVEY and g.actor.role(survey) is None:
        raise AccessRefused("you have no role on a survey of this name", "no_role")
    scopes = check_scopes(frozenset(given.getlist("scope")))
    label = check_text(given.get("label", ""), "a label")
    tables().add_key(AccessKey(digest, _own().id, label, scopes, survey, today() + days))
    return secret


def revoke_key(number: str) -> BaseResponse:
    """Revoke a key of the signed-in account."""
    for key in tables().list_keys(_own().id):
        if key.number == number:
            tables().revoke_key(key.hash)
    return _back()


def leave(name: str) -> ResponseReturnValue:
    """Give up your own role on a survey."""
    if request.form.get("sure") != "yes":
        return _back()
    return acted(lambda: tables().revoke_grant(_own().id, name), me, lambda: url_for("access.me"))


def end_session(number: str) -> BaseResponse:
    """End a session of the signed-in account."""
    for session in tables().sessions(_own().id, authentication.now()):
        if session.number == number:
            tables().end_session(session.hash)
    return _back()


def end_sessions() -> BaseResponse:
    """End all sessions of the signed-in account, including this one."""
    tables().end_sessions(_own().id)
    return _back()


def invitation() -> str:
    """Show the form that asks the invited person for a name; opening the page does not spend the invitation."""
    return render_template("invitation.html", refused="")


def accept() -> Any:  # noqa: ANN401 - one of Flask's replies
    """Make the account with its role, spend the invitation and begin a session."""
    link = authentication.link_hash(request.args.get("link", ""))
    # Look up before writing: guesses of links must not take the write lock that reports need.
    if tables().invitation(link, today()) is None:
        authentication.count_refused()
        return render_template("invitation.html", refused=words().translate("invitation_unknown")), 401
    try:
        account = Account(authentication.new_id(), check_text(request.form.get("name", ""), "a name"))
    except AccessRefused as refused:
        return render_template("invitation.html", refused=refusal_message(refused)), 422
    if not tables().accept_invitation(link, account, today()):
        return render_template("invitation.html", refused=words().translate("invitation_unknown")), 401
    return authentication.begin_session(account.id, "link", _back())


def me(link: str = "", refused: str = "") -> str:
    """Show the roles, keys and sessions of the signed-in account."""
    return render_template(
        "me.html",
        link=link,
        refused=refused,
        doors=sign_in_ways(_own()),
        keys=tables().list_keys(_own().id),
        sessions=tables().sessions(_own().id, authentication.now()),
        today=today(),
        now=authentication.now(),
        scopes=SCOPES,
        days=authentication.KEY_DAYS,
        most_days=authentication.MOST_KEY_DAYS,
    )


def _own() -> Account:
    account: Account = g.actor.account
    return account


def _back() -> BaseResponse:
    return redirect(url_for("access.me"), 303)


ROUTES = (
    Route("access.me", "GET", "/dashboard/me", me, "Show your own roles, keys and sessions."),
    Route("access.make_key", "POST", "/dashboard/me/keys", make_key, "Create an API key."),
    Route("access.revoke_key", "POST", "/dashboard/me/keys/<number>/revoke", revoke_key,
          "Revoke one of your own keys."),
    Route("access.end_session", "POST", "/dashboard/me/sessions/<number>/end", end_session,
          "End one of your own sessions."),
    Route("access.end_sessions", "POST", "/dashboard/me/sessions/end", end_sessions, "End all of your own sessions."),
    Route("access.leave", "POST", "/dashboard/surveys/<name>/leave", leave, "Give up your own role on a survey."),
    Route("access.invitation", "GET", "/dashboard/invitation", invitation, "Ask the invited person for a name."),
    Route("access.accept", "POST", "/dashboard/invitation", accept, "Create the account of the invited person."),
)  # fmt: skip
"""Routes of the signed-in account, and of invitations."""
