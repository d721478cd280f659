"""Read reports as columns, one per question: the input of all joint results.

Rows of closed surveys are read once, in the order of their random ids and without the ids, into columns of 1, 2, 4 or 8
bytes per value, plus a byte each for wave and revision: ten million reports of ten yes/no questions take 120 MB. Small
tables are kept in memory, large ones in an unlinked temporary file.

The reports on one variable are a table of the different reports, and the row of each report. A revision may ask the
same question through another channel; its reports then have rows of their own. The computations treat all rows alike,
for any channel and for direct answers.
"""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.availability import LEAST, few_among
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.aggregator.estimators.answered_shares import StratumTally
from sottovoce.aggregator.estimators.blocks.joint_channel import joint_likelihood, joint_scores
from sottovoce.aggregator.estimators.question_variables import ScaleVariable, as_number, bare, num, variables_of
from sottovoce.aggregator.estimators.variable import NumberVariable, Variable
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.storage.pack_values import LETTERS, null
from sottovoce.aggregator.storage.report_reader import ReadableReports
from sottovoce.aggregator.storage.reports.batch_columns import is_null, matrix, tally
from sottovoce.aggregator.surveys.lifecycle import same_question, survey_of
from sottovoce.shared.errors import EstimateError, Sentence
from sottovoce.shared.spec import Question, Survey

Numbers = NDArray[Any]
Progress = Callable[[int, int], None]
"""Callback with the number of reports read so far, and their total number."""

IN_MEMORY = 1 << 28
"""Largest size in bytes that is kept in memory; larger columns use a temporary file."""


