"""Import of XLSForm, the format of ODK, KoboToolbox and Enketo; parts that cannot be imported are listed one by one.

Imported: yes/no, choices, numbers with both bounds, ranges, dates with both bounds, notes, acknowledgements, groups
(their questions one by one; those of a group with a ``mechanism`` in one block), labels and hints by language, and
conditions as far as ``xlsform_relevant`` reads them. Labels and hints carry their language in the heading: ``label``,
``label::English (en)``, ``label::Français``. A column ``mechanism`` sets the sensitivity level: public, a
little, clearly, badly, coin_flip, or an epsilon. Without it the level is "clearly", with odds of 3 to 1.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import Any

from sottovoce.aggregator.authoring.draft import DraftItem, absent_keys, free_name
from sottovoce.aggregator.authoring.sensitivity_levels import EPSILONS
from sottovoce.aggregator.authoring.workbook import LeftOut, Sheet, SheetRow, read_workbook
from sottovoce.aggregator.authoring.xlsform_relevant import (
    ReferencedQuestion,
    UnsupportedConditionError,
    conditions,
    shown_where_blank,
)
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.shared.accounting import DEFAULT_ALLOWANCE
from sottovoce.shared.checks import LANGUAGE
from sottovoce.shared.errors import Sentence, SpecError
from sottovoce.shared.languages import LANGUAGES
from sottovoce.shared.mechanisms.joint_rr import MIN_QUESTIONS
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.questions import MAX_QUESTIONS
from sottovoce.shared.rational import log
from sottovoce.shared.spec import FORMAT

SHEETS = ("survey", "choices", "settings")

_WAS_IGNORED = "is not supported and was ignored"
_CONSTRAINT = "a constraint other than the two ends"

PROTECTION = {"a little": EPSILONS["little"], **EPSILONS}
"""Epsilons of the sensitivity levels in the column ``mechanism``."""

_METADATA = (
    "start", "end", "today", "deviceid", "subscriberid", "simserial", "phonenumber", "username", "email", "audit",
)  # fmt: skip
_UNSUPPORTED = {
    "text": "free text identifies people; ask for one of several choices",
    "string": "free text identifies people; ask for one of several choices",
    "calculate": "a calculation; results are computed from the counts, not on the device",
    "hidden": "a hidden value",
    "begin_repeat": "a group that is repeated; ask its questions once",
    "rank": "a ranking; ask for the first choice",
    "time": "a time of day; ask for one of several choices",
    "datetime": "a date with a time; ask for a date",
    **dict.fromkeys(_METADATA, "data about the device, which reports never contain"),
}
_UNSUPPORTED_STARTS = {
    r"image|photo|audio|video|file|barcode|background": "a picture, a sound, a file or a code; only choices, numbers "
    "and dates can be protected",
    r"(start-)?geo": "a position on the map, which identifies people; ask for a region",
    r"select_(one|multiple)_from_file": "choices from a file; put them on the sheet choices",
}
_IGNORED = ("calculation", "choice_filter", "default", "repeat_count", "trigger", "readonly", "save_to")
_UNREAD = re.compile(
    r"(constrain(t|ing)_message|required_?m(essa|s)ge?|guidance_hint|no_?app_?error_?string|autoplay|rows|sms_|compact_tag|"
    r"bind::|control::|body::|instance::).*"
)
"""Headings of a form that no single question loses its sense by."""
_BOUND = re.compile(
    r"\(?\s*\.\s*(>=|<=|>|<)\s*(?:(-?\d{1,15}(?:\.\d{1,6})?)|date\(['\"](\d{4}-\d\d-\d\d)['\"]\))\s*\)?"
)
_KINDS = (
    (re.compile(r"(begin|end)[ _]group\b"), r"\1_group"),
    (re.compile(r"(begin|end)[ _](?:repeat|l(?:ooped )?group|loop)\b"), r"\1_repeat"),
    (re.compile(r"select[ _](one|multiple)[ _](?:from[ _]file|external)\b"), r"select_\1_from_file"),
    (re.compile(r"(?:add )?select(?: one prompt using|[ _]one(?: from)?|1) "), "select_one"),
    (re.compile(r"(?:add )?select(?:[ _]multiple(?: prompt using)?| all that apply(?: from)?) "), "select_multiple"),
    (re.compile(r"(?:q|add) (int|integer|decimal|date|note|acknowledge|string|text)(?: prompt)?$"), r"\1"),
    (re.compile(r"(\S*).*"), r"\1"),
)
"""Types as pyxform 4.5 reads them, with their usual names."""
_OTHER = re.compile(r" or(_| specify )?other$")
_STRAIGHT = str.maketrans("‘’“”", "''\"\"")
"""Quotation marks that spreadsheets make of straight ones."""
_TRUE = {"yes", "true", "true()"}

_NAMES = {name.lower(): tag for tag, name in LANGUAGES.items()} | {
    "arabic": "ar", "german": "de", "spanish": "es", "french": "fr", "hindi": "hi", "italian": "it", "portuguese": "pt",
    "chinese": "zh-Hans", "中文": "zh-Hans", "swahili": "sw", "kiswahili": "sw",
}  # fmt: skip
"""Tags of common languages, for headings that have a language name without a tag."""

_TAGGED = re.compile(r".*\(([^()]+)\)\s*")

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


class Texts:
    """Columns of texts in an XLSForm, with their languages."""

    def __init__(self, sheets: Mapping[str, Sheet], settings: SheetRow, left: list[LeftOut]) -> None:
        """Find the languages of all columns, and the default language: the settings' if texts in it exist.

        Notes on columns in unknown languages are added to ``left``.
        """
        headings = {heading: row.sheet for sheet in sheets.values() for row in sheet for heading in row.cells}
        self._left = left
        self._tags = {heading: tag for heading in headings if (tag := tag_of(heading.partition("::")[2]))}
        spoken = [tag for heading, tag in self._tags.items() if heading.startswith("label")]
        named = tag_of(settings.get("default_language"))
        plain = "label" in headings
        self.default = named if named in spoken or (named and plain) else "en" if plain or not spoken else spoken[0]
        for heading, sheet in headings.items():
            if heading.startswith(("label::", "hint::")) and heading not in self._tags:
                what = "the language is not known; write its tag in brackets, such as Luganda (lg)"
                left.append(LeftOut(sheet, 1, heading.partition("::")[0], what))

    def of(self, row: SheetRow, column: str) -> dict[str, str]:
        """Return a row's text by language; a missing text in the default language is replaced by another one."""
        tags = {heading: tag for heading, tag in self._tags.items() if heading.startswith(f"{column}::")}
        found = {tag: row.cells[heading] for heading, tag in tags.items() if heading in row.cells}
        if column in row.cells:
            found.setdefault(self.default, row.cells[column])
        if found and self.default not in found:
            what = "no text in the form's own language; another one stands in its place"
            self._left.append(row.left_out(what, column))
            found[self.default] = next(iter(found.values()))
        return found


