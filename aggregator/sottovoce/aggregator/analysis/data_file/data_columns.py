"""Turn the columns of a file into the questions of a survey, so that every analysis of reports takes them.

Channel     Of a column, in this order: a channel that the caller names; the column ``<name>_channel`` beside it; the
            survey's question of this name; else the column is public. ``<name>_once`` and ``<name>_state``, which
            counts who saw the question, are left out, and so are free texts, names and times.
Strata      Rows whose channels differ are like reports of different revisions: one revision for each combination.
Public      A column of numbers with more than ``MOST_LABELS`` different ones is a number, in its own unit. Every other
            one is a choice of its values. The channels ``number`` and ``public`` decide it otherwise.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.availability import FEW
from sottovoce.aggregator.analysis.data_file.column_channel import ColumnChannel, Reading, UnknownValue, as_number
from sottovoce.aggregator.analysis.data_file.parse_channel import parse_channel
from sottovoce.aggregator.analysis.data_file.read_table import NO_COLUMN, FileTable, TableColumn
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.file_formats.cell_columns import CodedCells
from sottovoce.aggregator.file_formats.csv_lines import wrong_at
from sottovoce.aggregator.storage.pack_values import LETTERS, null
from sottovoce.shared.answers import ABSENT, Domain, Grid
from sottovoce.shared.errors import Sentence, SpecError, error_message
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.spec import Choice, Question, Survey, Wave
from sottovoce.shared.types import TYPES

CHANNEL, ONCE, STATE = "_channel", "_once", "_state"
"""Ends of names of columns beside an answer: its channel, how long the draw is kept, what became of the question."""

STATES = frozenset({"shown", "opened", "answered", "declined", "blocked", "closed"})
"""Cells of a column of states, which every respondent has to whom a question was shown."""

OF_REPORTS = frozenset({"_wave", "_revision", "revision"})
"""Columns that files of a survey's reports have, whose cells are codes of mechanisms."""

MOST_LABELS = 10
"""Different numbers up to which a public column of them is a choice."""

CHANNEL_COLUMN = "{file}: every value of {variable} is a channel, and is used for the answers in {column}."
TEXT_AMONG_NUMBERS = (
    "{place}: is a text in a column of numbers, so that all are read as categories; empty such cells to read numbers."
)
CODES = (
    "{file}: {variable} has numbers that begin with 0, so that all are read as codes; if they are numbers, give it the "
    "channel number."
)
MISSING_CODES = (
    "{file}: {variable} has {values} far from its other numbers, which count in the mean; empty missing cells."
)
_CODES = {sign * number for number in (7, 8, 9, 66, 77, 88, 96, 97, 98, 99, 777, 888, 997, 998, 999, 9998, 9999)
          for sign in (-1, 1)}  # fmt: skip
"""Codes by which surveys mark missing answers."""

MOST_CHOICES = 1000
MOST_STRATA = 255
_NO_CHANNEL = -1

Codes = NDArray[np.int64]
Rows = NDArray[np.int32]
_NO_CODES = np.zeros((1, 0), np.int64)
_NO_ROWS = np.zeros(0, np.int32)


@dataclass(frozen=True)
class ListedNumbers(Grid):
    """The different numbers of a column, ascending, at least two, not evenly spaced; a step is a place in the list."""

    numbers: tuple[Fraction, ...] = ()

    @cached_property
    def steps(self) -> int:
        """Number of numbers after the first."""
        return len(self.numbers) - 1

    def number(self, step: Fraction | int) -> Fraction:
        """Return the number at this place; between two places, the number between them."""
        place = min(int(step), len(self.numbers) - 1)
        if place == step:
            return self.numbers[place]
        after = self.numbers[min(place + 1, len(self.numbers) - 1)]
        return self.numbers[place] + (step - place) * (after - self.numbers[place])

    def index(self, answer: object) -> int:
        """Return the place of a number; raise ValueError if the column does not contain it."""
        number = self.read(answer)
        if number not in self.numbers:
            raise ValueError("is not a number of the column")
        return self.numbers.index(number)