@dataclass(frozen=True)
class Columns:
    """Reports, column by column.

    Attributes:
        revisions: revisions of the survey, oldest first; the columns are the questions of the newest one.
        values: reported values by question name, unsigned, shape (n,); the largest number of the type means "not
            asked".
        wave: wave of each report, shape (n,).
        revision: revision of each report, as an index into ``revisions``, shape (n,).
        withheld: questions that may not be analysed, see ``disclosure_control``.
        few: mask of the reports, (n,), by question, with an answer that a file leaves out, missing in ``values``, or
            leaves out of others, so that its share is not known.
        least: smallest group by public answers in results; 0 for a reader's own file, which protects no one.
        before: questions and values by name before ``with_few`` took what is left out for one more answer.
        labels: numbers of clusters, (n,), by a file's column of ids, which are no answers.
        everybody: number of reports of which a condition selected these; 0 if these are all.
    """

    revisions: tuple[Survey, ...]
    values: Mapping[str, Numbers]
    wave: Numbers
    revision: Numbers
    withheld: frozenset[str] = frozenset()
    least: int = LEAST
    few: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    before: Mapping[str, tuple[Question, Numbers]] = field(default_factory=dict)
    labels: Mapping[str, NDArray[np.intp]] = field(default_factory=dict)
    everybody: int = 0

    def __len__(self) -> int:
        """Return the number of reports."""
        return len(self.wave)

    @property
    def survey(self) -> Survey:
        """Newest revision of the survey."""
        return self.revisions[-1]

    @cached_property
    def waves(self) -> tuple[int, ...]:
        """Waves that have reports, ascending."""
        return tuple(np.flatnonzero(np.bincount(self.wave, minlength=1)).tolist())

    @property
    def repeats(self) -> int:
        """Number of waves that the same people may have answered, at least 1."""
        return 1 if self.survey.fresh_samples else max(len(self.waves), 1)

    @property
    def nbytes(self) -> int:
        """Size of all columns in bytes."""
        return sum(column.nbytes for column in (*self.values.values(), self.wave, self.revision))

    def question(self, name: str, revision: int = -1) -> Question | None:
        """Return the question of a revision; None if it lacks the question or asks something else by this name."""
        newest = next((each for each in self.survey.questions if each.name == name), None)
        asked = (each for each in self.revisions[revision].questions if newest and same_question(each, newest))
        return next(asked, None)

    def asked(self, name: str) -> NDArray[np.bool_]:
        """Return a mask of the reports that have a value for a question, shape (n,)."""
        return ~is_null(self.values[name])

    def among(self, rows: NDArray[np.bool_]) -> "Columns":
        """Return the reports of a mask, (n,)."""
        values = {name: column[rows] for name, column in self.values.items()}
        few = {name: left[rows] for name, left in self.few.items()}
        before = {name: (question, column[rows]) for name, (question, column) in self.before.items()}
        labels = {name: column[rows] for name, column in self.labels.items()}
        wave, revision = self.wave[rows], self.revision[rows]
        found = replace(self, values=values, wave=wave, revision=revision, few=few, before=before)
        return replace(found, labels=labels)

    @property
    def few_numbers(self) -> set[str]:
        """Names of the questions of numbers of which the file leaves rare ones out, so that no mean is known."""
        return {each.name for each in self.survey.questions if each.name in self.few and each.domain.grid}

    def with_few(self, names: Iterable[str]) -> "Columns":
        """Return the reports with rare answers that the file leaves out as one more answer to these public choices."""
        wider = [each for each in self.survey.questions if each.name in {*names} & self.few.keys() - self.few_numbers]
        revisions, values = self.revisions, dict(self.values)
        before = {each.name: (each, self.values[each.name]) for each in wider}
        for question in wider:
            values[question.name], known = _joined(values[question.name], self.few[question.name], question)
            revisions = tuple(_with_few(survey, question, known) for survey in revisions)
        return replace(self, revisions=revisions, values=values, before=before)

    def left_out(self, question: Question) -> set[int]:
        """Return the answers to a public choice that the file leaves out, wholly or of some reports."""
        asked, values = self.before.get(question.name, (question, self.values[question.name]))
        few = self.few.get(question.name, np.zeros(len(self), bool))
        return {*range(len(asked.domain.options))} - {*np.unique(values[~few]).tolist()} if few.any() else set()

    @classmethod
    def from_arrays(cls, survey: Survey, arrays: Mapping[str, Any], wave: Any = None) -> "Columns":  # noqa: ANN401 - whatever numpy makes an array of
        """Build columns from possible reported values, (n,), masked or NaN where not asked; of wave 0 by default."""
        values = {}
        for question in survey.questions:
            given, kind = np.ma.masked_invalid(arrays[question.name]), _narrowest(question.largest)
            missing = kind.type(null(kind.itemsize))
            values[question.name] = np.where(np.ma.getmaskarray(given), missing, given.filled(0).astype(kind))
        n = len(next(iter(values.values())))
        waves = np.zeros(n, np.uint8) if wave is None else np.asarray(wave, np.uint8)
        return cls((survey,), values, waves, np.zeros(n, np.uint8))


def _joined(values: Numbers, few: NDArray[np.bool_], question: Question) -> tuple[Numbers, list[int]]:
    """Return the values, those of the mask as one, and the places of the options in their order, -1 for that one."""
    known = np.unique(values[~few & ~is_null(values)]).tolist()
    order = [*(place for place in known if place < len(question.domain.places)), -1]
    order += [place for place in known if place not in order]
    found = values.copy()
    for new, old in enumerate(order):
        found[few if old < 0 else values == old] = new
    found[few] = order.index(-1)
    return found, order


def _with_few(survey: Survey, question: Question, known: Sequence[int]) -> Survey:
    domain = question.domain
    options = tuple(few_among(domain.options) if place < 0 else domain.options[place] for place in known)
    wider = replace(domain, options=options, absent=domain.absent and len(domain.options) - 1 in known)
    missing = known.index(question.absent) if question.absent in known else None
    # A yes/no question has no third answer, and rare answers are no answers to an anchor.
    asked = replace(question, type="select_one", domain=wider, known_share=None, absent=missing)
    questions = tuple(asked if same_question(each, question) else each for each in survey.questions)
    return replace(survey, questions=questions)


