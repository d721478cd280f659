"""Select variables by name, check that they can be analysed together, group their reports by channel, and find the
people whom a joint result describes: all, those who answered, those who were asked, or both; or those of a subset.

Answered    A question with ``absent_category`` has a category for people who gave no answer. Where the question is
            also hidden from some, the same category holds them, and only "asked and answered" can be described.
Asked       Conditions on public answers are known for each report, so reports of people who were not asked are left
            out. A condition on a randomized answer is not known. Where a hidden answer is coded as one of the options
            (``when_absent``), the people who were asked cannot be told from the others then.
Protection  As for subsets, at least five people were asked, and at least five were not, or the question's reports are
            not divided. Only reports of arms that ask the question count, and of a public question those of each arm.
            Two public questions are not divided either: their two tables would differ by exact counts. A direct arm
            whose counts are shown is divided, so that n of both arms counts those who were asked.

A subset of people has a condition on public questions, such as ``year = first and age >= 18``:

Grammar     Comparisons with = != < <= > >= of a question and a category or number, and ``question in (a, b)``, joined
            with ``and``, ``or`` and brackets; ``and`` binds more closely. Names and categories may be in quotes.
Missing     A report without a value for a question fulfils no comparison of it.
Protection  A subset has at least five people, and so has the rest, unless it is empty: two results that differ by a
            handful of people would describe them. A reader's own file has no such limit.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.estimates import ANSWERED, ASKED_AND_ANSWERED
from sottovoce.aggregator.analysis.report_columns import (
    Answers,
    Columns,
    absence,
    answers_of,
    check_one_wave,
    find_variable,
)
from sottovoce.aggregator.analysis.tables.pair_moments import Pairs, count_halves, count_pairs
from sottovoce.aggregator.analysis.tables.score_intervals import uniformity
from sottovoce.aggregator.analysis.token_reader import TokenReader
from sottovoce.aggregator.estimators.question_variables import check_pair, variables_of
from sottovoce.aggregator.estimators.variable import Floats, Variable
from sottovoce.aggregator.storage.pack_values import null
from sottovoce.aggregator.storage.reports.batch_columns import is_null
from sottovoce.shared.arms.arms import ARM, share_asked
from sottovoce.shared.errors import EstimateError, Sentence
from sottovoce.shared.spec import Item, Question, Survey
from sottovoce.shared.visibility import Condition

SMALLEST_SUBSET = 5

_ABOUT = "subset, column {place}: {reason}"
_UNEXPECTED = (
    "this cannot be here; a condition is question = category, with = != < <= > >= or in (...), and, or, brackets"
)
_ORDERS: Mapping[str, Callable[..., NDArray[np.bool_]]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}

Rows = NDArray[np.bool_]


@dataclass(frozen=True)
class SubsetCondition:
    """A condition on the answers of a person.

    Attributes:
        sign: "and" or "or" of the parts; "in" or "!=" of the values, or an order sign before one number.
        parts: conditions that are joined.
        name: name of the variable that is compared.
        values: categories or numbers as they are written.
    """

    sign: str
    parts: tuple["SubsetCondition", ...] = ()
    name: str = ""
    values: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all variables, without repetition."""
        inner = (name for part in self.parts for name in part.names)
        return tuple(dict.fromkeys((self.name,) if self.name else inner))

    def mask(self, columns: Columns) -> Rows:
        """Return which reports fulfil the condition, (n,).

        Raises EstimateError if a variable is unknown or randomized, a category unknown, or a number missing.
        """
        if self.parts:
            join = np.logical_and if self.sign == "and" else np.logical_or
            return np.asarray(join.reduce([part.mask(columns) for part in self.parts]))
        answers = answers_of(columns, self.name)
        if not answers.variable.public:
            raise EstimateError(
                "'{variable}' is randomized, so a subset by its answers is not known; choose a public question",
                variable=self.name,
            )
        fulfilled = self._of_category(answers) if answers.variable.categories else self._of_number(answers)
        # A report without a value has code 0, so the first value's result must not count for it.
        return answers.observed & fulfilled[answers.codes]

    def _of_category(self, answers: Answers) -> Rows:
        """Return which of the different reports fulfil a comparison with categories, (u,)."""
        categories = answers.variable.categories
        if self.sign in _ORDERS or not {*self.values} <= {*categories}:
            raise EstimateError("'{variable}' is one of: {categories}", variable=self.name, categories=categories)
        named = [categories.index(value) for value in self.values]
        return np.isin(answers.scores.argmax(axis=1), named, invert=self.sign == "!=")

    def _of_number(self, answers: Answers) -> Rows:
        """Return which of the different reports fulfil a comparison with numbers, (u,)."""
        try:
            values = [float(value) for value in self.values]
        except ValueError:
            raise EstimateError("'{variable}' has no categories; give it a number", variable=self.name) from None
        if self.sign in _ORDERS:
            return _ORDERS[self.sign](answers.scores, values[0])
        # With a tolerance, because grid values are computed: .1 + .2 is not .3 in floating point.
        equal = np.isclose(answers.scores[:, None], values, rtol=1e-12, atol=1e-12).any(axis=1)
        return np.logical_xor(equal, self.sign == "!=")