@dataclass(frozen=True)
class ReadColumn:
    """A column as a question.

    Attributes:
        domain: of the true values.
        mechanisms: one for each stratum; None for a public column.
        codes: reported value of each different text, by stratum, (s, u).
        rows: index of each row's text, -1 where missing, (n,).
        strata: index into ``mechanisms`` of each row, (n,).
    """

    name: str
    type: str
    domain: Domain
    mechanisms: tuple[Mechanism | None, ...]
    codes: Codes
    rows: Rows
    strata: Codes | Rows

    def question(self, stratum: int) -> Question:
        """Return the question of a stratum."""
        listed = TYPES[self.type].list_key
        choices = tuple(Choice(name, {"en": name}) for name in self.domain.places) if listed else ()
        absent = len(self.domain.places) if self.domain.absent else None
        return Question(
            self.name, self.type, {"en": self.name}, {}, choices, self.domain, self.mechanisms[stratum], absent
        )


def data_columns(table: FileTable, channels: Mapping[str, Any], survey: Survey | None = None) -> Columns:
    """Return the columns of a table as reports.

    Args:
        channels: channel by name of the column, as ``parse_channel`` takes it.
        survey: its questions give the channels of columns with their names.

    Raises:
        SpecError: a channel is none, or a value cannot be reported through it; the message names column and line.
    """
    if survey is not None and OF_REPORTS & set(table.columns) - survey.names:
        raise SpecError(
            f"{table.file} is a file of a survey's reports: open its folder with --from, or in Python with open_results"
        )
    _name_channel_columns(table)
    names = [name for name in table.columns if not is_attribute_column(name, table)]
    for name in channels:
        if name not in names:
            raise SpecError(Sentence(NO_COLUMN, file=table.file, name=name, names=", ".join(names)))
    asked = {} if survey is None else {each.name: each for each in survey.questions}
    read = [_read_column(table, name, channels.get(name), asked.get(name)) for name in names]
    used = [each for each in read if each is not None]
    if not used:
        raise wrong_at(table.file, "all cells are empty")
    return _columns(table, used)


def _name_channel_columns(table: FileTable) -> None:
    """Take a column whose every value is a channel for the channels of the column before it, whatever its name.

    Raises SpecError if there is none before it, or that has channels already.
    """
    before = ""
    for name, column in [*table.columns.items()]:
        if is_attribute_column(name, table) or not column.values or not all(map(_is_randomized, column.values)):
            before = name
            continue
        if not before or is_attribute_column(before, table) or f"{before}{CHANNEL}" in table.columns:
            raise wrong_at(f"{table.file}, column '{name}'", "holds channels; name it NAME_channel, after its answers")
        table.columns[f"{before}{CHANNEL}"] = table.columns.pop(name)
        table.notes.append(Sentence(CHANNEL_COLUMN, file=table.file, variable=name, column=before))


def _is_randomized(text: str) -> bool:
    try:
        return not parse_channel(text).public
    except ValueError:
        return False


def is_attribute_column(name: str, table: FileTable) -> bool:
    """Return True for a column that tells something of another one, see ``CHANNEL``, and is no answer."""
    if name.endswith(STATE) and name.removesuffix(STATE) in table.columns:
        return STATES.issuperset(table.columns[name].values)
    return any(name.endswith(end) and name.removesuffix(end) in table.columns for end in (CHANNEL, ONCE))


YES_NO = "{file}, column '{variable}': must hold yes and no, or 1 and 0, and no others"
FEW_LEFT_OUT = (
    "'{variable}': the file leaves out rare answers of {reports} reports as few; these reports are left out here too"
)
COUNT = "{place}: must be a whole number from 0 to {most}"


