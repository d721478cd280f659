"""The keys of a survey file, a row each, from which both parsers, lint, Design and translators take their lists.

A new key that is true or left out is a row here and a rule in ``survey.schema.json``. The browser's lists are made of
the rows, Design shows the key once its catalogues have ``design_KEY`` and ``design_KEY_hint``, and programs ask for it
in ``Survey.document`` or ``Question.marks``. Rules between keys stay in the parsers.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

TEXTS, MARK = "texts", "mark"
"""What keys without a reader of their own hold: a text by language, or nothing but true."""


class SurveyKey(NamedTuple):
    """A key.

    Attributes:
        holds: ``TEXTS`` or ``MARK``; "" if a reader of its own has the rules.
        since: the release that first read it; "" for the first release, or if another key that it needs says so.
        only_public: why a question that is not public cannot have it; "" if it can.
        of: the items besides questions that can have it: ``note`` and ``matrix``.
    """

    holds: str = ""
    since: str = ""
    only_public: str = ""
    of: str = ""


RESEARCHER_TEXTS = ("name", "institution", "ethics")
REQUIRED = {"format", "name", "revision", "default_language", "title", "questions"}
DEFAULTS = {"access", "privacy", "retention"}
"""Keys that authors may leave out, and the canonical form has."""

SURVEY: dict[str, SurveyKey] = {
    **dict.fromkeys(sorted(REQUIRED | DEFAULTS), SurveyKey()),
    **dict.fromkeys(("opens", "closes", "report_labels", "ask", "waves", "keep_last"), SurveyKey()),
    "title": SurveyKey(TEXTS),
    "description": SurveyKey(TEXTS),
    "consent": SurveyKey(TEXTS),
    "notice": SurveyKey(TEXTS, "0.3.0"),
    "neutral_title": SurveyKey(TEXTS, "0.4.0"),
    "researcher": SurveyKey("", "0.3.0"),
    "replaces": SurveyKey("", "0.3.0"),
    "trial": SurveyKey(MARK, "0.3.0"),
    "quick_exit": SurveyKey("", "0.4.0"),
    "kiosk": SurveyKey(MARK, "0.4.0"),
    "check": SurveyKey("", "0.4.0"),
    "fresh_samples": SurveyKey(MARK, "0.3.0"),
    "after": SurveyKey("", "0.3.0"),
    "arms": SurveyKey("", "0.4.0"),
    "arms_per_wave": SurveyKey(MARK),
    "analysis_plan": SurveyKey("", "0.4.0"),
    "order": SurveyKey("", "0.4.0"),
}

ITEM: Mapping[str, SurveyKey] = {
    **dict.fromkeys(("known_share", "procedure"), SurveyKey()),
    **dict.fromkeys(("visible_if", "arm"), SurveyKey(of="note matrix")),
    **dict.fromkeys(("order", "keep_last"), SurveyKey(of="matrix")),
    "hint": SurveyKey(TEXTS, of="note matrix"),
    "any_of": SurveyKey("", "0.3.0", of="note matrix"),
    "cohort": SurveyKey(MARK, only_public="only a public question may be the cohort"),
    "in_files": SurveyKey(MARK, "0.4.0", "goes with public questions only: files have all randomized ones"),
    "anchor": SurveyKey("", "0.4.0"),
    "innocuous": SurveyKey("", "0.4.0"),
}
"""Keys of questions besides those of their type, their texts and the mechanism."""

OF_NOTES, OF_MATRICES = ({key for key, row in ITEM.items() if kind in row.of} for kind in ("note", "matrix"))
MARKS = frozenset(key for key, row in ITEM.items() if row.holds == MARK)
WITHOUT_EFFECT = {"hint", "visible_if", "any_of", "arm", *MARKS}
"""Keys that change neither the answers of a question nor how they are randomized."""


def first_read_by(release: str) -> Iterable[str]:
    """Return the keys of a survey and its items that this release read first, each once."""
    return dict.fromkeys(key for rows in (SURVEY, ITEM) for key, row in rows.items() if row.since == release)


def holding(what: str, rows: Mapping[str, SurveyKey] = SURVEY) -> list[str]:
    """Return the keys that hold ``TEXTS``, or ``MARK``, in the order of the table."""
    return [key for key, row in rows.items() if row.holds == what]
