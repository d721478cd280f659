"""Rows that no command of this program writes, although their tables are sound: each with the way to mend it."""

from collections.abc import Iterator, Mapping

from sottovoce.aggregator.storage.accounts.models import SCOPES
from sottovoce.aggregator.storage.sql_statements import Handle
from sottovoce.aggregator.storage.table_catalogue import EVERY_TABLE

MOST_DAYS = 36_525
"""A day more than a century from today was written under a wrong clock, or by another program."""

_DAYS = [
    (table, name) for table, columns in EVERY_TABLE.items() for name in columns if name == "day" or name.endswith("_on")
]
_FAR = "SELECT count(*) FROM {} WHERE {} NOT BETWEEN ? AND ?"

_ADVICE: Mapping[str, str] = {
    "keys": 'revoke such keys ("sottovoce staff key revoke"), and create others',
    "invitations": 'remove the invited accounts by "sottovoce staff delete", and invite again',
    "views": "withdraw the links for ethics boards on page Team, and make others",
    "passkeys": "remove those passkeys on My account, and add them again",
    "accounts": 'run "sottovoce staff enable", then "sottovoce staff disable" again',
    "surveys": "reopen those surveys, and close them again",
}
_OTHER = "they cannot be changed without breaking the chain of entries: restore a backup from before"


def row_faults(db: Handle, today: int) -> Iterator[str]:
    """Describe days more than 100 years from today, and keys with scopes that this program does not know.

    Args:
        db: within a transaction.
        today: counted from 1970-01-01.
    """
    for table, column in _DAYS:
        (number,) = db.execute(_FAR.format(table, column), [today - MOST_DAYS, today + MOST_DAYS]).fetchone()
        if number:
            advice = _ADVICE.get(table, _OTHER)
            yield f"the table {table} has days in {column} more than 100 years from today: {number}; {advice}"
    for label, scopes in db.execute("SELECT label, scopes FROM keys ORDER BY label").fetchall():
        if set(scopes.split()) - set(SCOPES):
            yield f"the key '{label}' has a scope that this program does not know; {_ADVICE['keys']}"
