"""Validate names, roles and scopes, and find accounts by name or number."""

import unicodedata

from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.accounts.models import ROLES, SCOPES, AccessRefused, Account
from sottovoce.aggregator.storage.audit_log.events import MACHINE
from sottovoce.shared.errors import did_you_mean

MOST_NAME = 100
"""Maximum number of characters of a name or a label."""


def check_text(text: str, what: str) -> str:
    """Strip a name or a label; raise AccessRefused if it is empty, too long, or cannot be shown on one line."""
    text = text.strip()
    if not 1 <= len(text) <= MOST_NAME:
        raise AccessRefused(f"{what} has from 1 to {MOST_NAME} characters", "length", most=MOST_NAME)
    # Refuse control characters, line breaks and bidi controls: in a list they could disguise one name as another.
    if any(unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} for character in text):
        raise AccessRefused(f"{what} has a character that cannot be shown", "character")
    return text


def check_role(role: str) -> str:
    """Return a role; raise AccessRefused if it does not exist."""
    if role not in ROLES:
        raise AccessRefused(f"a role is one of: {', '.join(ROLES)}", "role")
    return role


def check_scopes(scopes: frozenset[str]) -> frozenset[str]:
    """Return the scopes of a key; raise AccessRefused if there is none, or an unknown one."""
    if not scopes or not scopes <= set(SCOPES):
        raise AccessRefused(f"a key has one or more of the scopes: {', '.join(SCOPES)}", "scopes")
    return scopes


def find_account(storage: Storage, named: str) -> Account:
    """Find an account by name or number; raise AccessRefused if no account matches, or several have the name."""
    found = [one for one in storage.access.accounts() if named in {one.name, one.number}]
    if not found:
        similar = did_you_mean(named, [one.name for one in storage.access.accounts()])
        message = f'account "{named}" was not found.{similar} Run "sottovoce staff list" to see all accounts'
        raise AccessRefused(message, "no_account")
    if len(found) > 1:
        numbers = ", ".join(each.number for each in found)
        raise AccessRefused(
            f"several accounts have this name; say the number of one: {numbers}", "several", numbers=numbers
        )
    return found[0]


def recover(storage: Storage) -> Account:
    """Return an enabled admin account, a new one if there is none; for the operator, who has the database anyway."""
    for account in storage.access.accounts():
        if account.admin and account.disabled_on is None:
            return account
    return storage.access.by(MACHINE).add_owner("recovered")
