"""Handle blocks of an XLSForm: groups with a mechanism, whose questions are randomized together, and refusals."""

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sottovoce.aggregator.authoring.workbook import LeftOut, SheetRow
from sottovoce.shared.accounting import DEFAULT_ALLOWANCE
from sottovoce.shared.errors import Sentence, SpecError
from sottovoce.shared.mechanisms.joint_rr import MIN_QUESTIONS
from sottovoce.shared.rational import log

KINDS = ("boolean", "select_one", "rating")
"""Types of questions that can be in a block."""

NUMBER = re.compile(r"\d{1,2}(\.\d{1,6})?")
"""An epsilon in the column ``mechanism``."""

ALONE = "not one of some options, so that it is protected by itself and not in the block of its group"
CLEARLY: Mapping[str, Any] = {"epsilon": "1.0986"}
_ODDS = {"clearly": Fraction(3), "badly": Fraction(2)}
_EPSILON_OF_LITTLE = 2.0


class BlockGroup:
    """Group with a mechanism, while its questions are read: its row, the questions' rows, its entry in the survey."""

    def __init__(self, row: SheetRow, name: str) -> None:
        self.row = row
        self.rows: list[SheetRow] = []
        self.entry: dict[str, Any] = {"block": name, "mechanism": {}, "items": []}

    def add(self, row: SheetRow, item: dict[str, Any]) -> None:
        """Add a question; the mechanism of its block is the one of the group for so many questions."""
        self.rows.append(row)
        self.entry["items"].append(item)
        self.entry["mechanism"] = {"epsilon": _epsilon(self.row.get("mechanism").lower(), len(self.rows))}

    @property
    def is_short(self) -> bool:
        """Return True if it has too few questions for a block."""
        return len(self.rows) < MIN_QUESTIONS


def _epsilon(level: str, questions: int) -> str:
    """Return the epsilon of a block: the number itself, or the level's for each question, as devices allow."""
    if NUMBER.fullmatch(level):
        return level
    each = _EPSILON_OF_LITTLE if level == "a little" else log(_ODDS.get(level, _ODDS["clearly"]))
    # Rounded up, so that two questions that are protected clearly have odds of 9 and not of 8.95.
    return f"{min(DEFAULT_ALLOWANCE.question, math.ceil(questions * each * 10**6) / 10**6):.6f}"


def take_apart(questions: list[dict[str, Any]], rows: list[SheetRow | BlockGroup], index: int) -> None:
    """Protect the questions of the block at ``index`` one by one."""
    group = rows[index]
    if isinstance(group, BlockGroup):
        questions[index : index + 1] = [{**item, "mechanism": dict(CLEARLY)} for item in group.entry["items"]]
        rows[index : index + 1] = group.rows


def row_of(place: SheetRow | BlockGroup) -> SheetRow:
    """Return the row of a question, or the one that begins a block."""
    return place.row if isinstance(place, BlockGroup) else place


def take_away(
    error: SpecError, questions: list[dict[str, Any]], rows: list[SheetRow | BlockGroup], left: list[LeftOut]
) -> None:
    """Remove one part that a survey refuses: a condition, a question, or what makes a group a block.

    A note is added to ``left``. The refusal itself is raised if no question is the cause.
    """
    refused = [(problem.pointer.split("/"), problem.message) for problem in error.problems]
    at_questions = [(int(path[2]), path[3:], why) for path, why in refused if path[1:2] == ["questions"] and path[2:]]
    if not at_questions:
        raise error
    index, path, why = max(at_questions, key=lambda found: found[0])
    group = rows[index]
    if not isinstance(group, BlockGroup):
        left.append(_take_out(questions[index], row_of(group), path, why))
        if left[-1].column != "relevant":
            del questions[index], rows[index]
    elif path[:1] == ["items"] and path[1:]:
        place, items = int(path[1]), group.entry["items"]
        left.append(_take_out(items[place], group.rows[place], path[2:], why))
        if left[-1].column != "relevant":
            del items[place], group.rows[place]
    else:
        what = Sentence("its questions cannot be protected together: {reason}; each is protected clearly", reason=why)
        left.append(group.row.left_out(what))
        take_apart(questions, rows, index)


def _take_out(question: dict[str, Any], row: SheetRow, path: list[str], why: str) -> LeftOut:
    """Remove a refused condition, and return the note on it, or on the question that is refused itself."""
    if path[:1] in (["visible_if"], ["any_of"]) and path[0] in question:
        del question[path[0]]
        what = Sentence("the condition {reason}; the question is shown to everybody", reason=why)
        return row.left_out(what, "relevant")
    return row.left_out(Sentence("{field}: {reason}", field=path[0], reason=why) if path else why)
