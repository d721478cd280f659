"""Links that are good once: for somebody new, or for an account to sign in."""

from sottovoce.aggregator.access.keys import new_link
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.access_rows import Invitation

LINK_DAYS = 7
"""Days for which an invitation or a sign-in link is good, beside today."""


def sign_in_link(storage: Storage, url: str, account_id: bytes, day: int) -> str:
    """
    A link that signs an account in, once.

    Args:
        storage: an open database.
        url: the aggregator's address.
        account_id: whom it lets in.
        day: today.
    """
    secret, digest = new_link()
    storage.access.add_invitation(Invitation(digest, "", "", account_id, day + LINK_DAYS))
    return f"{url}/dashboard/sign-in?link={secret}"