def yes_no_codes(table: FileTable, name: str) -> NDArray[np.int64]:
    """Return 1 for yes, 0 for no and -1 for a missing cell of a column, (n,); raise SpecError for any other cell."""
    column = table.column(name)
    one, none = Fraction(1), Fraction(0)
    try:
        reading = ColumnChannel("yes or no", ((one, none), (none, one))).read(column.values)
    except ValueError:
        raise SpecError(Sentence(YES_NO, file=table.file, variable=name)) from None
    return np.array([*(reading.reports[text] for text in column.values), -1], np.int64)[column.rows]


def few_as_missing(table: FileTable, names: Iterable[str]) -> tuple[FileTable, list[Sentence]]:
    """Return the table of a survey's reports with the rare answers of columns missing, and a note on each column."""
    columns, notes = {**table.columns}, []
    for name in dict.fromkeys(names):
        column = table.column(name)
        if len(_without_few(table, name)) < len(column.values):
            columns[name] = TableColumn()
            columns[name].add(CodedCells([*("" if text == FEW else text for text in column.values), ""], column.rows))
            reports = int(np.sum((columns[name].rows < 0) & (column.rows >= 0)))
            notes.append(Sentence(FEW_LEFT_OUT, variable=name, reports=reports))
    return replace(table, columns=columns), notes