def read_columns(
    storage: ReadableReports,
    revisions: Sequence[StoredSurvey],
    wave: int | None = None,
    progress: Progress | None = None,
) -> Columns:
    """Read all reports of a survey (``wave`` None), or of one wave; call ``availability.check_closed`` first.

    ``revisions`` are all of the survey, oldest first; ``progress`` is called after each chunk of rows.
    """
    surveys = tuple(survey_of(stored.document) for stored in revisions)
    whole = sum(stored.reports for stored in revisions)
    asked = [question for survey in surveys for question in survey.questions]
    # The narrowest type for the largest value of any revision and the null value.
    kinds = {
        wanted.name: _narrowest(max(each.largest for each in asked if same_question(each, wanted)))
        for wanted in surveys[-1].questions
    }
    buffer = _ColumnBuffer(whole, {**kinds, _WAVE: np.dtype(np.uint8), _REVISION: np.dtype(np.uint8)})
    read = 0
    for number, (stored, survey) in enumerate(zip(revisions, surveys, strict=True)):
        places = {wanted.name: place_in(survey, wanted) for wanted in surveys[-1].questions}
        for chunk in storage.packed_by_wave(stored.key):
            buffer.add(chunk if wave is None else [row for row in chunk if row[0] == wave], places, number)
            read += len(chunk)
            if progress is not None:
                progress(read, whole)
    columns = buffer.columns()
    return Columns(surveys, {name: columns[name] for name in kinds}, columns[_WAVE], columns[_REVISION])


_WAVE, _REVISION = ".wave", ".revision"
"""Names of the extra columns; they cannot collide with questions, whose names have no dot."""


class _ColumnBuffer:
    """Columns under construction, of at most ``rows`` rows."""

    def __init__(self, rows: int, kinds: Mapping[str, np.dtype[Any]]) -> None:
        buffer = _buffer(rows * sum(kind.itemsize for kind in kinds.values()))
        self._rows = rows
        self._columns: dict[str, Numbers] = {}
        self._filled, start = 0, 0
        # Columns are laid out by decreasing item size, so that every view into the shared buffer is aligned.
        for name, kind in sorted(kinds.items(), key=lambda item: -item[1].itemsize):
            end = start + rows * kind.itemsize
            self._columns[name] = buffer[start:end].view(kind)
            start = end

    def add(self, chunk: Sequence[tuple[int, bytes]], places: Mapping[str, int | None], revision: int) -> None:
        """Add reports; ``places`` is the index of each question among their packed values, None if it is not asked."""
        # A test run is read while reports arrive: rows added since they were counted are left out.
        chunk = chunk[: self._rows - self._filled]
        start, self._filled = self._filled, self._filled + len(chunk)
        into = {name: column[start : self._filled] for name, column in self._columns.items()}
        # Two passes over the chunk without a line of Python a row; ``zip`` of all rows takes four times as long.
        packed = list(map(itemgetter(1), chunk))
        into[_WAVE][:] = np.frombuffer(bytes(map(itemgetter(0), chunk)), dtype=np.uint8)
        into[_REVISION][:] = revision
        for rows, numbers in _matrices(packed):
            for name, place in places.items():
                into[name][rows] = widened(numbers, place, into[name].dtype)

    def columns(self) -> dict[str, Numbers]:
        """Return the filled part of each column, by name."""
        return {name: column[: self._filled] for name, column in self._columns.items()}


def _buffer(size: int) -> Numbers:
    if size <= IN_MEMORY:
        return np.empty(size, dtype=np.uint8)
    # The file is unlinked at once; the mapping keeps it until the process ends, even after a crash.
    with tempfile.TemporaryFile() as file:
        # A page that finds no room as it is written would end the process, so the room is taken at once.
        take = getattr(os, "posix_fallocate", lambda number, _, size: os.truncate(number, size))
        take(file.fileno(), 0, size)
        return np.memmap(file, dtype=np.uint8, shape=(size,))


