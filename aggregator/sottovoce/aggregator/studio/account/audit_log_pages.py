"""The journal of what staff did: all of it for admins, a survey's part for its owners; newest first."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from flask import render_template, request
from sottovoce.aggregator.accounts.audit_log import names_of
from sottovoce.aggregator.http.routing import Kind, Query, Route
from sottovoce.aggregator.storage import AuditEntry
from sottovoce.aggregator.storage.accounts.models import EVERY_SURVEY, ROLES
from sottovoce.aggregator.storage.audit_log import events as kinds
from sottovoce.aggregator.storage.audit_log.interface import ALWAYS
from sottovoce.aggregator.studio.language import words
from sottovoce.aggregator.studio.request_context import as_date, storage
from sottovoce.aggregator.studio.survey_frame import published_page

_OF_REVISIONS = frozenset({kinds.PUBLISHED, kinds.RETIRED, kinds.PURGED})
"""Entries whose second word is the number of a revision."""

ROWS = 50
"""Entries on one page."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}").fullmatch


@dataclass(frozen=True)
class AuditLogLine:
    """
    An entry for people.

    Attributes:
        number: the entry's.
        day: as the reader's language writes it.
        who: the name of the account; of no account, in words.
        what: was done, in a sentence.
        about: what it is about: names, numbers and words, ids replaced by names.
    """

    number: int
    day: str
    who: str
    what: str
    about: str


def journal() -> str:
    """All of the journal, or the part of one survey, up to a day."""
    survey = request.args.get("survey", "").strip()
    lines = _lines(survey if _NAME(survey) else None)
    return render_template("journal.html", lines=lines, older=_older(lines), survey=survey, day=_day_asked())


def history(name: str) -> str:
    """A survey's part of the journal."""
    frame, lines = published_page(name, "history"), _lines(name)
    return render_template(
        "history.html", page="history", frame=frame, lines=lines, older=_older(lines), day=_day_asked()
    )


def line(entry: AuditEntry, names: Mapping[str, str]) -> AuditLogLine:
    """
    An entry in the reader's language.

    Args:
        entry: of the journal.
        names: of accounts, from ``names_of``.
    """
    what = words().say(f"did_{entry.what.replace(' ', '_')}")
    about = " · ".join(_word(word, names, entry.what, place) for place, word in enumerate(entry.about.split()))
    return AuditLogLine(entry.number, words().day(as_date(entry.day)), _who(entry.who, names), what, about)


def _word(word: str, names: Mapping[str, str], what: str, place: int) -> str:
    if place == 1 and what in _OF_REVISIONS:
        return words().say("settings_revision", revision=int(word))
    if place == 1 and (what, word) == (kinds.RESULTS_READ, "closed"):
        return words().say("surveys_stage_closed")
    if word == EVERY_SURVEY:
        return words().say("every_survey")
    return words().say(f"role_{word}") if word in ROLES else names.get(word, word)


def _who(who: str, names: Mapping[str, str]) -> str:
    if who == kinds.MACHINE:
        return words().say("by_machine")
    return names.get(who, who) or words().say("by_program")


def _lines(survey: str | None) -> list[AuditLogLine]:
    """One more than are shown, where there are older ones."""
    before, day = request.args.get("before", ""), _day_asked()
    number = int(before) if before.isascii() and before.isdigit() and len(before) <= 15 else None
    until = ALWAYS if day is None else (day - as_date(0)).days
    names = names_of(storage())
    return [line(entry, names) for entry in storage().journal.latest(ROWS + 1, survey, number, until)]


def _older(lines: list[AuditLogLine]) -> int | None:
    """Takes the one too many away; the number before which the next page goes on, None on the last one."""
    if len(lines) <= ROWS:
        return None
    lines.pop()
    return lines[-1].number


def _day_asked() -> date | None:
    try:
        return date.fromisoformat(request.args.get("day", ""))
    except ValueError:
        return None


_ASKED = (Query("day", "The last day."), Query("before", "Only entries with smaller numbers."))

ROUTES = (
    Route(
        "studio.journal",
        "GET",
        "/dashboard/journal",
        journal,
        "What staff did.",
        Kind.PAGE,
        ("text/html",),
        query=(Query("survey", "Only what concerns this one."), *_ASKED),
    ),
    Route(
        "studio.history",
        "GET",
        "/dashboard/surveys/<name>/history",
        history,
        "What staff did with a survey.",
        Kind.PAGE,
        ("text/html",),
        query=_ASKED,
    ),
)
"""The pages of the journal."""