def is_count(value: object) -> bool:
    """Return True for a whole number from 0, also one of numpy."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 0


def whole_numbers(table: FileTable, name: str, most: int) -> NDArray[np.int64]:
    """Return the numbers of a column, (n,), -1 for a missing cell; raise SpecError for any but those from 0 to most."""
    column, read = table.column(name), []
    for text, row in zip(column.values, column.firsts, strict=True):
        number = as_number(text)
        if number is None or number.denominator != 1 or not 0 <= number <= most:
            raise SpecError(Sentence(COUNT, place=table.place(name, row), most=most))
        read.append(int(number))
    return np.array([*read, -1], np.int64)[column.rows]


def states_of(table: FileTable) -> dict[str, tuple[int, int]]:
    """Return how many answered, and how many saw the question, for each question with a column of states."""
    found = {}
    for name, column in table.columns.items():
        if name.endswith(STATE) and is_attribute_column(name, table):
            answered = column.values.index("answered") if "answered" in column.values else None
            found[name.removesuffix(STATE)] = int(np.sum(column.rows == answered)), int(np.sum(column.rows >= 0))
    return found


def _read_column(table: FileTable, name: str, given: Any, asked: Question | None) -> ReadColumn | None:  # noqa: ANN401
    column = table.columns[name]
    if not column.values:
        return None
    channel_column = table.columns.get(f"{name}{CHANNEL}")
    if given is not None:
        return _through(table, name, [_parsed(given, f"{table.file}, column '{name}', channel")], _one_stratum(table))
    if channel_column is not None and channel_column.values:
        return _through(table, name, *_channels_of_rows(table, name, channel_column))
    if asked is not None and asked.mechanism is not None:
        return _as_asked(table, name, asked)
    numbers = sum(as_number(each) is not None for each in column.values)
    if numbers > MOST_LABELS and numbers == len(column.values) and _has_codes(column.values):
        table.notes.append(Sentence(CODES, file=table.file, variable=name))
    # A column of names, times or other free text is of no use in a table, and most exports have one.
    if _is_free_text(column):
        return None
    return _public(table, name, ColumnChannel("public"))


def _is_free_text(column: TableColumn) -> bool:
    """Return True for more different values than a choice has, or a different text in most cells."""
    texts = len(column.values) if _has_codes(column.values) else sum(as_number(each) is None for each in column.values)
    cells = int(np.sum(column.rows >= 0))
    return texts > 0 and (len(column.values) > MOST_CHOICES or texts > max(MOST_LABELS, cells // 2))


def _has_codes(values: Iterable[str]) -> bool:
    """Return True if some text has leading zeros, as postal codes do: 017 is not 17."""
    return any(value[:1] == "0" and value[1:].isdecimal() for value in values)


def _parsed(given: Any, place: str) -> ColumnChannel:  # noqa: ANN401 - as a caller gives it
    try:
        return parse_channel(given)
    except ValueError as error:
        raise wrong_at(place, error_message(error)) from None


def _channels_of_rows(table: FileTable, name: str, channel_column: TableColumn) -> tuple[list[ColumnChannel], Codes]:
    """Return the channels in the column beside an answer, and the one of each row."""
    found = [
        _parsed(text, table.place(f"{name}{CHANNEL}", row))
        for text, row in zip(channel_column.values, channel_column.firsts, strict=True)
    ]
    strata = channel_column.rows.astype(np.int64)
    alone = np.flatnonzero((strata == _NO_CHANNEL) & (table.columns[name].rows >= 0))
    if len(alone):
        raise wrong_at(table.place(f"{name}{CHANNEL}", int(alone[0])), "the answer has no channel")
    return found, np.maximum(strata, 0)


def _through(table: FileTable, name: str, channels: Sequence[ColumnChannel], strata: Codes) -> ReadColumn:
    column = table.columns[name]
    asked = channels[0].asked
    if asked is not None:
        if len(channels) > 1:
            raise wrong_at(f"{table.file}, column '{name}'", "a column of numbers has one channel")
        domain = replace(asked.domain, absent=_has_absent(table, name, asked.options))
        return _as_asked(table, name, replace(asked, name=name, domain=domain))
    open_ones = [each.public for each in channels]
    if any(open_ones):
        if not all(open_ones):
            raise wrong_at(f"{table.file}, column '{name}'", "some rows are public and some are randomized")
        return _public(table, name, channels[0])
    readings = [_reading(table, name, each, column) for each in channels]
    options = readings[0].options
    if any(each.options != options for each in readings):
        raise wrong_at(f"{table.file}, column '{name}'", "its channels have different options; name them with levels=")
    # One table for each channel: the same text may be another report elsewhere.
    codes = np.array([[each.reports[value] for value in column.values] for each in readings], dtype=np.int64)
    kind = "boolean" if len(options) == 2 else "select_one"
    domain = Domain(options, absent=_has_absent(table, name, options))
    return ReadColumn(name, kind, domain, tuple(each.channel for each in readings), codes, column.rows, strata)


def _has_absent(table: FileTable, name: str, options: Sequence[str]) -> bool:
    """Return True if the last option is what a window writes for no answer, beside its channel."""
    return options[-1:] == (ABSENT,) and f"{name}{CHANNEL}" in table.columns


def _reading(table: FileTable, name: str, channel: ColumnChannel, column: TableColumn) -> Reading:
    try:
        return channel.read(column.values, name)
    except UnknownValue as error:
        row = column.firsts[column.values.index(error.value)]
        raise wrong_at(table.place(name, row), error_message(error)) from None
    except ValueError as error:
        raise wrong_at(f"{table.file}, column '{name}', channel", error_message(error)) from None


def _as_asked(table: FileTable, name: str, asked: Question) -> ReadColumn:
    """Read a column by the question of a survey: names of options, or reported values as in ``reports.csv``."""
    column = table.columns[name]
    places = []
    for value, row in zip(column.values, column.firsts, strict=True):
        place = _reported(asked, value)
        if place is None or not asked.admits(place):
            raise wrong_at(table.place(name, row), "the question's channel cannot report this value")
        places.append(place)
    codes = np.array([places], np.int64)
    return ReadColumn(name, asked.type, asked.domain, (asked.mechanism,), codes, column.rows, _one_stratum(table))


def _reported(asked: Question, value: str) -> int | None:
    """Return the reported value: of a name of an option, of a number in its own unit, or of a mechanism's code."""
    grid = asked.domain.grid
    is_answer = asked.mechanism is None or asked.mechanism.report_kind in {"yes_no", "option"}
    if is_answer and value in asked.options:
        return asked.options.index(value)
    if grid is not None and asked.mechanism is not None and asked.mechanism.report_kind == "number":
        return _step(value, grid)
    # An option that is called 1 has a code as well, and a cell would not say what it means.
    coded = not (is_answer and any(option.isdecimal() for option in asked.options))
    return int(value) if coded and value.isdecimal() and len(value) <= 16 else None


