"""One-time links: invitations for new people, and sign-in links for existing accounts."""

from sottovoce.aggregator.accounts.authentication import new_link
from sottovoce.aggregator.storage.accounts.accounts import AccessTables
from sottovoce.aggregator.storage.accounts.models import AccountInvitation

LINK_DAYS = 7
"""Days after today for which an invitation or a sign-in link is valid."""


def sign_in_link(tables: AccessTables, url: str, account_id: bytes, day: int, at_once: bool = False) -> str:
    """Make a one-time link that signs in an account; ``day`` is today, in days since 1970-01-01.

    Args:
        tables: tables of accounts; the audit log records their acting account.
        at_once: True for a link opened at once on this machine; it signs in without a confirmation page.
    """
    secret = sign_in_link_secret(tables, account_id, day + LINK_DAYS)
    return f"{url}/dashboard/{'open' if at_once else 'sign-in'}?link={secret}"


def sign_in_link_secret(tables: AccessTables, account_id: bytes, expires_on: int) -> str:
    """Make the secret of a one-time sign-in link, valid until the end of day ``expires_on``, and store its hash."""
    secret, digest = new_link()
    tables.add_invitation(AccountInvitation(digest, "", "", account_id, expires_on))
    return secret


def invitation_link(tables: AccessTables, url: str, survey: str, role: str, day: int) -> str:
    """Make a one-time link that gives a new person an account with a role.

    Args:
        tables: tables of accounts; the audit log records their acting account.
        survey: name of the survey, or ``EVERY_SURVEY``.
        day: today, in days since 1970-01-01.
    """
    secret, digest = new_link()
    tables.add_invitation(AccountInvitation(digest, survey, role, None, day + LINK_DAYS))
    return f"{url}/dashboard/invitation?link={secret}"
