"""Show the audit log, newest entries first: all entries for admins, the entries of a survey for its owners."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from flask import render_template, request
from sottovoce.aggregator.accounts.audit_log import names_of
from sottovoce.aggregator.accounts.authentication import storage
from sottovoce.aggregator.authoring.draft import whole_number
from sottovoce.aggregator.clock import date_of
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.storage import AuditEntry
from sottovoce.aggregator.storage.accounts.models import EVERY_SURVEY, ROLES
from sottovoce.aggregator.storage.audit_log import events as kinds
from sottovoce.aggregator.storage.audit_log.audit_log import ALWAYS
from sottovoce.aggregator.studio.request_context import words
from sottovoce.aggregator.studio.survey_frame import published_page

_OF_REVISIONS = frozenset({kinds.PUBLISHED, kinds.RETIRED, kinds.PURGED})
"""Kinds of entries whose second word is a revision number."""

ROWS = 50
"""Number of entries on a page."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}").fullmatch


@dataclass(frozen=True)
class AuditLogLine:
    """Entry of the audit log, in the reader's language, with names in place of account ids.

    Attributes:
        who: name of the account; without an account, a phrase such as "the program".
        what: sentence that describes the action.
        about: objects of the action.
    """

    number: int
    day: str
    who: str
    what: str
    about: str


def journal() -> str:
    """Show the whole audit log, or the entries of one survey, up to a day."""
    survey = request.args.get("survey", "").strip()
    lines = _lines(survey if _NAME(survey) else None)
    return render_template("journal.html", lines=lines, older=_pop_surplus(lines), survey=survey, day=_day_asked())


def history(name: str) -> str:
    """Show the audit log of a survey."""
    frame, lines = published_page(name, "history"), _lines(name)
    return render_template(
        "history.html", page="history", frame=frame, lines=lines, older=_pop_surplus(lines), day=_day_asked()
    )


def line(entry: AuditEntry, names: Mapping[str, str]) -> AuditLogLine:
    """Format an entry in the reader's language; ``names`` of accounts by id, from ``names_of``."""
    what = words().translate(f"did_{entry.what.replace(' ', '_')}")
    about = " · ".join(_word(word, names, entry.what, place) for place, word in enumerate(entry.about.split()))
    return AuditLogLine(entry.number, words().day(date_of(entry.day)), _who(entry.who, names), what, about)


def _word(word: str, names: Mapping[str, str], what: str, place: int) -> str:
    if place == 1 and what in _OF_REVISIONS:
        return words().translate("settings_revision", revision=int(word))
    if place == 1 and (what, word) == (kinds.RESULTS_READ, "closed"):
        return words().translate("surveys_stage_closed")
    if word == EVERY_SURVEY:
        return words().translate("every_survey")
    return words().translate(f"role_{word}") if word in ROLES else names.get(word, word)


def _who(who: str, names: Mapping[str, str]) -> str:
    if who == kinds.MACHINE:
        return words().translate("by_machine")
    return names.get(who, who) or words().translate("by_program")


def _lines(survey: str | None) -> list[AuditLogLine]:
    """Load the entries of a page, and one more if there are older ones."""
    before, day = whole_number(request.args.get("before", ""), 15), _day_asked()
    until = ALWAYS if day is None else (day - date_of(0)).days
    names = names_of(storage())
    return [line(entry, names) for entry in storage().journal.latest(ROWS + 1, survey, before, until)]


def _pop_surplus(lines: list[AuditLogLine]) -> int | None:
    """Remove the surplus entry; return the number below which the next page continues, None on the last page."""
    if len(lines) <= ROWS:
        return None
    lines.pop()
    return lines[-1].number


def _day_asked() -> date | None:
    try:
        return date.fromisoformat(request.args.get("day", ""))
    except ValueError:
        return None


ROUTES = (
    Route("studio.journal", "GET", "/dashboard/journal", journal, "Show the journal of staff actions."),
    Route("studio.history", "GET", "/dashboard/surveys/<name>/history", history, "Show the journal of one survey."),
)
"""Routes of the audit log."""