def _matrices(packed: Sequence[bytes]) -> Iterator[tuple[slice | NDArray[np.int64], Numbers]]:
    """Yield the rows with values of one width, and their values as a matrix."""
    joined = b"".join(packed)
    if packed and len(joined) == len(packed) * len(packed[0]):
        octets = np.frombuffer(joined, dtype=np.uint8).reshape(len(packed), -1)
        if (octets[:, 0] == packed[0][0]).all():
            # Usually all rows have the same width; this avoids a Python loop over a million rows.
            yield slice(None), matrix(joined, len(packed))
            return
    order = sorted(range(len(packed)), key=lambda row: packed[row][0])
    for _, rows in groupby(order, key=lambda row: packed[row][0]):
        alike = list(rows)
        yield np.array(alike), matrix(b"".join([packed[row] for row in alike]), len(alike))


def widened(numbers: Numbers, place: int | None, kind: np.dtype[Any]) -> Numbers:
    """Return a column of a matrix in another width, with the null value of that width; only this for no column."""
    # A plain number would take the type of the values, of which a row has narrower ones if all its values fit.
    missing = kind.type(null(kind.itemsize))
    if place is None:
        return np.array([missing])
    values: Numbers = numbers[:, place]
    return values if values.dtype == kind else np.where(is_null(values), missing, values.astype(kind))


def _narrowest(largest: int) -> np.dtype[Any]:
    return np.dtype(f"u{next(width for width in LETTERS if largest < null(width))}")


def place_in(survey: Survey, wanted: Question) -> int | None:
    """Return the place of a question in a revision; None if it does not ask it."""
    return next((place for place, one in enumerate(survey.questions) if same_question(one, wanted)), None)


NOT_IN_FILE = (
    "the file of reports has no column '{variable}': public answers are in a file of their own (reports-with-public)"
)
COUNTS_AS, COUNTS_AS_NONE = (
    "'{variable}': who gave no answer counts as '{category}'",
    "'{variable}': who gave no answer counts as none of its options",
)


def find_variable(columns: Columns, name: str) -> tuple[Question, int]:
    """Find a variable by name: of a question, or "question.option", or "question.coordinate".

    Returns the question of the newest revision, and the index of the variable within it. Raises EstimateError if there
    is no such variable, or the reports have no column for it; the message lists the known names, but does not repeat
    the given one, which is untrusted input.
    """
    # Columns of files may have dots in their own names, as R writes them: the longest question that begins the name.
    begins = [each.name for each in columns.survey.questions if f"{name}.".startswith(f"{each.name}.")]
    question = columns.question(max(begins, key=len, default=""))
    if question is None:
        known = tuple(each.name for each in columns.survey.questions)
        raise EstimateError("the survey asks no such question; there are: {variables}", variables=known)
    parts = tuple(variable.full_name for variable in variables_of(question))
    if name not in parts:
        raise EstimateError("this question is asked for as: {variables}", variables=parts)
    if question.name not in columns.values:
        raise EstimateError(NOT_IN_FILE, variable=question.name)
    return question, parts.index(name)


def strata_of(columns: Columns, question: Question) -> list[StratumTally]:
    """Return (mechanism, tally) of each revision that asks a question of the newest one, oldest first."""
    found: list[StratumTally] = []
    for number, survey in enumerate(columns.revisions):
        place, asked = place_in(survey, question), columns.question(question.name, number)
        if asked is None or place is None:
            continue
        values = columns.values[question.name][columns.asked(question.name) & (columns.revision == number)]
        found.append((asked.mechanism, tally(values, survey.masks.get(place, 0))))
    return found


