"""Recognize how survey platforms lay out their exports: lines below the header, and names of a question's columns."""

import re
from collections.abc import Sequence

QUALTRICS = "{file} is an export of Qualtrics: the two lines below the names, of texts and ImportIds, are skipped."
SURVEY_MONKEY = "{file} is an export of SurveyMonkey: its names are in two lines, the second one in brackets."

_SUBQUESTION = re.compile(r"(.+?)(?: *\[|_|\.)(value|channel|once|state)[\].]?")
_EMBEDDED = "__js_"
_ANSWER = {"", "Response", "Open-Ended Response"}

ExportLayout = tuple[list[str], int, list[str]]
"""Names of columns, number of rows to skip, notes."""


def platform_layout(names: Sequence[str], rows: Sequence[Sequence[str]]) -> ExportLayout:
    """Return the layout of a table by its header and its first two rows."""
    plain = [name.strip() for name in names]
    if len(rows) > 1 and all(cell.startswith('{"ImportId"') for cell in rows[1]):
        return _one_question(plain), 2, [QUALTRICS]
    if rows and plain[0].lower() in {"respondent id", "respondent_id"} and not rows[0][0].strip():
        return _one_question(_in_two_lines(plain, rows[0])), 1, [SURVEY_MONKEY]
    return _one_question(plain), 0, []


def _in_two_lines(names: Sequence[str], below: Sequence[str]) -> list[str]:
    """Return the names of SurveyMonkey, which writes a question's text above the first of its columns only."""
    found, text = list[str](), ""
    for place, (name, more) in enumerate(zip(names, map(str.strip, below), strict=True)):
        text = name or text
        alone = bool(name) and (place + 1 == len(names) or bool(names[place + 1]))
        found.append(text if more in _ANSWER and alone else f"{text} [{more}]")
    return found


def _one_question(names: Sequence[str]) -> list[str]:
    """Return names in which the columns of one question are called as its snippet does: ``x_channel`` beside ``x``.

    LimeSurvey has ``x[value]`` and ``x[channel]``, or ``x_value`` or ``x.value.`` in its files for R, Qualtrics
    ``__js_x``.
    """
    shorter = [name.removeprefix(_EMBEDDED) for name in names]
    parts = [_SUBQUESTION.fullmatch(name) for name in shorter]
    values, channels = ({part[1] for part in parts if part and part[2] == kind} for kind in ("value", "channel"))
    asked = values & channels
    renamed = [
        name if part is None or part[1] not in asked else part[1] if part[2] == "value" else f"{part[1]}_{part[2]}"
        for name, part in zip(shorter, parts, strict=True)
    ]
    return renamed if len(set(renamed)) == len(renamed) else [*names]
