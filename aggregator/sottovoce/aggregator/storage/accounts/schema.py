"""Migrate the researchers of release 0.3.0 to accounts, and their tokens to keys."""

_ACCOUNTS = """
    INSERT INTO accounts (account, name, admin)
    SELECT {new_id}, name, 1 FROM (SELECT DISTINCT name FROM former_researchers) AS named
"""
_GRANTS = "INSERT INTO grants (account, survey, role) SELECT account, '*', 'owner' FROM accounts"
_KEYS = """
    INSERT INTO keys (key_hash, account, label, scopes, survey, expires_on)
    SELECT token_hash, account, 'researcher', 'journal:read metrics:read results:read surveys:write tokens:issue', '*',
        {today} + 366
    FROM former_researchers AS former JOIN accounts ON accounts.name = former.name
"""


def accounts_of_researchers(new_id: str, today: str) -> tuple[str, ...]:
    """Return the statements that make the accounts, all of administrators, and their keys.

    The SQL expressions are for sixteen random bytes and for the day, counted from 1970-01-01.
    """
    return _ACCOUNTS.format(new_id=new_id), _GRANTS, _KEYS.format(today=today)
