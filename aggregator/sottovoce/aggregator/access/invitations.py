"""Links that are good once: for somebody new, or for an account to sign in."""

from sottovoce.aggregator.access.keys import new_link
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.access_rows import Invitation
from sottovoce.aggregator.storage.journal_words import NOBODY

LINK_DAYS = 7
"""Days for which an invitation or a sign-in link is good, beside today."""


def sign_in_link(
    storage: Storage, url: str, account_id: bytes, day: int, at_once: bool = False, who: str = NOBODY
) -> str:
    """
    A link that signs an account in, once.

    Args:
        storage: an open database.
        url: the aggregator's address.
        account_id: whom it lets in.
        day: today.
        at_once: for whoever opens it at once, on this machine: it signs in without asking.
        who: makes it, for the journal.
    """
    secret, digest = new_link()
    storage.access.by(who).add_invitation(Invitation(digest, "", "", account_id, day + LINK_DAYS))
    return f"{url}/dashboard/{'open' if at_once else 'sign-in'}?link={secret}"


def invitation_link(storage: Storage, url: str, survey: str, role: str, day: int, who: str = NOBODY) -> str:
    """
    A link by which somebody new gets an account and a role, once.

    Args:
        storage: an open database.
        url: the aggregator's address.
        survey: the survey's name, or ``EVERY_SURVEY``.
        role: one of ``ROLES``.
        day: today.
        who: makes it, for the journal.
    """
    secret, digest = new_link()
    storage.access.by(who).add_invitation(Invitation(digest, survey, role, None, day + LINK_DAYS))
    return f"{url}/dashboard/invitation?link={secret}"
