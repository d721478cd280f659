"""Manage accounts, for admins: list, sign-in methods, roles, and links that invite or sign in a colleague."""

from collections.abc import Callable, Mapping
from functools import partial

from flask import current_app, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.accounts.account_invitations import LINK_DAYS, invitation_link, sign_in_link
from sottovoce.aggregator.accounts.accounts import check_role
from sottovoce.aggregator.accounts.authentication import storage
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.storage.accounts.models import EVERY_SURVEY, ROLES, AccessRefused, Account
from sottovoce.aggregator.studio.request_context import acted, tables, today


def invite() -> ResponseReturnValue:
    """Make an invitation; its link is shown only in this reply, since the server stores a hash."""
    return acted(_invite, accounts, lambda: url_for("studio.accounts"))


def _invite() -> str:
    role = request.form.get("role", "")
    survey = _survey() if role and check_role(role) else ""
    return invitation_link(tables(), _url(), survey, role, today())


def account(account: str) -> ResponseReturnValue:
    """Show one account and the actions on it."""
    found = _find_account(account)
    return redirect(url_for("studio.accounts"), 303) if found is None else _account(found)


def change_account(account: str) -> ResponseReturnValue:
    """Apply one of ``_ACTS`` to an account."""
    found, act = _find_account(account), _ACTS.get(request.form.get("act", ""))
    if found is None:
        return redirect(url_for("studio.accounts"), 303)
    if act is None:
        raise Refusal("malformed")
    return acted(partial(act, found), partial(_account, found), lambda: url_for("studio.account", account=account))


def _delete(found: Account) -> None:
    if request.form.get("typed", "").strip() != found.name:
        raise AccessRefused("the name that was typed is another one", "not_typed")
    tables().delete(found.id)


def _make_link(found: Account) -> str:
    if found.disabled_on is not None:
        raise AccessRefused("there is no such account, or it is disabled", "disabled")
    return sign_in_link(tables(), _url(), found.id, today())


def _grant(found: Account) -> None:
    tables().grant(found.id, _survey(), check_role(request.form.get("role", "")))


_ACTS: Mapping[str, Callable[[Account], str | None]] = {
    "disable": lambda found: tables().disable(found.id, today()),
    "enable": lambda found: tables().enable(found.id),
    "delete": _delete,
    "admin": lambda found: tables().set_admin(found.id, admin=True),
    "no_admin": lambda found: tables().set_admin(found.id, admin=False),
    "link": _make_link,
    "grant": _grant,
    "revoke": lambda found: tables().revoke_grant(found.id, request.form.get("survey", "")),
}
"""Actions of the buttons on the page of an account, by the value of ``act``."""


def accounts(link: str = "", refused: str = "") -> str:
    """Show all accounts, and the form that makes an invitation."""
    rows = [(each, sign_in_ways(each)) for each in tables().accounts()]
    return render_template("accounts.html", rows=rows, link=link, refused=refused, roles=ROLES, days=LINK_DAYS)


def _account(found: Account, link: str = "", refused: str = "") -> str:
    # Load it again: the action may have changed it.
    found = tables().account(found.id) or found
    return render_template(
        "account.html",
        account=found,
        doors=sign_in_ways(found),
        grants=tables().grants(found.id),
        link=link,
        refused=refused,
        roles=ROLES,
        days=LINK_DAYS,
    )


def sign_in_ways(account: Account) -> list[str]:
    """Return the sign-in methods that an account can use on this server; without one it needs a sign-in link."""
    keys = tables().list_keys(account.id)
    has = {
        "key": any(key.signs_in and key.expires_on >= today() for key in keys),
        "passkey": bool(tables().passkeys(account.id)),
        "oidc": account.subject is not None,
    }
    return [door for door in has if has[door] and door in current_app.config["SIGN_IN_METHODS"]]


def _find_account(account: str) -> Account | None:
    try:
        return tables().account(bytes.fromhex(account))
    except ValueError:
        return None


def _survey() -> str:
    """Return the survey that the form names, "" for every survey; raise AccessRefused if none has this name."""
    named = request.form.get("survey", "").strip()
    if named and not storage().revisions(named):
        raise AccessRefused("there is no survey of this name", "no_survey")
    return named or EVERY_SURVEY


def _url() -> str:
    return str(current_app.extensions["settings"].url)


_ACCOUNTS = "/dashboard/accounts"

ROUTES = (
    Route("studio.accounts", "GET", _ACCOUNTS, accounts, "List all accounts."),
    Route("studio.invite_account", "POST", _ACCOUNTS, invite, "Make an invitation for a new account."),
    Route("studio.account", "GET", f"{_ACCOUNTS}/<account>", account, "Show one account."),
    Route("studio.change_account", "POST", f"{_ACCOUNTS}/<account>", change_account,
          "Change one account, or make a link to sign in."),
)  # fmt: skip
"""Routes of the pages about accounts, for admins."""