def parse_condition(text: str) -> SubsetCondition:
    """Parse a condition; raise EstimateError, which names the column, if it is not in the grammar."""
    reader = TokenReader(text, _ABOUT, _UNEXPECTED)
    found = _any(reader)
    reader.end()
    return found


def subset(columns: Columns, condition: SubsetCondition) -> Rows:
    """Return which reports are in the subset, (n,).

    Raises EstimateError if the subset is empty, or fewer than five people are in it or outside it.
    """
    mask = condition.mask(columns)
    people = int(mask.sum())
    if not people:
        raise EstimateError("this subset is empty: no report fulfils its condition")
    # An empty rest is fine: the result then describes all people.
    if people < columns.least or 0 < len(mask) - people < columns.least:
        raise EstimateError("fewer than {least} people are in this subset, or outside it", least=columns.least)
    return mask


def _any(reader: TokenReader) -> SubsetCondition:
    return _joined(reader, "or", lambda: _joined(reader, "and", lambda: _one(reader)))


def _joined(reader: TokenReader, sign: str, read: Callable[[], SubsetCondition]) -> SubsetCondition:
    parts = [read()]
    while reader.take(sign, kind="name"):
        parts.append(read())
    return parts[0] if len(parts) == 1 else SubsetCondition(sign, tuple(parts))


def _one(reader: TokenReader) -> SubsetCondition:
    if reader.take("("):
        return reader.inside(lambda: _any(reader))
    name = reader.name()
    if reader.take("in", kind="name"):
        reader.need("(")
        return SubsetCondition("in", name=name, values=reader.inside(lambda: _values(reader)))
    sign = reader.take("=", "!=", *_ORDERS)
    if not sign:
        reader.refuse(reader.unexpected)
    return SubsetCondition("in" if sign == "=" else sign, name=name, values=(_value(reader),))


def _values(reader: TokenReader) -> tuple[str, ...]:
    found = [_value(reader)]
    while reader.take(","):
        found.append(_value(reader))
    return tuple(found)


def _value(reader: TokenReader) -> str:
    sign = reader.take("-")
    if reader.token.kind not in ({"number"} if sign else {"number", "name", "text"}):
        reader.refuse(reader.unexpected)
    return sign + reader.next().text


SAME_PEOPLE = (
    "several waves are added up: limits take in that the same people may have answered each of them; of a change "
    "between waves they are too wide"
)

WAVES_DEPEND = "several waves are added up, and people may have answered each of them: choose one wave"

ALL, ASKED = "all", "asked"
AMONG = (ANSWERED, ALL)
"""People whom a reader can ask for; the first is the default."""

CAREFUL = "careful"
"""The same without people who answered at random, of whom anchors tell how many there are."""

AMONG_WITH_ANCHORS = (*AMONG, CAREFUL)


