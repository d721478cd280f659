"""Decide what an account may do, by one table of rights by route. A route that is neither in it nor public is refused.

An account has a role on a survey or on every survey. Admin is a property of the account and gives no access to results.
A key has at most the rights of its account, limited to its scopes and its survey.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.accounts.models import EVERY_SURVEY, ROLES, SCOPES, AccessKey, Account


@dataclass(frozen=True)
class Actor:
    """A principal of a request; ``grants`` are roles by survey or ``EVERY_SURVEY``, ``key`` is None for a session."""

    account: Account
    grants: Mapping[str, str]
    key: AccessKey | None = None

    @property
    def scopes(self) -> frozenset[str]:
        """Scopes of the key; all scopes for a session."""
        return frozenset(SCOPES) if self.key is None else self.key.scopes

    @property
    def survey(self) -> str:
        """Survey that the key is limited to, or ``EVERY_SURVEY``."""
        return EVERY_SURVEY if self.key is None else self.key.survey

    @property
    def is_admin(self) -> bool:
        """True for an admin account, unless its key is limited to one survey."""
        return self.account.admin and self.survey == EVERY_SURVEY

    def role(self, survey: str) -> str | None:
        """Return the role on a survey, which wins over a role on every survey; None if there is none."""
        if self.survey not in {EVERY_SURVEY, survey}:
            return None
        return self.grants.get(survey) or self.grants.get(EVERY_SURVEY)

    def may_publish_new(self) -> bool:
        """Return True if the actor may publish under a new name: an admin, or an owner of any survey."""
        return self.survey == EVERY_SURVEY and (self.account.admin or "owner" in self.grants.values())


def actor_of(storage: Storage, account: Account, key: AccessKey | None = None) -> Actor:
    """Build the principal of a request with the current roles of the account; ``key`` is None for a session."""
    return Actor(account, storage.access.grants(account.id), key)


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
    scope: str


_ROUTES = (
    (STAFF, ANY_SCOPE, "results", "surveys"),
    ("owner", "surveys:write", "results", "publish close reopen delete"),
    ("owner admin", "surveys:write", "questions", "published publish withdraw"),
    ("owner analyst", "results:read", "results", "estimates export"),
    ("owner analyst", "results:read", "joint", "crosstab compare mixture pairs test regression weights analysis"),
    ("owner analyst", "results:read", "joint", "cancel"),
    ("owner fieldwork", "tokens:issue", "tokens", "stats create revoke"),
    (ADMIN, "metrics:read", "machine", "metrics"),
    (STAFF, NO_KEY, "auth", "leave"),
    (STAFF, NO_KEY, "access", "me make_key revoke_key end_session end_sessions"),
    ("owner analyst fieldwork viewer", NO_KEY, "access", "leave"),
    (STAFF, NO_KEY, "oidc", "bind"),
    (STAFF, NO_KEY, "passkeys", "own add remove"),
    (STAFF, NO_KEY, "studio", "surveys"),
    ("owner analyst fieldwork viewer", NO_KEY, "studio", "survey"),
    (STAFF, NO_KEY, "studio", "analyze analyze_upload analyzed analyzed_change analyzed_tables analyzed_tables_file"),
    (STAFF, NO_KEY, "studio", "analyzed_models analyzed_models_file analyzed_end_analysis"),
    ("owner admin", NO_KEY, "studio", "new begin links publish_link withdraw_link"),
    ("owner", NO_KEY, "studio", "design save_design discard"),
    ("owner analyst fieldwork viewer", NO_KEY, "studio", "preview preview_form elsewhere"),
    ("owner", NO_KEY, "studio", "try_out publish publish_now choose_column correct settings survey_institution"),
    ("owner", NO_KEY, "studio", "change_survey_institution close reopen retire delete"),
    ("owner analyst fieldwork viewer", NO_KEY, "studio", "privacy privacy_print privacy_data"),
    ("owner analyst", NO_KEY, "studio", "rehearse rehearse_download rehearse_chart rehearse_picture"),
    ("owner analyst", NO_KEY, "studio", "rehearse_figures rehearse_tables rehearse_tables_file rehearse_models"),
    ("owner analyst", NO_KEY, "studio", "rehearse_models_file rehearse_files rehearse_file tables tables_file"),
    ("owner analyst", NO_KEY, "studio", "models models_file end_analysis files file"),
    ("owner", NO_KEY, "studio", "open_budget release"),
    ("owner fieldwork", NO_KEY, "studio", "invite personal_links take_links_back qr_svg qr_png poster saved_page"),
    ("owner analyst viewer", NO_KEY, "studio", "results"),
    ("owner analyst", NO_KEY, "studio", "download"),
    ("owner analyst viewer", NO_KEY, "studio", "chart picture"),
    ("owner analyst", NO_KEY, "studio", "figures"),
    (ADMIN, NO_KEY, "studio", "institution change_institution accounts invite_account account change_account"),
    (ADMIN, NO_KEY, "studio", "journal"),
    ("owner", NO_KEY, "studio", "team change_team board change_board history"),
)
"""Who may use which routes of a blueprint, and the scope that a key needs, in the order of ``docs/access.md``."""

RIGHTS: dict[str, Right] = {
    f"{blueprint}.{route}": Right(frozenset(who.split()), scope)
    for who, scope, blueprint, routes in _ROUTES
    for route in routes.split()
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
