"""The parsed survey: immutable, and named by the digest of its canonical bytes."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from functools import cached_property
from typing import Any

from sottovoce.shared.answers import Domain, Value
from sottovoce.shared.arms.arms import Arm, Block, SampledSurvey
from sottovoce.shared.canonical import DigestedDocument
from sottovoce.shared.errors import AnswerError
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.innocuous_rr import InnocuousRR
from sottovoce.shared.mechanisms.joint_rr import JointMember
from sottovoce.shared.types import TYPES, QuestionType
from sottovoce.shared.visibility import Condition, is_shown

FORMAT = "sottovoce-survey/1"

TextMap = Mapping[str, str]
"""A text in several languages, by BCP 47 tag."""


@dataclass(frozen=True)
class Choice:
    """An option of a question: the name that data carry and the label that people read."""

    name: str
    label: TextMap


@dataclass(frozen=True)
class Question:
    """A question of a survey, as parsed.

    Attributes:
        name: unique within the survey.
        type: one of ``types.TYPES``.
        choices: the options, in the order of their values; of a vector, the coordinates; none for yes/no and numbers.
        mechanism: how the answer is randomized; None if the question is public.
        absent: the true value that represents a missing answer, fixed by the survey; None if an answer is required.
        neutral: its reports are called A and B, so that a bare "yes" is never taken for an admission.
        known_share: of an anchor, the true share of yes, by which careless answers are found; None for other questions.
        kind: the behaviour of its type.
        by_fact: the design in which a fact of the person's own hides the answer; None where there is none.
        member: the channel and the place of the question in its block; None outside of blocks.
        binary: the yes/no channel with a row of weights of its own; None for any other one.
        marks: keys of ``survey_keys.MARKS`` that it has. ``cohort``: this public question divides the respondents into
            groups that results may be filtered by. ``in_files``: files of reports contain its answers, coarsened to
            groups of at least five.
    """

    name: str
    type: str
    label: TextMap
    hint: TextMap
    choices: tuple[Choice, ...]
    domain: Domain
    mechanism: Mechanism | None
    absent: Value | None = None
    neutral: bool = False
    known_share: Fraction | None = None
    marks: frozenset[str] = frozenset()
    kind: QuestionType = field(init=False, repr=False, compare=False)
    by_fact: InnocuousRR | None = field(init=False, repr=False, compare=False)
    member: JointMember | None = field(init=False, repr=False, compare=False)
    binary: BinaryRR | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", TYPES[self.type])
        for name, design in (("by_fact", InnocuousRR), ("member", JointMember), ("binary", BinaryRR)):
            object.__setattr__(self, name, self.mechanism if isinstance(self.mechanism, design) else None)

    @property
    def options(self) -> tuple[str, ...]:
        """The names of the options, in the order of their values; of a vector, the names of its coordinates."""
        return self.domain.options

    @cached_property
    def largest(self) -> int:
        """The largest value that a report may carry for this question."""
        return self.domain.size - 1 if self.mechanism is None else self.mechanism.largest

    def admits(self, reported: int) -> bool:
        """Return True if an honest report can carry this value for this question."""
        return 0 <= reported <= self.largest if self.mechanism is None else self.mechanism.admits(reported)

    def reports(self, tally: Mapping[int, int]) -> int:
        """Return the number of reports in the question's tally."""
        return sum(tally.values()) if self.mechanism is None else self.mechanism.reports(tally)

    @property
    def epsilon(self) -> float:
        """The privacy loss of one report; 0 for a public question, which is not private at all."""
        return 0.0 if self.mechanism is None else self.mechanism.epsilon

    @property
    def inexact_fact(self) -> str:
        """The fact whose share has a standard error and that hides the answer; "" for none."""
        design = self.by_fact
        return (design.fact or self.name) if design and design.std_error else ""

    @property
    def randomizer(self) -> Mechanism:
        """Mechanism of the question, for callers that only ask about randomized ones."""
        assert self.mechanism is not None  # noqa: S101 - see above
        return self.mechanism

    @property
    def is_yes_no(self) -> bool:
        """Return True if the answers are yes and no alone: with a category for no answer it is a choice of three."""
        return self.kind.truth == "yes_no" and not self.domain.absent

    def encode(self, answer: object) -> Value:
        """Return the true value of an answer, in the form that the question's type has; None for no answer.

        Raises AnswerError if the answer is not possible; the message repeats none of it.
        """
        if answer is None and self.absent is not None:
            return self.absent
        try:
            if answer is None:
                raise ValueError("is missing")
            return self.kind.encode(self.domain, answer)
        except ValueError as error:
            raise AnswerError(f"question '{self.name}': the answer {error}") from None

    def answer(self, value: Value) -> Any:  # noqa: ANN401 - as the question's type has it
        """Return the answer that has this true value, in its canonical spelling; ``encode`` reads it back."""
        return self.kind.answer(self.domain, value)

    def check(self, value: Value) -> None:
        """Refuse what is no true value: such a value could be reported with odds that epsilon does not cover.

        Raises AnswerError, whose message repeats nothing of the value.
        """
        if not self.kind.holds(self.domain, value):
            raise AnswerError(f"question '{self.name}': the value is not in its domain")