def _step(value: str, grid: Grid) -> int | None:
    try:
        steps: Fraction = (grid.read(value) - grid.low) / grid.step
    except ValueError:
        return None
    return steps.numerator if steps.denominator == 1 else None


def _public(table: FileTable, name: str, channel: ColumnChannel) -> ReadColumn:
    column = table.columns[name]
    values = _without_few(table, name)
    numbers = [as_number(value) for value in values]
    plain = [each for each in numbers if each is not None]
    many = channel.name == "number" or (len(plain) > MOST_LABELS and not channel.levels and not _has_codes(values))
    text = next((value for value, each in zip(values, numbers, strict=True) if each is None), None)
    place = "" if text is None else table.place(name, column.firsts[column.values.index(text)])
    if channel.name == "number" and place:
        raise wrong_at(place, "is not a number")
    if many and place and len(numbers) < 2 * len(plain):
        table.notes.append(Sentence(TEXT_AMONG_NUMBERS, place=place))
    if many and len(plain) == len(numbers) and len(set(plain)) > 1:
        if codes := _missing_codes(set(plain)):
            found = ", ".join(str(int(code)) for code in sorted(codes))
            table.notes.append(Sentence(MISSING_CODES, file=table.file, variable=name, values=found))
        return _number(table, name, dict(zip(values, plain, strict=True)))
    return _choice(table, name, channel.levels)


def _missing_codes(numbers: Collection[Fraction]) -> set[Fraction]:
    """Return numbers such as -99 and 999 further from the others than these lie apart: codes of missing answers."""
    codes = {number for number in numbers if number in _CODES}
    others = {*numbers} - codes
    if not others:
        return set()
    low, high = min(others), max(others)
    return {code for code in codes if low - code > high - low or code - high > high - low}


def _without_few(table: FileTable, name: str) -> list[str]:
    """Return the different texts of a column, in files of a survey's reports without that for rare answers."""
    values = table.columns[name].values
    ours = len(values) > 1 and OF_REPORTS & set(table.columns)
    return [value for value in values if not (ours and value == FEW)]


def _number(table: FileTable, name: str, numbers: Mapping[str, Fraction]) -> ReadColumn:
    ordered = tuple(sorted(set(numbers.values())))
    places = {number: place for place, number in enumerate(ordered)}
    grid = ListedNumbers(ordered[0], ordered[-1], ordered[-1] - ordered[0], ordered)
    codes = {text: places[number] for text, number in numbers.items()}
    return _open_column(table, name, "decimal", Domain(grid=grid), codes)


def _choice(table: FileTable, name: str, levels: Sequence[str]) -> ReadColumn:
    column = table.columns[name]
    if len(column.values) > MOST_CHOICES:
        reason = Sentence("has more than {most} different texts; group its values", most=MOST_CHOICES)
        raise wrong_at(f"{table.file}, column '{name}'", reason)
    values = _without_few(table, name)
    options = tuple(levels) or tuple(sorted(values, key=lambda text: (as_number(text) or 0, text)))
    for value, row in zip(column.values, column.firsts, strict=True):
        if value in values and value not in options:
            raise wrong_at(table.place(name, row), "is none of the levels that were named")
    two = {value.casefold() for value in options} in ({"no", "yes"}, {"false", "true"})
    kind, places = "boolean" if two else "select_one", {option: place for place, option in enumerate(options)}
    return _open_column(table, name, kind, Domain(options), places)


def _open_column(table: FileTable, name: str, kind: str, domain: Domain, places: Mapping[str, int]) -> ReadColumn:
    # A rare answer that is left out is missing: all bits set.
    codes = np.array([[places.get(value, -1) for value in table.columns[name].values]], np.int64)
    return ReadColumn(name, kind, domain, (None,), codes, table.columns[name].rows, _one_stratum(table))


