"""
Reports as columns, one a question: what every joint result is made from.

The rows of what is closed are read once, in the order of the random ids and without them, into columns of 1, 2, 4 or 8
bytes a value and a byte each for wave and revision: ten million reports of ten yes/no questions take 120 MB. Small ones
lie in memory, large ones in a temporary file that has no name any more.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.estimates import same_question
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.storage.pack_values import LETTERS, null
from sottovoce.aggregator.storage.report_reader import ReadableReports
from sottovoce.aggregator.storage.reports.batch_columns import is_null, matrix
from sottovoce.aggregator.surveys.stored_surveys import survey_of
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.sentence import Sentence
from sottovoce.shared.spec import Question, Survey

Numbers = NDArray[Any]
Progress = Callable[[int, int], None]
"""Told how many of how many reports have been read."""

IN_MEMORY = 1 << 28
"""Columns with more bytes lie in a temporary file."""


@dataclass(frozen=True)
class Columns:
    """
    Reports, column by column.

    Attributes:
        revisions: the surveys that the reports answer, oldest first; the questions are the newest one's.
        values: by question name the reported values, unsigned, shape (n,); the largest number that fits stands for
            what was not asked.
        wave: of each report, shape (n,).
        revision: of each report, an index into ``revisions``, shape (n,).
        apart: questions of which no two are tested together: see ``withheld``.
    """

    revisions: tuple[Survey, ...]
    values: Mapping[str, Numbers]
    wave: Numbers
    revision: Numbers
    apart: frozenset[str] = frozenset()

    def __len__(self) -> int:
        """How many reports there are."""
        return len(self.wave)

    @property
    def survey(self) -> Survey:
        """The newest revision."""
        return self.revisions[-1]

    @cached_property
    def waves(self) -> tuple[int, ...]:
        """The waves of which there are reports."""
        return tuple(np.flatnonzero(np.bincount(self.wave, minlength=1)).tolist())

    @property
    def nbytes(self) -> int:
        """Room that they take."""
        return sum(column.nbytes for column in (*self.values.values(), self.wave, self.revision))

    def question(self, name: str, revision: int = -1) -> Question | None:
        """The question as a revision asks it; None if it asks something else or nothing by this name."""
        newest = next((each for each in self.survey.questions if each.name == name), None)
        asked = (each for each in self.revisions[revision].questions if newest and same_question(each, newest))
        return next(asked, None)

    def asked(self, name: str) -> NDArray[np.bool_]:
        """Which reports have a value for a question, shape (n,)."""
        return ~is_null(self.values[name])

    def of_wave(self, wave: int) -> "Columns":
        """The reports of one wave."""
        rows = self.wave == wave
        values = {name: column[rows] for name, column in self.values.items()}
        return Columns(self.revisions, values, self.wave[rows], self.revision[rows], self.apart)

    @classmethod
    def from_arrays(
        cls,
        survey: Survey,
        arrays: Mapping[str, Any],
        wave: Any = None,  # noqa: ANN401 - whatever numpy makes an array of
        revision: Any = None,  # noqa: ANN401 - the same
    ) -> "Columns":
        """
        Columns from plain arrays, such as a file gives.

        Args:
            survey: the one that the reports answer.
            arrays: by question name the reported values, each of shape (n,): whole numbers, masked or not a number
                where a question was not asked.
            wave: of each report; all of wave 0 without.
            revision: number of the revision of each report, which must be that of ``survey``.

        Raises:
            EstimateError: a column is missing, unknown or of another length, or a value is impossible; the message
                names the question and the row, counted from 1, and never the value.
        """
        missing = [question.name for question in survey.questions if question.name not in arrays]
        unknown = sorted(set(arrays) - {question.name for question in survey.questions})
        if missing or unknown:
            words = [f"there is no column '{name}'" for name in missing]
            raise EstimateError("; ".join([*words, *(f"the survey asks no question '{name}'" for name in unknown)]))
        values = {question.name: _checked(survey, question, arrays[question.name]) for question in survey.questions}
        n = len(next(iter(values.values())))
        waves = _whole("wave", np.zeros(n, np.uint8) if wave is None else wave, len(survey.waves) - 1)
        same = np.full(n, survey.revision) if revision is None else np.ma.getdata(_array("revision", revision))
        for name, column in {**values, "wave": waves, "revision": same}.items():
            if len(column) != n:
                raise EstimateError(f"column '{name}' has another number of rows than the others")
        _refuse("revision", same != survey.revision, "the report answers another revision than the survey file")
        return cls((survey,), values, waves.astype(np.uint8), np.zeros(n, np.uint8))


def read_columns(
    storage: ReadableReports,
    revisions: Sequence[StoredSurvey],
    wave: int | None = None,
    progress: Progress | None = None,
) -> Columns:
    """
    All reports of a survey, or of one wave; whether they may be looked at is asked before, see ``closed``.

    Args:
        storage: the database.
        revisions: all of the survey, oldest first.
        wave: only this one; None for all.
        progress: told now and then how far it is.
    """
    surveys = tuple(survey_of(stored.document) for stored in revisions)
    whole = sum(stored.reports for stored in revisions)
    kinds = {question.name: _type(surveys, question) for question in surveys[-1].questions}
    room = _Room(whole, {**kinds, _WAVE: np.dtype(np.uint8), _REVISION: np.dtype(np.uint8)})
    read = 0
    for number, (stored, survey) in enumerate(zip(revisions, surveys, strict=True)):
        places = _places(survey, surveys[-1])
        for chunk in storage.packed_by_wave(stored.key):
            room.add(chunk if wave is None else [row for row in chunk if row[0] == wave], places, number)
            read += len(chunk)
            if progress is not None:
                progress(read, whole)
    columns = room.columns()
    return Columns(surveys, {name: columns[name] for name in kinds}, columns[_WAVE], columns[_REVISION])


_WAVE, _REVISION = ".wave", ".revision"
"""Beside the questions, whose names have no dot."""


class _Room:
    """
    Columns that are being filled.

    Args:
        rows: the most that will come.
        kinds: by name the type of each column's numbers.
    """

    def __init__(self, rows: int, kinds: Mapping[str, np.dtype[Any]]) -> None:
        buffer = _buffer(rows * sum(kind.itemsize for kind in kinds.values()))
        self._rows = rows
        self._columns: dict[str, Numbers] = {}
        self._filled, start = 0, 0
        for name, kind in sorted(kinds.items(), key=lambda item: -item[1].itemsize):
            end = start + rows * kind.itemsize
            self._columns[name] = buffer[start:end].view(kind)
            start = end

    def add(self, chunk: Sequence[tuple[int, bytes]], places: Mapping[str, int | None], revision: int) -> None:
        """
        Add reports.

        Args:
            chunk: wave and packed values of each.
            places: by question the index among their values; None if they have none for it.
            revision: that they answer.
        """
        # A try-out is read while reports come: those that came since they were counted are left for the next time.
        chunk = chunk[: self._rows - self._filled]
        start, self._filled = self._filled, self._filled + len(chunk)
        into = {name: column[start : self._filled] for name, column in self._columns.items()}
        # Taken apart in two passes: zip(*chunk) walks all rows at once, which takes four times as long.
        packed = [values for _, values in chunk]
        into[_WAVE][:] = np.frombuffer(bytes([wave for wave, _ in chunk]), dtype=np.uint8)
        into[_REVISION][:] = revision
        for rows, numbers in _matrices(packed):
            for name, place in places.items():
                into[name][rows] = _widened(None if place is None else numbers[:, place], into[name].dtype)

    def columns(self) -> dict[str, Numbers]:
        """What has been filled."""
        return {name: column[: self._filled] for name, column in self._columns.items()}


def _buffer(size: int) -> Numbers:
    if size <= IN_MEMORY:
        return np.empty(size, dtype=np.uint8)
    with tempfile.TemporaryFile() as file:
        file.truncate(size)
        return np.memmap(file, dtype=np.uint8, shape=(size,))


def _matrices(packed: Sequence[bytes]) -> Iterator[tuple[slice | NDArray[np.int64], Numbers]]:
    """The rows of one width of values, and their values as a matrix."""
    joined = b"".join(packed)
    if packed and len(joined) == len(packed) * len(packed[0]) and set(joined[:: len(packed[0])]) == {packed[0][0]}:
        # Mostly all rows are alike, and a million of them are not looked at one by one.
        yield slice(None), matrix(joined, len(packed))
        return
    order = sorted(range(len(packed)), key=lambda row: packed[row][0])
    for _, rows in groupby(order, key=lambda row: packed[row][0]):
        alike = list(rows)
        yield np.array(alike), matrix(b"".join([packed[row] for row in alike]), len(alike))


def _widened(numbers: Numbers | None, kind: np.dtype[Any]) -> Numbers:
    """The same numbers in another width, with the null of that width."""
    missing = kind.type(null(kind.itemsize))
    if numbers is None:
        return np.array([missing])
    return numbers if numbers.dtype == kind else np.where(is_null(numbers), missing, numbers.astype(kind))


def _type(surveys: Sequence[Survey], question: Question) -> np.dtype[Any]:
    """As few bytes as the largest value of any revision needs beside null."""
    alike = [each for survey in surveys for each in survey.questions if same_question(each, question)]
    return _narrowest(max(each.largest for each in alike))


def _narrowest(largest: int) -> np.dtype[Any]:
    return np.dtype(f"u{next(width for width in LETTERS if largest < null(width))}")


def _places(survey: Survey, newest: Survey) -> dict[str, int | None]:
    return {
        wanted.name: next((place for place, one in enumerate(survey.questions) if same_question(one, wanted)), None)
        for wanted in newest.questions
    }


def _array(name: str, given: Any) -> Numbers:  # noqa: ANN401 - whatever numpy makes an array of
    array = np.ma.asarray(given)
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        raise EstimateError(f"column '{name}' does not hold whole numbers")
    if array.dtype.kind == "f":
        array = np.ma.masked_where(np.isnan(np.ma.getdata(array)), array)
        known = np.ma.getdata(array)
        _refuse(name, ~np.ma.getmaskarray(array) & (np.isinf(known) | (known != np.floor(known))), "not a whole number")
    return array


def _whole(name: str, given: Any, largest: int) -> Numbers:  # noqa: ANN401 - whatever numpy makes an array of
    array = _array(name, given)
    known, absent = np.ma.getdata(array), np.ma.getmaskarray(array)
    _refuse(name, ~absent & ((known < 0) | (known > largest)), "not one of its reported values")
    kind = _narrowest(largest)
    return np.where(absent, null(kind.itemsize), np.where(absent, 0, known).astype(kind)).astype(kind)


def _checked(survey: Survey, question: Question, given: Any) -> Numbers:  # noqa: ANN401 - as above
    column = _whole(question.name, given, question.largest)
    absent = is_null(column)
    if survey.ask is None or question.mechanism is None:
        _refuse(question.name, absent, "there is no value, though everybody is asked")
    different, place = np.unique(column, return_inverse=True)
    impossible = np.array([not question.admits(value) for value in different.tolist()], dtype=bool)
    _refuse(question.name, ~absent & impossible[place], "not one of its reported values")
    return column


def _refuse(name: str, wrong: NDArray[np.bool_], words: str) -> None:
    if wrong.any():
        raise EstimateError(f"column '{name}', row {int(np.argmax(wrong)) + 1}: {words}")


NOT_IN_FILE = (
    "the file of reports has no column '{variable}': public answers are in a file of their own (reports-with-public)"
)
COUNTS_AS, COUNTS_AS_NONE = (
    "'{variable}': who gave no answer counts as '{category}'",
    "'{variable}': who gave no answer counts as none of its options",
)


def find_variable(columns: Columns, name: str) -> tuple[Question, int]:
    """
    The question as the newest revision asks it, and which of its variables is meant.

    Args:
        columns: the reports.
        name: a question's, or an option's or coordinate's after a dot.

    Raises:
        EstimateError: there is none, or the reports have no column for it. The message tells which names there are, and
            does not repeat the one that was given: it comes from elsewhere.
    """
    question = columns.question(name.partition(".")[0])
    if question is None:
        known = tuple(each.name for each in columns.survey.questions)
        raise EstimateError(Sentence("the survey asks no such question; there are: {variables}", variables=known))
    parts = tuple(variable.full_name for variable in variables_of(question))
    if name not in parts:
        raise EstimateError(Sentence("this question is asked for as: {variables}", variables=parts))
    if question.name not in columns.values:
        raise EstimateError(Sentence(NOT_IN_FILE, variable=question.name))
    return question, parts.index(name)


def check_one_wave(columns: Columns, question: Question) -> None:
    """
    Refuse several waves of a question whose draw devices remember.

    Raises:
        EstimateError: the reports of one person in several waves are not independent.
    """
    if question.mechanism is not None and question.mechanism.waves > 1 and len(np.unique(columns.wave)) > 1:
        raise EstimateError(
            Sentence(
                "devices remember their draw of '{variable}' from wave to wave, so one person's reports are not "
                "independent: choose one wave",
                variable=question.name,
            )
        )


def absence(question: Question) -> tuple[Sentence, ...]:
    """That no answer is counted as one, where it is."""
    if question.absent is None:
        return ()
    answer = question.answer(question.absent)
    if isinstance(answer, list):
        return (Sentence(COUNTS_AS_NONE, variable=question.name),)
    return (Sentence(COUNTS_AS, variable=question.name, category=str(answer)),)
