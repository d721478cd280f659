"""Helpers that studio pages share: the database, the acting account, the date, the institution and refusals."""

from contextlib import suppress
from datetime import date, timedelta

from flask import Flask, current_app, g
from sottovoce.aggregator.accounts.authentication import now
from sottovoce.aggregator.clock import DAY
from sottovoce.aggregator.institution import Institution, institution_of
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.accounts.accounts import AccessTables
from sottovoce.aggregator.storage.accounts.models import AccessRefused
from sottovoce.aggregator.studio.language import translation, words
from sottovoce.aggregator.studio.results.format_numbers import FILTERS
from sottovoce.shared.errors import StorageError

_FIRST_DAY = date(1970, 1, 1)
_KEPT_SECONDS = 2
"""The server's institution, which every page shows, is read again when older: another node may have changed it."""


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


def shown_institution(survey: str = "") -> Institution:
    """Return the institution of a survey, "" for the server; while the database fails, the operator's file's."""
    standing: Institution = current_app.extensions["institution"]
    kept: dict[str, tuple[int, Institution]] = current_app.extensions["kept_institution"]
    then, found = kept.get(survey, (0, standing))
    if 0 <= now() - then < _KEPT_SECONDS:
        return found
    with suppress(StorageError):
        found = institution_of(storage().institutions.documents(survey), standing, survey)
        if not survey:
            kept[survey] = now(), found
        return found
    return standing


def forget_institution() -> None:
    """Read the institution anew for the next page, after a change."""
    current_app.extensions["kept_institution"].clear()


def register(app: Flask) -> None:
    """Give every template its filters, the reader's language and the institution."""
    app.extensions["institution"] = app.extensions["settings"].shown_institution
    app.extensions["kept_institution"] = {}
    app.context_processor(lambda: {"institution": shown_institution(), **translation()})
    for template_filter in FILTERS:
        app.add_template_filter(template_filter)
