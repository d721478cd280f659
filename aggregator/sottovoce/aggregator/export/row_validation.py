"""What reports in a file must be: of this survey, whole numbers that its mechanisms can report, as many as it asks."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.estimates import same_question
from sottovoce.aggregator.analysis.shown_columns import Column, column_type
from sottovoce.aggregator.export.tables import extra_name
from sottovoce.aggregator.file_formats.provenance import INVENTED, REHEARSAL
from sottovoce.aggregator.storage.pack_values import null
from sottovoce.shared.errors import SpecError
from sottovoce.shared.spec import Question, Survey

Values = NDArray[np.int64]
"""Values as they were read; -1 where there is none."""

Block = Mapping[str, Values]
"""Some rows, by the column's name."""

_DIGEST = re.compile(r"\b[0-9a-f]{64}\b")


@dataclass(frozen=True)
class Expected:
    """
    What a file of reports of this survey may hold.

    Attributes:
        survey: the newest revision.
        surveys: all revisions by their number.
    """

    survey: Survey
    surveys: Mapping[int, Survey]

    @cached_property
    def questions(self) -> dict[str, Question]:
        """By name."""
        return {question.name: question for question in self.survey.questions}

    @property
    def wave(self) -> str:
        """What the column of waves is called."""
        return extra_name("wave", self.questions)

    @property
    def revision(self) -> str:
        """What the column of revisions is called."""
        return extra_name("revision", self.questions)

    def check_digest(self, told: str, place: str) -> None:
        """
        Refuse a file that names another survey, and one whose reports were invented.

        Args:
            told: what the file says of itself.
            place: where it does.
        """
        if REHEARSAL in told:
            raise SpecError(f"{place}: {INVENTED}")
        named = _DIGEST.search(told)
        if named and named[0] not in {survey.digest for survey in self.surveys.values()}:
            raise SpecError(
                f"{place}: these are reports of another survey: the digest is not that of the survey's file"
            )

    def check_header(self, names: Sequence[str], place: str) -> None:
        """
        Refuse a header that is not this survey's; no name in it is repeated, since it may be a row of answers.

        Args:
            names: of the columns.
            place: where the header stands.
        """
        known = {*self.questions, self.wave, self.revision}
        for number, name in enumerate(names, start=1):
            if name not in known:
                raise SpecError(f"{place}, column {number}: no question of the survey has this name")
            if name in names[: number - 1]:
                raise SpecError(f"{place}, column {number}: the column '{name}' stands there twice")
        for name, question in self.questions.items():
            if question.mechanism is not None and name not in names:
                raise SpecError(f"{place}: the column of the question '{name}' is missing")
        if self.wave not in names and len(self.survey.waves) > 1:
            raise SpecError(f"{place}: the column '{self.wave}' is missing, and the survey has several waves")
        if self.revision not in names and len(self.surveys) > 1:
            raise SpecError(f"{place}: the column '{self.revision}' is missing, and the survey has several revisions")

    def checked(
        self, block: Block, first: int, row: str
    ) -> tuple[dict[str, Column], NDArray[np.uint16], NDArray[np.uint32]]:
        """
        The columns in their narrow types, the wave and the revision of each row.

        Args:
            block: rows that were read, with a column for each name of the header.
            first: number of its first row in the file.
            row: what a row is called: "line" or "row".

        Raises:
            SpecError: with the row and the column of the first value that cannot be.
        """
        count = len(next(iter(block.values())))
        revision = block.get(self.revision, np.full(count, self.survey.revision))
        self._refuse(
            ~np.isin(revision, list(self.surveys)), first, row, self.revision, "the folder has no such revision"
        )
        wave = block.get(self.wave, np.zeros(count, dtype=np.int64))
        columns = {name: block[name] for name in self.questions if name in block}
        for number in np.unique(revision).tolist():
            inside, survey = revision == number, self.surveys[number]
            late = inside & ((wave < 0) | (wave >= len(survey.waves)))
            self._refuse(late, first, row, self.wave, f"must be 0 to {len(survey.waves) - 1}, the number of a wave")
            for name, values in columns.items():
                self._check_values(name, np.where(inside, values, -1), survey, first, row)
            if number == self.survey.revision:
                self._check_asked(columns, inside, first, row)
        narrow = {name: self._narrow(name, values) for name, values in columns.items()}
        return narrow, wave.astype(np.uint16), revision.astype(np.uint32)

    def _check_values(self, name: str, values: Values, survey: Survey, first: int, row: str) -> None:
        """Of one question and revision: what is asked there, and what its mechanism can report."""
        question = next((each for each in survey.questions if same_question(each, self.questions[name])), None)
        different = np.unique(values[values >= 0]).tolist()
        wrong = [value for value in different if question is None or not question.admits(value)]
        if wrong:
            largest = None if question is None else question.largest
            told = "its revision does not ask this" if question is None else _allowed(question, largest or 0)
            self._refuse(np.isin(values, wrong), first, row, name, told)

    def _check_asked(self, columns: Block, inside: NDArray[np.bool_], first: int, row: str) -> None:
        private = [columns[name] for name, q in self.questions.items() if q.mechanism is not None]
        asked = np.sum([values >= 0 for values in private], axis=0)
        expected = len(private) - self.survey.unasked
        wrong = inside & (asked != expected)
        if wrong.any():
            at = first + int(np.argmax(wrong))
            raise SpecError(f"{row} {at}: must have a value for {expected} of the {len(private)} private questions")

    def _narrow(self, name: str, values: Values) -> Column:
        asked = [question for survey in self.surveys.values() for question in survey.questions]
        kind = column_type(self.questions[name], asked)
        return np.where(values < 0, null(kind.itemsize), values.astype(np.uint64)).astype(kind)

    @staticmethod
    def _refuse(wrong: NDArray[np.bool_], first: int, row: str, column: str, told: str) -> None:
        if wrong.any():
            raise SpecError(f"{row} {first + int(np.argmax(wrong))}, column '{column}': {told}")


def _allowed(question: Question, largest: int) -> str:
    if all(map(question.admits, (0, largest))) and question.mechanism is None:
        return f"must be 0 to {largest}, the number of an answer"
    return f"is out of range: no report of this question can be it (0 to {largest}, as its mechanism has them)"
