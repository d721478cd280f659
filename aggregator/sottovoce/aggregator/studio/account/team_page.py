"""Manage the team of a survey, for its owners: members, roles, and links that invite new people."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from flask import current_app, g, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.accounts.account_invitations import LINK_DAYS, invitation_link
from sottovoce.aggregator.accounts.accounts import check_role, find_account
from sottovoce.aggregator.accounts.authentication import storage
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.storage.accounts.models import EVERY_SURVEY, ROLES, Account
from sottovoce.aggregator.studio.request_context import acted, tables, today
from sottovoce.aggregator.studio.survey_frame import frame_of


@dataclass(frozen=True)
class Member:
    """Account with a role on a survey.

    Attributes:
        role: one of ``ROLES``.
        everywhere: the role applies to every survey; only an admin can change it.
        own: the reader's own account.
    """

    account: Account
    role: str
    everywhere: bool
    own: bool


def change_team(name: str) -> ResponseReturnValue:
    """Apply one of ``_ACTS`` to the team of a survey."""
    act = _ACTS.get(request.form.get("act", ""))
    if act is None:
        raise Refusal("malformed")
    return acted(partial(act, name), partial(team, name), partial(_next_page, name))


def members(name: str) -> Sequence[Member]:
    """List the members of a survey; a role on the survey itself wins over a role on every survey."""
    exactly = tables().granted(name)
    known = {account.id for account, _ in exactly}
    everywhere = [row for row in tables().granted(EVERY_SURVEY) if row[0].id not in known]
    return [
        Member(account, role, is_everywhere, account.id == g.actor.account.id)
        for rows, is_everywhere in ((exactly, False), (everywhere, True))
        for account, role in rows
    ]


def _grant(name: str) -> None:
    role, account = check_role(request.form.get("role", "")), request.form.get("account", "").strip()
    tables().grant(find_account(storage(), account).id, name, role)


def _change(name: str) -> None:
    tables().grant(_member(name).id, name, check_role(request.form.get("role", "")))


def _invite(name: str) -> str:
    role, url = check_role(request.form.get("role", "")), current_app.extensions["settings"].url
    return invitation_link(tables(), url, name, role, today())


_ACTS: Mapping[str, Callable[[str], str | None]] = {
    "grant": _grant,
    "change": _change,
    "take_away": lambda name: tables().revoke_grant(_member(name).id, name),
    "invite": _invite,
}
"""Actions of the buttons on the page, by the value of ``act``."""


def _member(name: str) -> Account:
    """Return the account that the form names; raise Refusal if it has no role on this very survey."""
    asked = request.form.get("account", "")
    for account, _ in tables().granted(name):
        if account.id.hex() == asked:
            return account
    raise Refusal("malformed")


def _next_page(name: str) -> str:
    """Return the URL of the team page, or of the survey list if the reader is no longer an owner."""
    still = tables().grants(g.actor.account.id)
    is_owner = still.get(name, still.get(EVERY_SURVEY)) == "owner"
    return url_for("studio.team", name=name) if is_owner else url_for("studio.surveys")


def team(name: str, link: str = "", refused: str = "") -> str:
    """Show all accounts with a role on the survey, including those with a role on every survey."""
    return render_template(
        "team.html",
        page="team",
        frame=frame_of(name, "team"),
        members=members(name),
        link=link,
        refused=refused,
        roles=ROLES,
        days=LINK_DAYS,
    )


_PATH = "/dashboard/surveys/<name>/team"

ROUTES = (
    Route("studio.team", "GET", _PATH, team, "Show the roles on a survey."),
    Route("studio.change_team", "POST", _PATH, change_team, "Change a survey's team."),
)
"""Routes of the team page."""
