"""What the pages about staff share: in whose name they act, on which day, and how they say what is refused."""

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
    """The open database."""
    found: Storage = current_app.extensions["storage"]
    return found


def tables() -> AccessTables:
    """Accounts and rights, changed in the name of whoever is signed in: so the journal has it."""
    return storage().access.by(g.get("who", ""))


def today() -> int:
    """The day, counted from 1970-01-01."""
    return now() // DAY


def as_date(day: int) -> date:
    """A day that is counted from 1970-01-01."""
    return _FIRST_DAY + timedelta(day)


def told(refused: AccessRefused) -> str:
    """Why something is not done, in the reader's language."""
    return words().say(f"refused_{refused.reason}", **refused.values) if refused.reason else str(refused)
