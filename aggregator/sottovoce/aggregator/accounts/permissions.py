"""Decide what an account may do, by one table of rights by route. A route that is neither in it nor public is refused.

An account has a role on a survey or on every survey. Admin is a property of the account and gives no access to results.
A key has at most the rights of its account, limited to its scopes and its survey.
"""

from enum import Enum
from typing import NamedTuple

from sottovoce.aggregator.accounts.principal import Actor
from sottovoce.aggregator.storage.accounts.models import ROLES

STAFF = "staff"
"""Any signed-in account; views of lists filter by role themselves."""

ADMIN = "admin"

NO_KEY = "-"
"""Instead of a scope: a page for people, which no key can open."""

ANY_SCOPE = ""


class Right(NamedTuple):
    """A right to use a route.

    Attributes:
        who: roles on the survey in the URL, or ``STAFF``, or ``ADMIN``.
        scope: scope that a key needs, or ``NO_KEY`` or ``ANY_SCOPE``.
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
    "questions.published": _right("owner admin", "surveys:write"),
    "questions.publish": _right("owner admin", "surveys:write"),
    "questions.withdraw": _right("owner admin", "surveys:write"),
    "results.estimates": _right("owner analyst", "results:read"),
    "results.export": _right("owner analyst", "results:read"),
    "joint.crosstab": _right("owner analyst", "results:read"),
    "joint.compare": _right("owner analyst", "results:read"),
    "joint.mixture": _right("owner analyst", "results:read"),
    "joint.pairs": _right("owner analyst", "results:read"),
    "joint.test": _right("owner analyst", "results:read"),
    "joint.regression": _right("owner analyst", "results:read"),
    "joint.weights": _right("owner analyst", "results:read"),
    "joint.analysis": _right("owner analyst", "results:read"),
    "joint.cancel": _right("owner analyst", "results:read"),
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
    "studio.analyze": _right(STAFF),
    "studio.analyze_upload": _right(STAFF),
    "studio.analyzed": _right(STAFF),
    "studio.analyzed_change": _right(STAFF),
    "studio.analyzed_tables": _right(STAFF),
    "studio.analyzed_tables_file": _right(STAFF),
    "studio.analyzed_models": _right(STAFF),
    "studio.analyzed_models_file": _right(STAFF),
    "studio.analyzed_end_analysis": _right(STAFF),
    "studio.new": _right("owner admin"),
    "studio.begin": _right("owner admin"),
    "studio.links": _right("owner admin"),
    "studio.publish_link": _right("owner admin"),
    "studio.withdraw_link": _right("owner admin"),
    "studio.design": _right("owner"),
    "studio.save_design": _right("owner"),
    "studio.discard": _right("owner"),
    "studio.preview": _right("owner analyst fieldwork viewer"),
    "studio.preview_form": _right("owner analyst fieldwork viewer"),
    "studio.elsewhere": _right("owner analyst fieldwork viewer"),
    "studio.try_out": _right("owner"),
    "studio.publish": _right("owner"),
    "studio.publish_now": _right("owner"),
    "studio.choose_column": _right("owner"),
    "studio.correct": _right("owner"),
    "studio.settings": _right("owner"),
    "studio.survey_institution": _right("owner"),
    "studio.change_survey_institution": _right("owner"),
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
    "studio.rehearse_picture": _right("owner analyst"),
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
    "studio.end_analysis": _right("owner analyst"),
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
    "studio.picture": _right("owner analyst viewer"),
    "studio.figures": _right("owner analyst"),
    "studio.institution": _right(ADMIN),
    "studio.change_institution": _right(ADMIN),
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
"""Rights of every route that is not public; a test compares them with the URL map."""


class AccessDecision(Enum):
    """A decision about a request; UNKNOWN hides from accounts without a role that a survey exists."""

    ALLOWED = "allowed"
    REFUSED = "refused"
    UNKNOWN = "unknown"


def access_decision(actor: Actor, endpoint: str, survey: str | None) -> AccessDecision:
    """Decide if an actor may use an endpoint; ``survey`` is the one in the URL, None if the URL has none."""
    right = RIGHTS.get(endpoint)
    if right is None:
        return AccessDecision.REFUSED
    # Routes with roles but without a survey in the URL begin a new survey.
    role = actor.role(survey) if survey is not None else "owner" if actor.may_publish_new() else None
    if right.who & set(ROLES) and role is None:
        return AccessDecision.REFUSED if survey is None else AccessDecision.UNKNOWN
    held = {STAFF} | ({ADMIN} if actor.is_admin else set()) | ({role} if role else set())
    return AccessDecision.ALLOWED if right.who & held and _has_scope(actor, right.scope) else AccessDecision.REFUSED


def publish_decision(actor: Actor, survey: str, is_new: bool) -> AccessDecision:
    """Decide if an actor may publish; ``is_new`` if no survey has this name.

    The owner of a survey may publish corrections; admins and owners of any survey may publish under a new name.
    """
    found = access_decision(actor, "results.publish", survey)
    if found is AccessDecision.ALLOWED or not is_new:
        return found
    return (
        AccessDecision.ALLOWED
        if actor.may_publish_new() and _has_scope(actor, "surveys:write")
        else AccessDecision.REFUSED
    )


def _has_scope(actor: Actor, scope: str) -> bool:
    return actor.key is None or scope == ANY_SCOPE or scope in actor.scopes
