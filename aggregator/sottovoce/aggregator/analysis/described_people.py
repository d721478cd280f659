"""Find the people whom a joint result describes: all, those who answered, those who were asked, or both.

Answered    A question with ``absent_category`` has a category for people who gave no answer. Where the question is
            also hidden from some, the same category holds them, and only "asked and answered" can be described.
Asked       Conditions on public answers are known for each report, so reports of people who were not asked are left
            out. A condition on a randomized answer is not known. Where a hidden answer is coded as one of the options
            (``when_absent``), the people who were asked cannot be told from the others then.
Protection  As for subsets, at least five people were asked, and at least five were not, or the question's reports are
            not divided. Only reports of arms that ask the question count, and of a public question those of each arm.
            Two public questions are not divided either: their two tables would differ by exact counts. A direct arm
            whose counts are shown is divided, so that n of both arms counts those who were asked.
"""

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.estimates import ANSWERED, ASKED_AND_ANSWERED
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.subset import SMALLEST_SUBSET
from sottovoce.aggregator.estimators.variable import Variable
from sottovoce.aggregator.storage.pack_values import null
from sottovoce.aggregator.storage.reports.batch_columns import is_null
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.errors import EstimateError, Sentence
from sottovoce.shared.spec import Item, Question, Survey
from sottovoce.shared.visibility import Condition

ALL, ASKED = "all", "asked"
AMONG = (ANSWERED, ALL)
"""People whom a reader can ask for; the first is the default."""

CAREFUL = "careful"
"""The same without people who answered at random, of whom anchors tell how many there are."""

AMONG_WITH_ANCHORS = (*AMONG, CAREFUL)

Rows = NDArray[np.bool_]

NOT_KNOWN = (
    "'{variable}': people who were not asked count as an answer, and public answers do not tell at least {least} of "
    "them from those who were asked; make a table with the question that decides it"
)
COUNTS_HIDDEN = (
    "'{variable}': people who were not asked count as an answer; for the share among those who were asked, make a "
    "table with the question that decides it"
)
FEW_ASKED = (
    "'{variable}': the file leaves out rare answers to '{other}' as few, and they tell who was asked; to go without "
    "these reports, say --drop-few, in Python drop_few=True"
)
FEW_DECLINED = (
    "'{variable}': the file leaves out some of the people who gave no answer as few, so that it has no shares of those "
    "who answered; shares of all people are those among all"
)

THOSE_WHO_ANSWERED = (
    "this describes those who answered; if declining goes with the answer itself, it does not describe all"
)


@dataclass(frozen=True)
class DescribedPeople:
    """The people whom a figure of one question describes.

    Attributes:
        people: ``ALL``, ``ANSWERED``, ``ASKED`` or ``ASKED_AND_ANSWERED``.
        asked: mask of the reports of people who may have been asked, (n,); None for all reports.
        cautions: notes for the reader.
    """

    people: str
    asked: Rows | None = None
    cautions: tuple[str, ...] = ()

    def categories(self, variable: Variable) -> tuple[str, ...]:
        """Return the categories of a variable of the question that describe these people."""
        return variable.answered if self.answered else variable.categories

    @property
    def answered(self) -> bool:
        """True if the category of people who gave no answer is left out."""
        return self.people in {ANSWERED, ASKED_AND_ANSWERED}


EVERYBODY = DescribedPeople(ALL)


def described_people(
    columns: Columns, question: Question, among: str | None = None, divide: bool = True
) -> DescribedPeople:
    """Return the people whom a figure of a question describes; raise EstimateError if those asked for are not known.

    Args:
        columns: all reports.
        question: a question of the newest revision.
        among: ``ALL`` or ``ANSWERED``; None for those who answered where they are known, else all.
        divide: leave out the reports of people who were not asked, where they are known.
    """
    if among == ALL:
        return EVERYBODY
    before, _ = columns.before.get(question.name, (question, None))
    if before.domain.absent and len(before.domain.options) - 1 in columns.left_out(question):
        raise EstimateError(FEW_DECLINED, variable=question.name)
    conditional = any(question.name in survey.conditional for survey in columns.revisions)
    asked, known = _asked(columns, question.name) if conditional and divide else (None, not conditional)
    if question.domain.absent:
        return DescribedPeople(ASKED_AND_ANSWERED if conditional else ANSWERED, asked)
    if not conditional:
        return EVERYBODY
    if known:
        return DescribedPeople(ASKED, asked)
    if among == ANSWERED:
        raise EstimateError(NOT_KNOWN, variable=question.name, least=SMALLEST_SUBSET)
    return DescribedPeople(ALL, None, (Sentence(COUNTS_HIDDEN, variable=question.name),))