def tag_of(language: str) -> str:
    """Return the tag for a language in a heading: "French (fr)", "fr" or "Français"; "" if it is unknown."""
    tagged = _TAGGED.fullmatch(language)
    tag = (tagged[1] if tagged else language).strip()
    tag = tag if "-" in tag else tag.lower()
    if LANGUAGE.fullmatch(tag):
        return tag
    return _NAMES.get(language.strip().lower(), "")


@dataclass(frozen=True)
class Imported:
    """Result of an import: a valid survey's document, with its shorthand, and parts left out, in sheet order."""

    document: dict[str, Any]
    left_out: tuple[LeftOut, ...]


def read_xlsform(data: bytes) -> Imported:
    """Import the form in a workbook.

    Raises SpecError if the file is not a workbook, lacks a required sheet or column, or has no question that can be
    asked.
    """
    sheets, notes = read_workbook(data, SHEETS)
    _check_sheets(sheets)
    form = _Form(sheets, notes)
    for row in sheets["survey"]:
        form.take(row)
    document = {**form.head(), "questions": form.items}
    _leave_out_what_is_refused(document, form)
    form.note_optional()
    order = {sheet: index for index, sheet in enumerate(SHEETS)}
    return Imported(document, tuple(sorted(form.left, key=lambda one: (order[one.sheet], one.row))))


