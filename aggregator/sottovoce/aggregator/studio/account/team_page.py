"""The team of a survey, for its owners: who has which role, and the link that brings in somebody new."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from flask import current_app, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.accounts.account_invitations import LINK_DAYS, invitation_link
from sottovoce.aggregator.accounts.accounts import account_number, check_role, find_account
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.http.routing import Kind, Route
from sottovoce.aggregator.storage.accounts.models import EVERY_SURVEY, ROLES, AccessRefused, Account
from sottovoce.aggregator.studio.request_context import storage, tables, today, told
from sottovoce.aggregator.studio.survey_frame import frame_of


@dataclass(frozen=True)
class Member:
    """
    Somebody with a role on a survey.

    Attributes:
        account: who.
        number: what the account is called where two have the same name.
        role: one of ``ROLES``.
        everywhere: the role is on every survey, so that only an admin changes it.
        own: it is the reader.
    """

    account: Account
    number: str
    role: str
    everywhere: bool
    own: bool


def team(name: str) -> str:
    """Everybody who has a role on a survey, those too who have it on every survey."""
    return _team(name)


def change_team(name: str) -> ResponseReturnValue:
    """Do one of ``_ACTS`` to a survey's team."""
    act = _ACTS.get(request.form.get("act", ""))
    if act is None:
        raise Refusal("malformed")
    try:
        link = act(name)
    except AccessRefused as refused:
        return _team(name, refused=told(refused)), 422
    return (_team(name, link=link), 200) if link else redirect(_next_page(name), 303)


def members(name: str) -> Sequence[Member]:
    """Who has a role on a survey; of two roles, that on the survey itself."""
    exactly = tables().granted(name)
    known = {account.id for account, _ in exactly}
    everywhere = [row for row in tables().granted(EVERY_SURVEY) if row[0].id not in known]
    return [
        Member(account, account_number(account), role, is_everywhere, account.id == g.actor.account.id)
        for rows, is_everywhere in ((exactly, False), (everywhere, True))
        for account, role in rows
    ]


def _grant(name: str) -> None:
    role, account = check_role(request.form.get("role", "")), request.form.get("account", "").strip()
    tables().grant(find_account(storage(), account).id, name, role)


def _change(name: str) -> None:
    tables().grant(_member(name).id, name, check_role(request.form.get("role", "")))


def _take_away(name: str) -> None:
    tables().revoke_grant(_member(name).id, name)


def _invite(name: str) -> str:
    role, url = check_role(request.form.get("role", "")), current_app.extensions["settings"].url
    return invitation_link(tables(), url, name, role, today())


_ACTS: Mapping[str, Callable[[str], str | None]] = {
    "grant": _grant,
    "change": _change,
    "take_away": _take_away,
    "invite": _invite,
}
"""What the buttons of the page do."""


def _member(name: str) -> Account:
    """
    The member whom a row of the page is about.

    Raises:
        Refusal: there is none any more.
    """
    asked = request.form.get("account", "")
    for account, _ in tables().granted(name):
        if account.id.hex() == asked:
            return account
    raise Refusal("malformed")


def _next_page(name: str) -> str:
    """The team again; the list of surveys, for whoever has just given up his own role as its owner."""
    still = tables().grants(g.actor.account.id)
    is_owner = still.get(name, still.get(EVERY_SURVEY)) == "owner"
    return url_for("studio.team", name=name) if is_owner else url_for("studio.surveys")


def _team(name: str, link: str = "", refused: str = "") -> str:
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
    Route("studio.team", "GET", _PATH, team, "Who has which role on a survey.", Kind.PAGE, ("text/html",)),
    Route("studio.change_team", "POST", _PATH, change_team, "Change a survey's team.", Kind.PAGE, ("text/html",)),
)
"""The page of a survey's team."""