def both_described(first: DescribedPeople, second: DescribedPeople) -> DescribedPeople:
    """Return the people whom a figure of two questions describes: those whom either one does."""
    answered = first.answered or second.answered
    asked = {first.people, second.people} & {ASKED, ASKED_AND_ANSWERED}
    people = (ASKED_AND_ANSWERED if asked else ANSWERED) if answered else (ASKED if asked else ALL)
    known = [each.asked for each in (first, second) if each.asked is not None]
    return DescribedPeople(people, np.logical_and.reduce(known) if known else None, (*first.cautions, *second.cautions))


def asked_only(columns: Columns, parts: NDArray[np.integer] | None = None) -> tuple[Columns, frozenset[str]]:
    """Return the reports without answers of people who were never asked, and the questions that have no others left.

    Answers to a question stay where public answers do not tell, or fewer than five people were asked, or were not, in
    one of the ``parts`` that are shown, (n,); None for no parts.
    """
    values, names = dict(columns.values), set()
    for name in {name for survey in columns.revisions for name in survey.conditional} & values.keys():
        # What a file leaves out as few may hide who was asked.
        with suppress(EstimateError):
            asked, known = _asked(columns, name, parts)
            question = columns.question(name)
            if known or (question is not None and question.domain.absent):
                column = values[name]
                blank = column.dtype.type(null(column.itemsize))
                values[name] = column if asked is None else np.where(asked, column, blank)
                names |= {name} if known else set()
    return replace(columns, values=values), frozenset(names)


def _asked(columns: Columns, name: str, parts: NDArray[np.integer] | None = None) -> tuple[Rows | None, bool]:
    """Return a mask of the reports of people who may have been asked, and True if all others were not."""
    asked, known = np.ones(len(columns), bool), True
    carried = columns.asked(name) | columns.few.get(name, np.zeros(len(columns), bool))
    for number, survey in enumerate(columns.revisions):
        rows = columns.revision == number
        item = next((each for each in survey.items if name in {q.name for q in each.questions}), None)
        if item is None or not item.conditions or not rows.any():
            continue
        asked[rows], certain = _shown(columns, survey, item, rows)
        known = known and certain
    if asked[carried].all():
        return None if asked.all() else asked, known
    # The difference of two results would describe a smaller group.
    return (None, False) if _smallest(columns, name, asked, carried, parts) < SMALLEST_SUBSET else (asked, known)


def _smallest(columns: Columns, name: str, asked: Rows, carried: Rows, parts: NDArray[np.integer] | None = None) -> int:
    """Return the number of people in the smallest group that a mask of those who were asked tells apart in a wave."""
    question = columns.question(name)
    by_arm = question is not None and question.mechanism is None and ARM in columns.values
    keys = [asked, columns.wave, *([columns.values[ARM]] if by_arm else []), *([] if parts is None else [parts])]
    groups, sizes = np.unique(np.stack(keys).astype(np.int64)[:, carried], axis=1, return_counts=True)
    return int(sizes.min()) if groups[0].any() else 0


def _shown(columns: Columns, survey: Survey, item: Item, rows: Rows) -> tuple[Rows, bool]:
    """Return for these reports True where an item may have been shown, and True if that is certain for all."""
    count = int(rows.sum())
    every, either = (
        [_holds(columns, survey, item, each, rows) for each in some] for some in (item.visible_if, item.any_of)
    )
    shown = np.logical_and.reduce([np.ones(count, bool), *(each for each in every if each is not None)])
    known_either = [each for each in either if each is not None]
    # An alternative that the reports do not show may hold, so the item may have been shown.
    if either and len(known_either) == len(either):
        shown &= np.logical_or.reduce(known_either)
    return shown, all(each is not None for each in (*every, *either))


def _holds(columns: Columns, survey: Survey, item: Item, condition: Condition, rows: Rows) -> Rows | None:
    """Return for these reports True where a condition holds; None if their reports do not show it."""
    question = next(each for each in survey.questions if each.name == condition.question)
    newest = columns.question(question.name)
    if question.mechanism is not None or newest is None or question.name not in columns.values:
        return None
    # The number of people asked is the exact count of an answer that noise protects.
    if question.name in columns.withheld:
        return None
    # An answer that stands for none too does not show whether it was given.
    if not question.domain.absent and question.absent is not None and condition.holds(question.absent):
        return None
    _, values = columns.before.get(question.name, (question, columns.values[question.name]))
    different, places = np.unique(values[rows], return_inverse=True)
    held = np.array([condition.holds(value) for value in different.tolist()], bool)[places]
    held &= ~is_null(values[rows])
    if question.name in columns.few:
        # Where a file has no answer, the person was not asked.
        unknown = (columns.few[question.name] & is_null(values) & columns.asked(item.questions[0].name))[rows]
        possible = {condition.holds(answer) for answer in columns.left_out(newest)}
        if unknown.any() and (newest.domain.grid or len(possible) > 1):
            raise EstimateError(FEW_ASKED, variable=item.questions[0].name, other=question.name)
        held[unknown] = True in possible
    return held