NOT_KNOWN = (
    "'{variable}': people who were not asked count as an answer, and public answers do not tell at least {least} of "
    "them from those who were asked; make a table with the question that decides it"
)
COUNTS_HIDDEN = (
    "'{variable}': people who were not asked count as an answer; for the figure among those who were asked, make a "
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
        people: ``ALL``, ``ANSWERED``, ``ASKED``, ``ASKED_AND_ANSWERED`` or ``PERHAPS_ASKED``.
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
        return self.people in {ANSWERED, ASKED_AND_ANSWERED, PERHAPS_ASKED}


EVERYBODY = DescribedPeople(ALL)
# As ASKED_AND_ANSWERED, but some of the people who gave no answer may not have been asked.
PERHAPS_ASKED = "perhaps_asked_and_answered"


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
        return DescribedPeople((ASKED_AND_ANSWERED if known else PERHAPS_ASKED) if conditional else ANSWERED, asked)
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
    asked = {first.people, second.people} & {ASKED, ASKED_AND_ANSWERED, PERHAPS_ASKED}
    people = (ASKED_AND_ANSWERED if asked else ANSWERED) if answered else (ASKED if asked else ALL)
    # The share of people who gave no answer is the second one's.
    people = PERHAPS_ASKED if second.people == PERHAPS_ASKED else people
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
    if by_arm:
        # What one arm alone is asked tells the arm, also where a file leaves it out.
        by_arm = sum(columns.survey.questions.index(question) in each for each in columns.survey.places_by_arm) > 1
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


@dataclass(frozen=True)
class SelectedVariable:
    """A variable of a survey, of the newest revision as its question, and in each one, None where it is not asked."""

    question: Question
    newest: Variable
    variables: tuple[Variable | None, ...]

    def among_everybody(self) -> "SelectedVariable":
        """Return the variable with the category of no answer as one like the others."""
        variables = tuple(one and replace(one, absent=False) for one in self.variables)
        return replace(self, newest=replace(self.newest, absent=False), variables=variables)


SelectedPair = tuple[SelectedVariable, SelectedVariable]


def choose(columns: Columns, name: str) -> SelectedVariable:
    """Select a variable by name: "question", "question.option" or "question.coordinate".

    Raises EstimateError if there is no such variable, the question has several, or its draws are memoized and the
    reports come from several waves.
    """
    question, place = find_variable(columns, name)
    # A memo makes one person's reports in several waves dependent, which no table here models.
    check_one_wave(columns, question)
    newest = variables_of(question)[place]
    asked = [columns.question(question.name, revision) for revision in range(len(columns.revisions) - 1)]
    earlier = (None if each is None else variables_of(each)[place] for each in asked)
    return SelectedVariable(question, newest, (*earlier, newest))


def choose_described(
    columns: Columns, names: tuple[str, str], among: str | None, counted: bool = False
) -> tuple[SelectedPair, DescribedPeople]:
    """Select two variables, and the people whom their results describe; ``among`` is as for ``described_people``.

    Reports of two public questions are divided by who was asked only if their answers are shown at every count
    (``counted``). The variables lack a category of no answer to be left out unless the people are those who answered.
    Raises EstimateError as ``choose``, or if the people asked for are not known.
    """
    first, second = (choose(columns, name) for name in names)
    divide = counted or not (first.newest.public and second.newest.public)
    among = None if among == CAREFUL else among
    people = [described_people(columns, each.question, among, divide) for each in (first, second)]
    first, second = (
        each if described.answered else each.among_everybody()
        for each, described in zip((first, second), people, strict=True)
    )
    return (first, second), both_described(*people)


def check_together(columns: Columns, first: SelectedVariable, second: SelectedVariable) -> tuple[str, ...]:
    """Return notes for the reader of two variables; raise EstimateError if no report can carry both."""
    check_pair(first.newest, second.newest)
    # Public questions are asked of everybody, so only two private ones can exclude each other.
    private = all(each.question.mechanism is not None for each in (first, second))
    places = [columns.survey.questions.index(each.question) for each in (first, second)]
    if private and columns.survey.ask == 1 and not share_asked(columns.survey, *places):
        raise EstimateError(
            "each respondent gets one private question, so no report contains both '{variable}' and '{other}'",
            variable=first.newest.full_name,
            other=second.newest.full_name,
        )
    counted = [note for each in (first, second) if not each.newest.absent for note in absence(each.question)]
    return (*counted, *([SAME_PEOPLE] if columns.repeats > 1 else ()))


def count_strata(
    columns: Columns,
    pair: SelectedPair,
    weights: Floats | None = None,
    inside: Rows | None = None,
    *,
    halves: bool = False,
) -> list[Pairs]:
    """Count the reports of two variables, for each stratum of equal channels.

    Args:
        weights: weights of the reports, (n,); all 1 by default.
        inside: mask of the reports to count, (n,); all by default.
        halves: count the reports that carry only one of the variables, too.
    """
    found = []
    for revisions in alike(columns, pair):
        rows: Any = slice(None) if inside is None else inside
        # A mask copies the columns; if all revisions are alike, a slice avoids that.
        if len(revisions) < len(columns.revisions):
            of_these = np.isin(columns.revision, revisions)
            rows = of_these if inside is None else of_these & inside
        one, other = (columns.values[each.question.name][rows] for each in pair)
        first, second = (each.variables[revisions[-1]] or each.newest for each in pair)
        given = None if weights is None else np.asarray(weights, dtype=float)[rows]
        pairs = count_pairs(first, second, (one, other), given)
        found.append(replace(pairs, halves=count_halves(first, second, (one, other))) if halves else pairs)
    return found


def impossible_cells(columns: Columns, pair: SelectedPair) -> frozenset[tuple[int, int]]:
    """Return the cells (row, column) of the table of two questions that skip logic excludes in every revision.

    A person to whom the second question is not shown has its answer for a missing one, so no other can go with an
    answer to the first that hides it; and the other way round.
    """
    rows, across = pair
    if rows.newest.name or across.newest.name:
        return frozenset()
    found = []
    for survey in columns.revisions:
        hidden = set()
        for gate, later in ((rows, across), (across, rows)):
            name, absent = later.question.name, later.question.absent
            item = next((each for each in survey.items if name in {q.name for q in each.questions}), None)
            if item is None or absent is None:
                continue
            conditions = [each for each in item.visible_if if each.question == gate.question.name and not each.mask]
            for category, answer in product(*(range(len(each.newest.categories)) for each in (gate, later))):
                if answer != absent and not all(each.holds(category) for each in conditions):
                    hidden.add((category, answer) if gate is rows else (answer, category))
        found.append(frozenset(hidden))
    return frozenset.intersection(*found)


def alike(columns: Columns, variables: Sequence[SelectedVariable]) -> list[list[int]]:
    """Group the revisions that ask all of these variables by channels, ordered by the last revision of each group."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for revision in range(len(columns.revisions)):
        asked = [columns.question(each.question.name, revision) for each in variables]
        if all(asked):
            # Equal mechanisms mean equal channels, so their reports can be pooled exactly.
            groups.setdefault(tuple(each.mechanism for each in asked if each), []).append(revision)
    return sorted(groups.values(), key=itemgetter(-1))


def drawn_evenly(columns: Columns, pair: SelectedPair) -> float | None:
    """Return the p value of a uniformity test of the drawn options (or pairs); None if no options are drawn."""
    drawn = [each for each in pair if each.newest.drawn]
    asked = np.logical_and.reduce([columns.asked(each.question.name) for each in drawn]) if drawn else None
    if asked is None:
        return None
    places: Any = 0
    for each in drawn:
        # A reported value is 2 * option + bit.
        places = places * len(each.question.options) + columns.values[each.question.name][asked].astype(np.int64) // 2
    counts = np.bincount(places, minlength=math.prod(len(each.question.options) for each in drawn))
    return uniformity(counts.tolist())