def _check_sheets(sheets: Mapping[str, Sheet]) -> None:
    if "survey" not in sheets:
        raise SpecError("the workbook has no sheet named survey; an XLSForm has one, with a row for each question")
    for sheet, wanted in (("survey", ("type", "name")), ("choices", ("list_name", "name"))):
        headings = {heading for row in sheets.get(sheet, ()) for heading in row.cells}
        for heading in wanted:
            if sheets.get(sheet) and heading not in headings:
                raise SpecError(
                    Sentence("{sheet}, row 1: there is no column {column}, or it is empty", sheet=sheet, column=heading)
                )


class _Form:
    """State of an import: the items read so far and the notes on parts left out."""

    def __init__(self, sheets: Mapping[str, Sheet], notes: list[LeftOut]) -> None:
        self.left = notes
        self.items: list[dict[str, Any]] = []
        self.rows: list[SheetRow | BlockGroup] = []
        self._settings = next(iter(sheets.get("settings", ())), SheetRow("settings", 2, {}))
        self._texts = Texts(sheets, self._settings, self.left)
        self._choices = _lists(sheets.get("choices", ()))
        self._earlier: dict[str, ReferencedQuestion | None] = {}
        self._groups: list[tuple[SheetRow, BlockGroup | None]] = []
        self._names: set[str] = set()
        self._named: set[tuple[int, str]] = set()
        self._optional: list[SheetRow] = []
        self._repeats = 0
        for sheet, heading in sorted(
            {(row.sheet, each) for rows in sheets.values() for row in rows for each in row.cells}
        ):
            if _UNREAD.fullmatch(heading):
                self.left.append(LeftOut(sheet, 1, heading.partition("::")[0], _WAS_IGNORED))
        for row in sheets.get("choices", ()):
            self._note_ignored(row)

    def head(self) -> dict[str, Any]:
        title = self._settings.get("form_title") or "Imported form"
        name = _plain_name(self._settings.get("form_id") or title) or "imported"
        default = self._texts.default
        return {"format": FORMAT, "name": name, "revision": 1, "default_language": default, "title": {default: title}}

    def take(self, row: SheetRow) -> None:
        written = " ".join(row.get("type").lower().split())
        kind = next(found.expand(name) for pattern, name in _KINDS if (found := pattern.match(written)))
        if kind and row.get("disabled").lower() in _TRUE:
            self._leave(row, "the form has disabled this row")
            return
        if kind in {"begin_repeat", "end_repeat"}:
            self._repeats += 1 if kind == "begin_repeat" else -1
        if self._repeats > 0 or kind == "end_repeat" or not kind:
            if kind and kind != "end_repeat":
                self._leave(row, _UNSUPPORTED["begin_repeat"])
        elif kind == "end_group":
            self._groups = self._groups[:-1]
        elif kind == "begin_group":
            self._groups.append((row, self._block(row)))
            if self._texts.of(row, "label"):
                self._add(row, {"type": "note"}, None)
        else:
            self._item(row, kind)

    def _block(self, row: SheetRow) -> BlockGroup | None:
        """Return the block that the questions of a group are in; a group within a block adds to it."""
        outer = self._groups[-1][1] if self._groups else None
        level = row.get("mechanism").lower()
        if not level or outer:
            return outer
        self._check_level(row, level)
        name = _plain_name(row.get("name")) or "block"
        # The group's label becomes a note of the same name.
        name = f"{name[:58]}_block" if name in self._names or self._texts.of(row, "label") else name
        self._names.add(name)
        return BlockGroup(row, name)

    def _item(self, row: SheetRow, kind: str) -> None:
        starts = (reason for start, reason in _UNSUPPORTED_STARTS.items() if re.match(start, kind))
        if reason := next(starts, _UNSUPPORTED.get(kind)):
            self._leave(row, reason)
        # The head of a table shows its text and the columns' labels, and takes no answer.
        elif kind in {"note", "acknowledge", "trigger"} or "label" in row.get("appearance").split():
            self._add(row, {"type": "acknowledge" if kind in {"acknowledge", "trigger"} else "note"}, None)
        elif kind in {"select_one", "select_multiple", "rating"}:
            self._select(row, kind)
        elif kind in {"integer", "int", "decimal", "range", "date"}:
            self._number(row, {"int": "integer"}.get(kind, kind))
        else:
            self._leave(row, "this type of question is not supported")

    def _select(self, row: SheetRow, kind: str) -> None:
        if row.get("choice_filter"):
            self._leave(row, "choices that depend on an earlier answer; ask one question for each of its answers")
            return
        if _OTHER.search(row.get("type")):
            self._leave(row, "'other, specify' is free text; the choices came without it", "type")
        rows = self._choices.get(_OTHER.sub("", " ".join(row.get("type").split())).split()[-1], [])
        if not rows:
            self._leave(row, "its list of choices is not on the sheet choices")
            return
        if row.get("constraint"):
            self._leave(row, _CONSTRAINT, "constraint")
        if row.get("parameters"):
            self._leave(row, _WAS_IGNORED, "parameters")
        known = _option_names([one.get("name") for one in rows])
        choices = [{"name": known[one.get("name")], "label": self._label(one)} for one in rows]
        if kind == "select_one" and _are_yes_and_no(choices):
            self._add(row, {"type": "boolean"}, ReferencedQuestion("", known))
            return
        asked = "rating" if kind == "select_one" and "likert" in row.get("appearance") else kind
        self._add(row, {"type": asked, "choices": choices}, ReferencedQuestion("", known, kind == "select_multiple"))

    def _number(self, row: SheetRow, kind: str) -> None:
        if kind == "range":
            written = dict(re.findall(r"(start|end|step)\s*=\s*(-?\d+(?:\.\d+)?)", row.get("parameters")))
            low, high, step = (written.get(key, usual) for key, usual in (("start", "1"), ("end", "10"), ("step", "1")))
            kind = "integer" if all("." not in number for number in (low, high, step)) else "decimal"
        else:
            step = "0.1" if kind == "decimal" else "1"
            low, high = self._bounds(row, kind)
            if kind == "decimal" and low and high:
                self._leave(row, "steps of 0.1 are assumed, because numbers here need a step", "type")
        if not low or not high:
            ends = "date('2026-01-01') and . <= date('2026-12-31')" if kind == "date" else "0 and . <= 120"
            self._leave(
                row, Sentence("both ends are needed: write the constraint {constraint}", constraint=f". >= {ends}")
            )
            return
        as_written = int if kind == "integer" else str
        fields: dict[str, Any] = {"type": kind, "min": as_written(low), "max": as_written(high)}
        if step != "1" or kind == "decimal":
            fields["step"] = step if kind == "decimal" else int(step)
        number = ReferencedQuestion("", {}, step=Decimal(step), low=Decimal(low)) if kind != "date" else None
        self._add(row, fields, number)

    def _bounds(self, row: SheetRow, kind: str) -> tuple[str, str]:
        """Return both bounds in the constraint, "" for a missing one; other conditions in it are left out."""
        lows, highs = list[str](), list[str]()
        for part in re.split(r"\s+and\s+", row.get("constraint").translate(_STRAIGHT).strip()):
            found = _BOUND.fullmatch(part)
            fits = found and bool(found[3]) == (kind == "date")
            end = _inner_end(found[1], found[2] or found[3], kind) if found and fits else ""
            if found and end:
                (lows if found[1].startswith(">") else highs).append(end)
            elif part:
                self._leave(row, _CONSTRAINT, "constraint")
        key = str if kind == "date" else Decimal
        return max(lows, key=key, default=""), min(highs, key=key, default="")

    def _add(self, row: SheetRow, fields: dict[str, Any], asked: ReferencedQuestion | None) -> None:
        """Add an item with its name, texts and conditions, and for a question with its mechanism."""
        name = _plain_name(row.get("name"))
        texts = {key: text for key in ("label", "hint") if (text := self._texts.of(row, key))}
        place = self._groups[-1][0].number if self._groups else 0, row.get("name")
        if not name or "label" not in texts or place in self._named:
            unlabelled = name and "label" not in texts
            self._leave(row, "it has no label" if unlabelled else "it has no name, or one that was used before")
            return
        self._named.add(place)
        if name in self._names:
            name = free_name(name, self._names, longest=64)
            self._leave(row, Sentence("another row has this name; here it is {name}", name=name), "name")
        reported, shown = fields["type"] not in {"note", "acknowledge"}, self._conditions(row)
        item = {"type": fields["type"], "name": name, **texts, **fields, **shown}
        block = self._groups[-1][1] if self._groups and reported else None
        if block and fields["type"] not in KINDS:
            self._leave(row, ALONE)
            block = None
        optional = row.get("required").lower() not in _TRUE
        if reported:
            item |= self._treatment(row, fields["type"], block)
            # What people report who do not see a question: the least of a number, no option, or a category of its own.
            item |= (absent_keys(DraftItem(fields), "own") or {"when_absent": str(fields["min"])}) if shown else {}
            if shown and "min" in fields:
                unseen = "people who do not see it report {least}, which counts in a mean"
                self._leave(row, Sentence(unseen, least=str(fields["min"])), "relevant")
            elif not shown and optional:
                self._optional.append(row)
        self._note_ignored(row)
        self._names.add(name)
        self._place(row, item, block)
        if row.get("name") in self._earlier:
            # Conditions on a name that two groups have are conditions on no one question.
            self._earlier[row.get("name")] = None
        elif asked:
            self._earlier[row.get("name")] = replace(asked, name=name, absent=bool(shown) or optional)

    def _place(self, row: SheetRow, item: dict[str, Any], block: BlockGroup | None) -> None:
        if block is None or not block.rows:
            self.items.append(item if block is None else block.entry)
            self.rows.append(block or row)
        if block is not None:
            block.add(row, item)

    def _conditions(self, row: SheetRow) -> dict[str, Any]:
        rows = [group for group, _ in self._groups if group.number != row.number]
        relevant = [text.translate(_STRAIGHT) for each in (*rows, row) if (text := each.get("relevant"))]
        try:
            found = conditions(relevant, self._earlier) if relevant else {}
            for name in shown_where_blank(relevant, self._earlier):
                blank = "the form also shows it where {question} has no answer; the survey does not"
                self._leave(row, Sentence(blank, question=name), "relevant")
            return found
        except UnsupportedConditionError as error:
            what = Sentence("a condition with {reason}; the question is shown to everybody", reason=str(error))
            self._leave(row, what, "relevant")
            return {}

    def _treatment(self, row: SheetRow, kind: str, block: BlockGroup | None) -> dict[str, Any]:
        if block:
            if row.get("mechanism"):
                self._leave(row, "its group has the mechanism of all its questions: leave this out", "mechanism")
            return {}
        level = row.get("mechanism").lower() or "clearly"
        if level in {"public", "not at all"}:
            return {"public": True}
        if level in {"clearly", "coin_flip"} and kind == "boolean":
            return {"mechanism": {"name": "coin_flip"}}
        known = self._check_level(row, level)
        return {"mechanism": {"epsilon": PROTECTION.get(level, level)} if known else dict(CLEARLY)}

    def _check_level(self, row: SheetRow, level: str) -> bool:
        if level in PROTECTION or NUMBER.fullmatch(level):
            return True
        what = "not known; write public, a little, clearly, badly or an epsilon. It is protected clearly"
        self._leave(row, what, "mechanism")
        return False

    def _note_ignored(self, row: SheetRow) -> None:
        for heading in _IGNORED:
            if row.get(heading):
                self._leave(row, _WAS_IGNORED, heading)
        if any(heading.startswith("media") for heading in row.cells):
            self._leave(row, "pictures, sounds and videos are not imported", "media")
        if any("${" in text for heading, text in row.cells.items() if heading.startswith(("label", "hint"))):
            repeats = "a text that repeats an earlier answer; texts are the same for everybody here, so change it"
            self._leave(row, repeats, "label")

    def note_optional(self) -> None:
        """Note that questions without an answer are valid in the form and not in the survey."""
        if self._optional:
            empty = "questions that may stay empty in the form: {count}; here they need an answer or an absent_category"
            self._leave(self._optional[0], Sentence(empty, count=len(self._optional)), "required")

    def _label(self, row: SheetRow) -> dict[str, str]:
        return self._texts.of(row, "label") or {self._texts.default: row.get("name") or "?"}

    def _leave(self, row: SheetRow, what: str, column: str = "") -> None:
        self.left.append(row.left_out(what, column))


