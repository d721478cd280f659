"""Who is asking: an account, with all that it may, or with as much of that as the key is for."""

from collections.abc import Mapping
from dataclasses import dataclass

from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.accounts.models import EVERY_SURVEY, SCOPES, AccessKey, Account


@dataclass(frozen=True)
class Actor:
    """
    Who is asking.

    Attributes:
        account: whose rights these are.
        grants: its role by survey, whose name may be ``EVERY_SURVEY``.
        key: what it came in with, which may be worth less; None for a session.
    """

    account: Account
    grants: Mapping[str, str]
    key: AccessKey | None = None

    @property
    def scopes(self) -> frozenset[str]:
        """What its key is good for; of a session, everything."""
        return frozenset(SCOPES) if self.key is None else self.key.scopes

    @property
    def survey(self) -> str:
        """The one survey that its key is good for, or ``EVERY_SURVEY``."""
        return EVERY_SURVEY if self.key is None else self.key.survey

    @property
    def is_admin(self) -> bool:
        """An admin, whose key is not for one survey alone."""
        return self.account.admin and self.survey == EVERY_SURVEY

    def role(self, survey: str) -> str | None:
        """The role on a survey, of which its own goes before that on every one; None if it may not know of it."""
        if self.survey not in {EVERY_SURVEY, survey}:
            return None
        return self.grants.get(survey) or self.grants.get(EVERY_SURVEY)

    def may_publish_new(self) -> bool:
        """Whether a survey of a new name may be published: by admins, and by whoever owns one."""
        return self.survey == EVERY_SURVEY and (self.account.admin or "owner" in self.grants.values())


def actor_of(storage: Storage, account: Account, key: AccessKey | None = None) -> Actor:
    """
    Who is asking, with what is granted at this moment.

    Args:
        storage: an open database.
        account: that was let in.
        key: by which it was, if not by a session.
    """
    return Actor(account, storage.access.grants(account.id), key)
