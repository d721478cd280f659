"""Links that are good once: for somebody new, or for an account to sign in."""

from sottovoce.aggregator.accounts.secrets import new_link
from sottovoce.aggregator.storage.accounts.accounts import AccessTables
from sottovoce.aggregator.storage.accounts.models import AccountInvitation

LINK_DAYS = 7
"""Days for which an invitation or a sign-in link is good, beside today."""


def sign_in_link(tables: AccessTables, url: str, account_id: bytes, day: int, at_once: bool = False) -> str:
    """
    A link that signs an account in, once.

    Args:
        tables: in whose name they are used stands in the journal.
        url: the aggregator's address.
        account_id: whom it lets in.
        day: today.
        at_once: for whoever opens it at once, on this machine: it signs in without asking.
    """
    secret = sign_in_link_secret(tables, account_id, day + LINK_DAYS)
    return f"{url}/dashboard/{'open' if at_once else 'sign-in'}?link={secret}"


def sign_in_link_secret(tables: AccessTables, account_id: bytes, expires_on: int) -> str:
    """
    What signs an account in, once.

    Args:
        tables: in whose name they are used stands in the journal.
        account_id: whom it lets in.
        expires_on: the last day on which it does.
    """
    secret, digest = new_link()
    tables.add_invitation(AccountInvitation(digest, "", "", account_id, expires_on))
    return secret


def invitation_link(tables: AccessTables, url: str, survey: str, role: str, day: int) -> str:
    """
    A link by which somebody new gets an account and a role, once.

    Args:
        tables: in whose name they are used stands in the journal.
        url: the aggregator's address.
        survey: the survey's name, or ``EVERY_SURVEY``.
        role: one of ``ROLES``.
        day: today.
    """
    secret, digest = new_link()
    tables.add_invitation(AccountInvitation(digest, survey, role, None, day + LINK_DAYS))
    return f"{url}/dashboard/invitation?link={secret}"