def _lists(rows: Sheet) -> dict[str, list[SheetRow]]:
    lists: dict[str, list[SheetRow]] = {}
    for row in rows:
        lists.setdefault(row.get("list_name"), []).append(row)
    return lists


def _plain_name(name: str) -> str:
    """Convert to a valid name in a survey: lower-case letters, digits and underscores, at most 64."""
    return re.sub(r"[^a-z0-9_]", "_", name.strip().lower()).lstrip("_")[:64]


def _option_names(names: Sequence[str]) -> dict[str, str]:
    """Return names of options in a survey by those in the form; different ones stay different."""
    known: dict[str, str] = {}
    for name in dict.fromkeys(names):
        plain = _plain_name(re.sub(r"^-(?=\d)", "minus_", name.strip())) or "option"
        known[name] = free_name(plain, list(known.values()), longest=64)
    return known


def _are_yes_and_no(choices: Sequence[Mapping[str, Any]]) -> bool:
    """Return True if two options are yes and no, and each label is the form's own word for it in its language."""
    words = {tag.partition("-")[0]: Words(tag) for tag in LANGUAGES}
    labels = [(each["name"], words.get(tag.partition("-")[0]), text.strip().casefold())
              for each in choices for tag, text in each["label"].items()]  # fmt: skip
    return sorted(each["name"] for each in choices) == ["no", "yes"] and all(
        own is not None and text in {name, own.translate(f"answer_{name}").casefold()} for name, own, text in labels
    )


