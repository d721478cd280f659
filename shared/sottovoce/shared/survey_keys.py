"""The keys of a survey file, as ``survey.schema.json`` has them: both parsers, lint, Design and translators ask here.

A new key that is true or left out, or a text by language, is a rule in the schema and nothing else: it is a key of the
coming release. The browser's lists are made of these, Design shows the key once its catalogues have ``design_KEY`` and
``design_KEY_hint``, and programs ask for it in ``Survey.document`` or ``Question.marks``. Rules between keys stay in
the parsers.
"""

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any, NamedTuple

TEXTS, MARK = "texts", "mark"
"""What keys without a reader of their own hold: a text by language, or nothing but true."""


class SurveyKey(NamedTuple):
    """A key.

    Attributes:
        holds: ``TEXTS`` or ``MARK``; "" if a reader of its own has the rules.
        since: the release that first read it; "" for the first release, or if another key that it needs says so.
    """

    holds: str = ""
    since: str = ""


COMING = "0.5.0"
"""The release of the keys that are not below."""

_KEYS = {
    "": "format name revision default_language title questions access privacy retention opens closes report_labels ask "
    "waves keep_last description consent arms_per_wave label hint visible_if arm known_share procedure cohort",
    "0.3.0": "notice researcher replaces trial fresh_samples after any_of",
    "0.4.0": "neutral_title quick_exit kiosk check arms analysis_plan order in_files anchor innocuous",
}
_SINCE = {key: release for release, keys in _KEYS.items() for key in keys.split()}

_TEXT = {"$ref": "#/$defs/texts"}
_SCHEMA = json.loads(files(__package__).joinpath("schema/survey.schema.json").read_text(encoding="utf-8"))


def _keys_of(schema: Mapping[str, Any]) -> dict[str, SurveyKey]:
    # What is true and needs another key than ``public`` has a reader of its own.
    needs = schema.get("dependentRequired", {})
    return {
        key: SurveyKey(
            TEXTS if _TEXT.items() <= rule.items()
            else MARK if rule.get("const") is True and needs.get(key, ["public"]) == ["public"]
            else "",
            _SINCE.get(key, COMING),
        )
        for key, rule in schema["properties"].items()
    }  # fmt: skip


RESEARCHER_TEXTS = ("name", "institution", "ethics")
OF_EVERY_ITEM = {"type", "name", "label"}
REQUIRED = set(_SCHEMA["required"])
DEFAULTS = {"access", "privacy", "retention"}
"""Keys that authors may leave out, and the canonical form has."""

SURVEY = _keys_of(_SCHEMA)
ITEM, _NOTE, _MATRIX = (_keys_of(_SCHEMA["$defs"][kind]) for kind in ("question", "note", "matrix"))
OF_NOTES, OF_MATRICES = _NOTE.keys() - OF_EVERY_ITEM, _MATRIX.keys() - OF_EVERY_ITEM - {"rows", "of"}
MARKS = frozenset(key for key, row in ITEM.items() if row.holds == MARK)
WITHOUT_EFFECT = {"hint", "visible_if", "any_of", "arm", *MARKS}
"""Keys that change neither the answers of a question nor how they are randomized."""

SURVEY_TEXTS, SURVEY_MARKS = ([key for key, row in SURVEY.items() if row.holds == what] for what in (TEXTS, MARK))
"""The survey's keys that hold a text by language, and those that hold nothing but true, in the order of the schema."""

ONLY_PUBLIC = {
    "cohort": "only a public question may be the cohort",
    "in_files": "goes with public questions only: files have all randomized ones",
}
"""Why a question that is not public cannot have a mark."""


def first_read_by(release: str) -> Iterable[str]:
    """Return the keys of a survey and its items that this release read first, each once."""
    return dict.fromkeys(key for rows in (SURVEY, ITEM) for key, row in rows.items() if row.since == release)