@dataclass(frozen=True)
class Item:
    """An item of a survey: a question, a matrix of questions, a note, or a statement to acknowledge.

    Attributes:
        type: the question's type, ``matrix``, ``note`` or ``acknowledge``.
        questions: what is reported: one question, those of a matrix's rows, none for a note.
        rows: of a matrix, the names and labels of its rows; none otherwise.
        visible_if: what must all hold for the item to be shown.
        any_of: of which one must hold, where there are any.
        arms: names of the arms in which it is asked; none for all.
    """

    type: str
    name: str
    label: TextMap
    hint: TextMap
    questions: tuple[Question, ...]
    rows: tuple[Choice, ...] = ()
    visible_if: tuple[Condition, ...] = ()
    any_of: tuple[Condition, ...] = ()
    arms: tuple[str, ...] = ()

    def is_in(self, arm: str) -> bool:
        """Return True if it is asked in the arm of this name."""
        return not self.arms or arm in self.arms

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Everything that it may hang on; none for an item that is always shown."""
        return self.visible_if + self.any_of

    @property
    def block(self) -> str:
        """Name of the block that it is in; "" for none."""
        member = self.questions[0].member if self.questions else None
        return member.block_name if member else ""


@dataclass(frozen=True)
class Wave:
    """A time at which a survey is asked; closed at its start and open at its end, None means without limit."""

    opens: datetime | None
    closes: datetime | None


@dataclass(frozen=True)
class Survey(DigestedDocument, SampledSurvey):
    """A published survey; nothing about it can change without changing its digest.

    Attributes:
        document: the canonical object, all defaults written out and all shorthand expanded.
        opens, closes: from the first wave's start to the last one's end, which is not in it; None means without limit.
        release_batch: reports that must arrive before published results move.
        ids_days: days after closing at which report ids are dropped.
        delete_on: the day, in UTC, on which the aggregator deletes everything about the survey; None means by hand.
        questions: what is reported, in the order of a report's values.
        waves: the times at which it is asked, in order, at least one; reports of different waves are not linked, and
            each costs its epsilon anew.
        ask: number of private questions of the arm, a block as one, that the device draws for each respondent.
        moduli: of the keys under which reports' ids are signed unseen, one for each wave; none unless access is blind,
            and none yet before publishing has made them.
        arms: of which the device draws one for each respondent; its index is the last value of a report. None: no arms.
        send_within_hours, send_at_seconds: a random wait before sending, or its moments since opening; 0 for none.
    """

    document: Mapping[str, Any]
    name: str
    revision: int
    default_language: str
    title: TextMap
    opens: datetime | None
    closes: datetime | None
    release_batch: int
    ids_days: int
    delete_on: date | None
    questions: tuple[Question, ...]
    items: tuple[Item, ...]
    waves: tuple[Wave, ...]
    ask: int | None = None
    arms: tuple[Arm, ...] = ()
    moduli: tuple[int, ...] = ()
    send_within_hours: int = 0
    send_at_seconds: int = 0

    @property
    def epsilon_of_wave(self) -> float:
        """The part of ``epsilon`` that each wave's report is charged anew."""
        if not self.memoized:
            return self.epsilon
        return math.fsum(self.questions[unit[0]].epsilon for unit in self.units if unit[0] not in self.memoized)

    @property
    def epsilon_of_memo(self) -> float:
        """The part of ``epsilon`` that covers all waves: charged once, when the device draws what it remembers."""
        return math.fsum(self.questions[index].epsilon for index in self.memoized)

    @cached_property
    def memoized(self) -> tuple[int, ...]:
        """Indices of the questions of which the device remembers a draw."""
        return tuple(
            index for index, q in enumerate(self.questions) if q.mechanism is not None and q.mechanism.waves > 1
        )

    def block_of(self, index: int) -> Block | None:
        """Return the block that the question with this index is in; None if it is randomized by itself."""
        return next((block for block in self.blocks if index in block.questions), None)

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the names of all questions."""
        return frozenset(question.name for question in self.questions)

    @cached_property
    def conditional(self) -> frozenset[str]:
        """Names of the questions that are not shown to everybody."""
        return frozenset(question.name for item in self.items if item.conditions for question in item.questions)

    @cached_property
    def masks(self) -> Mapping[int, int]:
        """The number of options of each question, by its index, whose reports are bit masks over them."""
        return {at: each.mechanism.masked for at, each in enumerate(self.questions)
                if each.mechanism and each.mechanism.masked}  # fmt: skip

    @cached_property
    def own_coin(self) -> bool:
        """Return True if respondents randomize by themselves, with a coin or a die; the device adds nothing."""
        return bool(self.document["privacy"]["procedure"] == "own_coin")

    def encode(self, answers: Mapping[str, object], asked: Collection[int] | None = None) -> tuple[Value | None, ...]:
        """Return the true values, in the order of a report; None where the question is not asked. What is hidden or not
        answered has its question's fixed value.

        Args:
            answers: by question name; None, or no entry, for no answer.
            asked: indices of the questions that are asked; None for all. An answer to another one is not looked at.

        Raises:
            AnswerError: an answer is missing where there must be one, is for no question, or is not an option; no
                answer is repeated.
        """
        if not self.names.issuperset(answers):
            raise AnswerError("there is an answer for a question that the survey does not ask")
        given: dict[str, Value] = {}
        values: list[Value | None] = []
        for item in self.items:
            shown = is_shown(item.visible_if, item.any_of, given)
            for question in item.questions:
                if asked is not None and len(values) not in asked:
                    values.append(None)
                    continue
                answer = answers.get(question.name) if shown else None
                value = question.encode(answer)
                values.append(value)
                if answer is not None:
                    given[question.name] = value
        return (*values, *(question.encode(answers.get(question.name)) for question in self.questions[len(values) :]))

    @property
    def asks_for_token(self) -> bool:
        """Return True if each report must bring a one-time token."""
        return bool(self.document["access"] == "token")

    @property
    def is_blind(self) -> bool:
        """Return True if a report needs a blind signature of its id, which the signer cannot link to the invitation."""
        return self.document["access"] not in ("open", "token")

    @property
    def lacks_keys(self) -> bool:
        """Return True if it is blind without its keys yet: publishing names them, and so the digest."""
        return self.is_blind and not self.moduli

    @property
    def asks_for_invitation(self) -> bool:
        """Return True if the link must be a personal one: it carries a token, or an invitation."""
        return self.asks_for_token or self.is_blind

    @property
    def trial(self) -> bool:
        """Return True for a test run, which the form announces as such."""
        return "trial" in self.document

    @property
    def quick_exit(self) -> bool:
        """Return True if the form has a button on every step that leaves it at once, without a trace in the tab."""
        return "quick_exit" in self.document

    @property
    def fresh_samples(self) -> bool:
        """Return True if each wave asks other people, so that waves added up are as one sample."""
        return "fresh_samples" in self.document

    @property
    def designed(self) -> frozenset[str]:
        """The first question of each design of the analysis plan, such as cheater detection."""
        plan = self.document.get("analysis_plan", ())
        return frozenset(comparison["question"] for comparison in plan if "design" in comparison)

    @property
    def replaces(self) -> str | None:
        """The digest of the revision before it; None for a first one, and for those of before it was kept."""
        return self.document.get("replaces")

    def is_same_as(self, other: "Survey") -> bool:
        """Return True if two surveys are equal except for ``replaces``."""
        mine, theirs = ({**survey.document, "replaces": None} for survey in (self, other))
        return mine == theirs

    @property
    def cohort(self) -> int | None:
        """Index of the question that divides respondents into cohorts, or None."""
        return next((index for index, question in enumerate(self.questions) if "cohort" in question.marks), None)

    def text(self, texts: TextMap, language: str | None = None) -> str:
        """Return one text in the language asked for, else in the survey's default language."""
        return texts.get(language or self.default_language) or texts.get(self.default_language, "")