def _inner_end(sign: str, end: str, kind: str) -> str:
    """Return the last value that a bound allows on the grid of days, integers or steps of 0.1; "" for no date."""
    step = 0 if len(sign) == 2 else 1 if sign == ">" else -1
    if kind == "date":
        try:
            return (date.fromisoformat(end) + timedelta(step)).isoformat()
        except (ValueError, OverflowError):
            return ""
    if kind == "decimal":
        return str(Decimal(end) + Decimal(step) / 10)
    whole = ceil(Decimal(end)) if sign in {">=", "<"} else floor(Decimal(end))
    return str(whole + step)


def _leave_out_what_is_refused(document: dict[str, Any], form: _Form) -> None:
    """Remove refused conditions and questions, each with a note, until the document is valid, or raise SpecError."""
    questions: list[dict[str, Any]] = document["questions"]
    if len(questions) > MAX_QUESTIONS:
        long = "survey, row {row}: a survey has at most {most} items; divide the form before this row"
        raise SpecError(Sentence(long, row=row_of(form.rows[MAX_QUESTIONS]).number, most=MAX_QUESTIONS))
    while True:
        for index in reversed(range(len(questions))):
            group = form.rows[index]
            if isinstance(group, BlockGroup) and len(group.rows) < MIN_QUESTIONS:
                take_apart(questions, form.rows, index)
        if not any("mechanism" in item or "public" in item for item in questions):
            reasons = tuple(each.message for each in form.left[:5])
            raise SpecError(Sentence("the form has no question that can be asked here; {reasons}", reasons=reasons))
        try:
            parse_survey(document)
        except SpecError as error:
            take_away(error, questions, form.rows, form.left)
        else:
            return
