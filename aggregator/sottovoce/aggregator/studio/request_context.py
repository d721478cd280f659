"""Helpers that studio pages share: the database, the acting account, the date and messages of refusals."""

from datetime import date, timedelta

from flask import current_app, g
from sottovoce.aggregator.accounts.authentication import now
from sottovoce.aggregator.clock import DAY
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.accounts.accounts import AccessTables
from sottovoce.aggregator.storage.accounts.models import AccessRefused
from sottovoce.aggregator.studio.language import words

_FIRST_DAY = date(1970, 1, 1)


def storage() -> Storage:
    """Return the storage of the running app."""
    found: Storage = current_app.extensions["storage"]
    return found


def tables() -> AccessTables:
    """Return the tables of accounts and roles; the audit log records changes under the signed-in account."""
    return storage().access.by(g.get("who", ""))


def today() -> int:
    """Return the current day as a number of days since 1970-01-01."""
    return now() // DAY


def as_date(day: int) -> date:
    """Convert a number of days since 1970-01-01 to a date."""
    return _FIRST_DAY + timedelta(day)


def refusal_message(refused: AccessRefused) -> str:
    """Return the reason of a refusal in the reader's language."""
    return words().translate(f"refused_{refused.reason}", **refused.values) if refused.reason else str(refused)