def check_one_wave(columns: Columns, question: Question) -> None:
    """Raise EstimateError if several waves have memoized draws, whose reports of one person are not independent."""
    if question.mechanism is not None and question.mechanism.waves > 1 and len(np.unique(columns.wave)) > 1:
        raise EstimateError(
            "devices remember their draw of '{variable}' from wave to wave, so one person's reports are not "
            "independent: choose one wave",
            variable=question.name,
        )


def absence(question: Question) -> tuple[Sentence, ...]:
    """Return a note on how missing answers to the question are counted; empty if they are not sent as an answer."""
    if question.absent is None:
        return ()
    answer = question.answer(question.absent)
    if isinstance(answer, list):
        return (Sentence(COUNTS_AS_NONE, variable=question.name),)
    return (Sentence(COUNTS_AS, variable=question.name, category=str(answer)),)


Rows = NDArray[np.bool_]

_SMALL = 1 << 16


@dataclass(frozen=True)
class Answers:
    """Reports on one variable.

    Attributes:
        variable: the variable of the newest revision.
        tables: the different reported values of each channel, in the order of ``codes``.
        observed: (n,), True for reports that carry this variable.
        codes: (n,), table row of each report; 0 where it is not observed.
    """

    variable: Variable
    tables: tuple[tuple[Variable, Numbers], ...]
    observed: Rows
    codes: NDArray[np.intp]

    @property
    def name(self) -> str:
        """Full name of the variable: "question", "question.option", or "num(question)" of a scale as a number."""
        name = self.variable.full_name
        return num(name) if isinstance(self.variable, ScaleVariable) else name

    @property
    def latent(self) -> "Answers":
        """The same with the categories of a scale that is taken as a number."""
        if not isinstance(self.variable, ScaleVariable):
            return self
        tables = tuple((each.choice if isinstance(each, ScaleVariable) else each, rows) for each, rows in self.tables)
        return replace(self, variable=self.variable.choice, tables=tables)

    def shown_as(self, variable: Variable) -> "Answers":
        """Return the same as another variable of the question: of a public one, in all channels."""
        if not variable.public:
            return replace(self, variable=variable)
        # Public answers have no channel, so their merged categories hold in all revisions.
        return replace(self, variable=variable, tables=tuple((variable, values) for _, values in self.tables))

    @cached_property
    def likelihood(self) -> Array:
        """Likelihood c P(reported | truth) of each different report, (u, k), any c > 0."""
        return np.concatenate([variable.likelihood(values) for variable, values in self.tables])

    @cached_property
    def reported(self) -> Numbers:
        """Reported value of each different report, (u,)."""
        return np.concatenate([values.astype(np.int64) for _, values in self.tables])

    @cached_property
    def channel(self) -> NDArray[np.intp]:
        """Index into ``tables`` of each different report, (u,)."""
        return np.repeat(np.arange(len(self.tables)), [len(values) for _, values in self.tables])

    @cached_property
    def scores(self) -> Array:
        """Unbiased scores of each different report: (u, k) for categories, (u,) for a number."""
        return np.concatenate([variable.scores(values) for variable, values in self.tables])

    @cached_property
    def squares(self) -> Array | None:
        """Unbiased scores of a number's square, (u,); None if they are not available for all channels."""
        numbers = NumberVariable, ScaleVariable
        found = [each.square_scores(values) for each, values in self.tables if isinstance(each, numbers)]
        known = [squares for squares in found if squares is not None]
        return np.concatenate(known) if known and len(known) == len(self.tables) else None

    @cached_property
    def sharpness(self) -> float:
        """Smallest signal strength of all channels: a - b, or range of values / range of scores; 1 without noise."""
        return min(_sharpness(variable, values) for variable, values in self.tables)


