"""Accounts as people name them: made from a name that can be shown, found by what stands in a list."""

import unicodedata

from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.accounts.models import ROLES, SCOPES, AccessRefused, Account
from sottovoce.aggregator.storage.audit_log.events import MACHINE

MOST_NAME = 100
"""Characters of a name or a label."""


def check_text(text: str, what: str) -> str:
    """
    A name or a label without spaces around it.

    Raises:
        AccessRefused: it is empty, too long, or cannot be shown on one line.
    """
    text = text.strip()
    if not 1 <= len(text) <= MOST_NAME:
        raise AccessRefused(f"{what} has from 1 to {MOST_NAME} characters", "length", most=MOST_NAME)
    # Control characters, line breaks, and what turns the direction of writing around: none belongs into a list.
    if any(unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} for character in text):
        raise AccessRefused(f"{what} has a character that cannot be shown", "character")
    return text


def check_role(role: str) -> str:
    """
    One of the roles.

    Raises:
        AccessRefused: it is none.
    """
    if role not in ROLES:
        raise AccessRefused(f"a role is one of: {', '.join(ROLES)}", "role")
    return role


def check_scopes(scopes: frozenset[str]) -> frozenset[str]:
    """
    Some of the scopes.

    Raises:
        AccessRefused: there is none, or an unknown one.
    """
    if not scopes or not scopes <= set(SCOPES):
        raise AccessRefused(f"a key has one or more of the scopes: {', '.join(SCOPES)}", "scopes")
    return scopes


def account_number(account: Account) -> str:
    """What an account is called where two have the same name."""
    return account.id.hex()[:8]


def find_account(storage: Storage, named: str) -> Account:
    """
    The account of this name, or of this number.

    Raises:
        AccessRefused: there is none, or there are several of the name.
    """
    found = [one for one in storage.access.accounts() if named in {one.name, account_number(one)}]
    if not found:
        raise AccessRefused("there is no account of this name; `sottovoce account list` tells all", "no_account")
    if len(found) > 1:
        numbers = ", ".join(map(account_number, found))
        raise AccessRefused(
            f"several accounts have this name; say the number of one: {numbers}", "several", numbers=numbers
        )
    return found[0]


def recover(storage: Storage) -> Account:
    """An account that is admin and not disabled, for whoever has the machine: one that there is, or a new one."""
    for account in storage.access.accounts():
        if account.admin and account.disabled_on is None:
            return account
    return storage.access.by(MACHINE).add_owner("recovered")
