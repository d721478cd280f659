"""Principal of a request: an account with its roles, limited by the key if one was used."""

from collections.abc import Mapping
from dataclasses import dataclass

from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.accounts.models import EVERY_SURVEY, SCOPES, AccessKey, Account


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