def _one_stratum(table: FileTable) -> Codes:
    """Return zeros, (n,), that take no memory."""
    return np.broadcast_to(np.int64(0), (len(table),))


def _columns(table: FileTable, read: Sequence[ReadColumn]) -> Columns:
    combinations, revision = _combinations(read, len(table))
    if len(combinations) > MOST_STRATA:
        raise SpecError(f"{table.file}: the rows have more than {MOST_STRATA} combinations of channels")
    surveys = tuple(_survey(table.file, read, number, each.tolist()) for number, each in enumerate(combinations))
    asked = zip(*(survey.questions for survey in surveys), strict=True)
    values = {each.name: _narrow(each, questions) for each, questions in zip(read, asked, strict=True)}
    public = [each.name for each in read if each.mechanisms == (None,)]
    few = {name: table.columns[name].rows == table.columns[name].values.index(FEW)
           for name in public if len(_without_few(table, name)) < len(table.columns[name].values)}  # fmt: skip
    return Columns(surveys, values, np.zeros(len(table), np.uint8), revision.astype(np.uint8), least=0, few=few)


def _combinations(read: Sequence[ReadColumn], rows: int) -> tuple[Codes, Codes]:
    """Return the combinations of strata, (c, k), and the one of each row, (n,)."""
    several = [place for place, each in enumerate(read) if len(each.mechanisms) > 1]
    if not several:
        return np.zeros((1, len(read)), np.int64), np.zeros(rows, np.int64)
    strata = np.stack([read[place].strata for place in several], axis=1)
    found, revision = np.unique(strata, axis=0, return_inverse=True)
    combinations = np.zeros((len(found), len(read)), np.int64)
    combinations[:, several] = found
    return combinations, revision.ravel()


def _narrow(read: ReadColumn, questions: Sequence[Question]) -> NDArray[Any]:
    largest = max(each.largest for each in questions)
    kind = np.dtype(f"u{next(width for width in LETTERS if largest < null(width))}")
    # The index -1 of a missing cell finds the last code. Large files have too many rows for wider columns in between.
    codes = np.pad(read.codes.astype(kind), ((0, 0), (0, 1)), constant_values=null(kind.itemsize))
    return codes[0][read.rows] if len(codes) == 1 else codes[read.strata, read.rows]


def described_questions(columns: Columns) -> list[dict[str, Any]]:
    """Return the questions as plain values, for ``described_survey`` in another process."""
    return [
        {
            "name": each.name,
            "type": each.type,
            "options": list(each.options),
            "public": each.mechanism is None,
            "absent": each.domain.absent,
        }
        for each in columns.survey.questions
    ]


def described_survey(file: str, questions: Sequence[Mapping[str, Any]]) -> Survey:
    """Return a survey with the names and options of a file's columns, for labels only: its channels are stand-ins."""
    none, read = (_NO_CODES, _NO_ROWS, _NO_ROWS), []
    for each in questions:
        options = tuple(each["options"])
        domain = (
            Domain(options, absent=each["absent"])
            if options
            else Domain(grid=Grid(Fraction(0), Fraction(1), Fraction(1)))
        )
        stand_in = None if each["public"] else parse_channel(f"kary_rr 3 k={len(options)}").read(()).channel
        read.append(ReadColumn(each["name"], each["type"], domain, (stand_in,), *none))
    return _survey(file, read, 0, [0] * len(read))


def _survey(file: str, read: Sequence[ReadColumn], number: int, strata: Sequence[int]) -> Survey:
    questions = tuple(each.question(stratum) for each, stratum in zip(read, strata, strict=True))
    return Survey(
        document={},
        name=file,
        revision=number + 1,
        default_language="en",
        title={"en": file},
        opens=None,
        closes=None,
        release_batch=1,
        ids_days=0,
        delete_on=None,
        questions=questions,
        items=(),
        waves=(Wave(None, None),),
    )
