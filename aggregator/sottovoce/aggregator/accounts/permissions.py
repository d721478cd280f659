"""
Who may do what: one table, by route. What is not in it nobody may.

A role is had on a survey, or on every one; being an admin is a property of the account, and opens no results. A key is
worth at most what its account is, cut to its scopes and its survey.
"""

from enum import Enum
from typing import NamedTuple

from sottovoce.aggregator.accounts.principal import Actor
from sottovoce.aggregator.storage.accounts.models import ROLES

STAFF = "staff"
"""Everybody who is let in; lists then show what each may know of."""

ADMIN = "admin"

NO_KEY = "-"
"""In the place of a scope: pages for people, which no key opens."""

ANY_SCOPE = ""


class Right(NamedTuple):
    """
    Who may use a route.

    Attributes:
        who: roles on the survey in the address, or ``STAFF``, or ``ADMIN``.
        scope: that a key needs, or one of the two words above.
    """

    who: frozenset[str]
    scope: str = NO_KEY


def _right(who: str, scope: str = NO_KEY) -> Right:
    return Right(frozenset(who.split()), scope)


RIGHTS: dict[str, Right] = {
    "results.surveys": _right(STAFF, ANY_SCOPE),
    "results.publish": _right("owner", "surveys:write"),
    "results.close": _right("owner", "surveys:write"),
    "results.reopen": _right("owner", "surveys:write"),
    "results.delete": _right("owner", "surveys:write"),
    "results.estimates": _right("owner analyst", "results:read"),
    "results.export": _right("owner analyst", "results:read"),
    "joint.crosstab": _right("owner analyst", "results:read"),
    "joint.compare": _right("owner analyst", "results:read"),
    "joint.pairs": _right("owner analyst", "results:read"),
    "joint.regression": _right("owner analyst", "results:read"),
    "joint.weights": _right("owner analyst", "results:read"),
    "tokens.stats": _right("owner fieldwork", "tokens:issue"),
    "tokens.create": _right("owner fieldwork", "tokens:issue"),
    "tokens.revoke": _right("owner fieldwork", "tokens:issue"),
    "machine.metrics": _right(ADMIN, "metrics:read"),
    "auth.leave": _right(STAFF),
    "access.me": _right(STAFF),
    "access.make_key": _right(STAFF),
    "access.revoke_key": _right(STAFF),
    "access.end_session": _right(STAFF),
    "access.end_sessions": _right(STAFF),
    "access.leave": _right("owner analyst fieldwork viewer"),
    "oidc.bind": _right(STAFF),
    "passkeys.own": _right(STAFF),
    "passkeys.add": _right(STAFF),
    "passkeys.remove": _right(STAFF),
    "studio.surveys": _right(STAFF),
    "studio.survey": _right("owner analyst fieldwork viewer"),
    "studio.new": _right("owner admin"),
    "studio.begin": _right("owner admin"),
    "studio.design": _right("owner"),
    "studio.save_design": _right("owner"),
    "studio.discard": _right("owner"),
    "studio.preview": _right("owner analyst fieldwork viewer"),
    "studio.preview_form": _right("owner analyst fieldwork viewer"),
    "studio.try_out": _right("owner"),
    "studio.publish": _right("owner"),
    "studio.publish_now": _right("owner"),
    "studio.correct": _right("owner"),
    "studio.settings": _right("owner"),
    "studio.close": _right("owner"),
    "studio.reopen": _right("owner"),
    "studio.retire": _right("owner"),
    "studio.delete": _right("owner"),
    "studio.privacy": _right("owner analyst fieldwork viewer"),
    "studio.privacy_print": _right("owner analyst fieldwork viewer"),
    "studio.privacy_data": _right("owner analyst fieldwork viewer"),
    "studio.rehearse": _right("owner analyst"),
    "studio.rehearse_download": _right("owner analyst"),
    "studio.rehearse_chart": _right("owner analyst"),
    "studio.rehearse_figures": _right("owner analyst"),
    "studio.rehearse_tables": _right("owner analyst"),
    "studio.rehearse_tables_file": _right("owner analyst"),
    "studio.rehearse_models": _right("owner analyst"),
    "studio.rehearse_models_file": _right("owner analyst"),
    "studio.rehearse_files": _right("owner analyst"),
    "studio.rehearse_file": _right("owner analyst"),
    "studio.tables": _right("owner analyst"),
    "studio.tables_file": _right("owner analyst"),
    "studio.models": _right("owner analyst"),
    "studio.models_file": _right("owner analyst"),
    "studio.files": _right("owner analyst"),
    "studio.file": _right("owner analyst"),
    "studio.open_budget": _right("owner"),
    "studio.release": _right("owner"),
    "studio.invite": _right("owner fieldwork"),
    "studio.personal_links": _right("owner fieldwork"),
    "studio.take_links_back": _right("owner fieldwork"),
    "studio.qr_svg": _right("owner fieldwork"),
    "studio.qr_png": _right("owner fieldwork"),
    "studio.poster": _right("owner fieldwork"),
    "studio.saved_page": _right("owner fieldwork"),
    "studio.results": _right("owner analyst viewer"),
    "studio.download": _right("owner analyst"),
    "studio.chart": _right("owner analyst viewer"),
    "studio.figures": _right("owner analyst"),
    "studio.accounts": _right(ADMIN),
    "studio.invite_account": _right(ADMIN),
    "studio.account": _right(ADMIN),
    "studio.change_account": _right(ADMIN),
    "studio.journal": _right(ADMIN),
    "studio.team": _right("owner"),
    "studio.change_team": _right("owner"),
    "studio.board": _right("owner"),
    "studio.change_board": _right("owner"),
    "studio.history": _right("owner"),
}
"""Of every route that is not public; a test walks the URL map."""

MAY = frozenset((role, endpoint) for endpoint, right in RIGHTS.items() for role in right.who)
"""(role, route): the same, pair by pair."""


class AccessDecision(Enum):
    """What becomes of a request: of a survey that one may not know of, it is as if there were none."""

    ALLOWED = "allowed"
    REFUSED = "refused"
    UNKNOWN = "unknown"


def may(actor: Actor, endpoint: str, survey: str | None) -> AccessDecision:
    """
    Whether somebody may use a route.

    Args:
        actor: who asks.
        endpoint: the route's name.
        survey: the survey's name in its address, if there is one.
    """
    right = RIGHTS.get(endpoint)
    if right is None:
        return AccessDecision.REFUSED
    # Where no survey is named there is a new one to be made.
    role = actor.role(survey) if survey is not None else "owner" if actor.may_publish_new() else None
    if right.who & set(ROLES) and role is None:
        return AccessDecision.REFUSED if survey is None else AccessDecision.UNKNOWN
    held = {STAFF} | ({ADMIN} if actor.is_admin else set()) | ({role} if role else set())
    return AccessDecision.ALLOWED if right.who & held and _has_scope(actor, right.scope) else AccessDecision.REFUSED


def may_publish(actor: Actor, survey: str, is_new: bool) -> AccessDecision:
    """
    Whether somebody may publish: an owner, corrections; whoever owns anything, and an admin, surveys of new names.

    Args:
        actor: who asks.
        survey: the survey's name.
        is_new: there is none of this name.
    """
    found = may(actor, "results.publish", survey)
    if found is AccessDecision.ALLOWED or not is_new:
        return found
    return (
        AccessDecision.ALLOWED
        if actor.may_publish_new() and _has_scope(actor, "surveys:write")
        else AccessDecision.REFUSED
    )


def _has_scope(actor: Actor, scope: str) -> bool:
    return actor.key is None or scope == ANY_SCOPE or scope in actor.scopes