def answers_of(columns: Columns, name: str) -> Answers:
    """Return the reports on a variable, named "question", "question.option", or "num(question)" of a scale.

    Raises:
        EstimateError: the variable does not exist, no report carries it, or several waves share a memoized draw; or it
            is no scale.
    """
    newest, place = find_variable(columns, bare(name))

    def variable_of(question: Question) -> Variable:
        own = variables_of(question)[place]
        return own if bare(name) == name else as_number(own)

    check_one_wave(columns, newest)
    codes, observed = np.zeros(len(columns), np.intp), np.zeros(len(columns), bool)
    tables: list[tuple[Variable, Numbers]] = []
    asked, filled = columns.asked(newest.name), 0
    for number in range(len(columns.revisions)):
        rows, there = asked & (columns.revision == number), columns.question(newest.name, number)
        if there is None or not rows.any():
            continue
        variable = variable_of(there)
        different, places = _different(columns.values[newest.name][rows])
        seen = variable.observed(different)
        observed[rows] = seen[places]
        # Codes continue after those of earlier channels; unobserved reports get 0.
        codes[rows] = (filled + np.cumsum(seen) - 1)[places] * seen[places]
        tables.append((variable, different[seen]))
        filled += int(seen.sum())
    if not filled:
        raise EstimateError("no report contains '{variable}'", variable=name)
    return Answers(variable_of(newest), tuple(tables), observed, codes)


@dataclass(frozen=True)
class JointAnswers:
    """Reports on several variables with categories, by distinct combination of reported values.

    Attributes:
        different: row of each variable's table in each combination, (variables, u).
        codes: (n,), combination of each report.
    """

    answers: tuple[Answers, ...]
    different: NDArray[np.intp]
    codes: NDArray[np.intp]

    @property
    def likelihood(self) -> Array:
        """Likelihood of each combination over the joint categories, (u, k_1, .., k_r)."""
        sizes = [len(each.variable.categories) for each in self.answers]
        return self._by_channel(joint_likelihood, np.empty((self.different.shape[1], *sizes)))

    def scores(self, categories: Sequence[int]) -> Array:
        """Return unbiased scores of having all of these categories, of each combination, (u,)."""
        return self._by_channel(
            lambda variables, reported: joint_scores(variables, categories, reported), np.empty(self.different.shape[1])
        )

    def _by_channel(self, of: Callable[[list[Variable], list[Numbers]], Array], found: Array) -> Array:
        """Fill in the figures of the combinations, those that came through the same channels together."""
        used = np.stack([each.channel[own] for each, own in zip(self.answers, self.different, strict=True)])
        for channels in np.unique(used, axis=1).T:
            here = (used == channels[:, None]).all(axis=0)
            variables = [each.tables[at][0] for each, at in zip(self.answers, channels.tolist(), strict=True)]
            reported = [each.reported[own[here]] for each, own in zip(self.answers, self.different, strict=True)]
            found[here] = of(variables, reported)
        return found


def joint_answers(answers: Sequence[Answers], rows: NDArray[np.intp]) -> JointAnswers:
    """Return the reports on variables with categories together, of the rows, (n,), in which all are observed."""
    different, codes = np.unique(np.stack([each.codes[rows] for each in answers]), axis=1, return_inverse=True)
    return JointAnswers(tuple(answers), different, codes.ravel().astype(np.intp))


def _different(values: Numbers) -> tuple[Numbers, NDArray[np.intp]]:
    """Return the distinct values, ascending, and the index of each value among them."""
    # Counting is faster than the sort of np.unique when the values are small.
    if values.dtype.kind == "u" and int(values.max()) < _SMALL:
        small = values.astype(np.intp)
        there = np.bincount(small) > 0
        return np.flatnonzero(there), (np.cumsum(there) - 1)[small]
    return np.unique(values, return_inverse=True)


def _sharpness(variable: Variable, values: Numbers) -> float:
    if variable.public:
        return 1.0
    if variable.channels:
        return min(a - b for a, b in variable.channels)
    scores = variable.scores(values)
    width = float(np.ptp(scores)) if len(scores) else 0.0
    return min(1.0, (variable.levels[-1] - variable.levels[0]) / width) if width else 1.0
