"""Parse questions without a survey around them, for a page of another system: the same object as an item of a
survey.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sottovoce.shared.accounting import DEFAULT_ALLOWANCE
from sottovoce.shared.answers import ABSENT
from sottovoce.shared.canonical import DigestedDocument
from sottovoce.shared.channel_text import dump_block, dump_channel
from sottovoce.shared.errors import Problem, SpecError
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.mechanisms.joint_rr import JointMember, JointRR
from sottovoce.shared.parse_item import NOTES
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import FORMAT, Question, Survey

ITEM = "/questions/0"

_TIES = ("visible_if", "any_of", "cohort", "arm", "order", "keep_last")
"""Keys of an item that name other questions."""


EPSILON_LIMIT = "the question costs epsilon {cost}, and devices allow {most:g} for one question; give it more noise"

OWN_ABSENT = "has an option named absent, as files call no answer: give it another name"


@dataclass(frozen=True)
class SingleQuestion(DigestedDocument):
    """A private question with its document (canonical, shorthand expanded)."""

    question: Question
    document: Mapping[str, Any]

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism, which each single question has."""
        return self.question.randomizer

    @property
    def name(self) -> str:
        """Name of the one question."""
        return self.question.name

    @property
    def questions(self) -> tuple[Question, ...]:
        """The one question, as of a block."""
        return (self.question,)

    @property
    def asked(self) -> tuple["SingleQuestion"]:
        """Itself alone, as of a list."""
        return (self,)

    @property
    def epsilon(self) -> float:
        """The privacy loss of one report."""
        return self.question.epsilon

    @property
    def channel(self) -> str:
        """The channel of its column, as text."""
        return dump_channel(self.question)

    def values_of(self, report: int) -> list[str]:
        """Return the one value of a report, as of a block."""
        return [value_of(self.question, report)]


@dataclass(frozen=True)
class SingleBlock(DigestedDocument):
    """A block of private questions, in order, with its document (canonical, shorthand expanded)."""

    questions: tuple[Question, ...]
    document: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Name of the block, which no question has."""
        return str(self.document["block"])

    @property
    def asked(self) -> tuple["SingleBlock"]:
        """Itself alone, as of a list."""
        return (self,)

    @property
    def mechanism(self) -> JointRR:
        """The mechanism of all its questions."""
        return cast("JointMember", self.questions[0].mechanism).block

    @property
    def epsilon(self) -> float:
        """The privacy loss of the one report, and of each question in it."""
        return self.mechanism.epsilon

    @property
    def channel(self) -> str:
        """The channel of each of its columns, as text."""
        return dump_block(self.mechanism, [question.name for question in self.questions])

    def number(self, codes: Sequence[int]) -> int:
        """Return the number of the report of these categories: the last question's run fastest."""
        number = 0
        for size, code in zip(self.mechanism.sizes, codes, strict=True):
            number = number * size + code
        return number

    def values_of(self, report: int) -> list[str]:
        """Return the category of each question in a report, by name."""
        names: list[str] = []
        for question in reversed(self.questions):
            report, code = divmod(report, question.domain.size)
            names.insert(0, question.options[code])
        return names


def value_of(question: Question, report: int) -> str:
    """Return a reported value as a column has it: an option's name, a number in its own unit, or the code."""
    kind = question.mechanism.report_kind if question.mechanism is not None else ""
    if kind in {"yes_no", "option"}:
        return question.options[report]
    if kind == "number" and question.domain.grid is not None:
        return question.domain.grid.text(report)
    return str(report)


def parse_asked(document: object) -> SingleQuestion | SingleBlock:
    """Parse one question, or a block of them, as it may be in the list of a survey file.

    Raises SpecError if it cannot be asked alone; each mistake with its JSON pointer within it.
    """
    if not isinstance(document, dict) or "block" not in document:
        return parse_question(document)
    items = document.get("items")
    items = items if isinstance(items, list) else []
    _check_items(document, [item if isinstance(item, dict) else {} for item in items])
    survey = in_survey(document, language_of(items[0].get("label") if items and isinstance(items[0], dict) else None))
    found = SingleBlock(tuple(survey.questions), survey.document["questions"][0])
    if found.epsilon > DEFAULT_ALLOWANCE.question:
        message = EPSILON_LIMIT.format(cost=show_epsilon(found.epsilon), most=DEFAULT_ALLOWANCE.question)
        raise SpecError([Problem("/mechanism", message)])
    return found


def parse_question(document: object) -> SingleQuestion:
    """Parse one question, as it may be in the list of a survey file.

    Its default language is English where the label is in English, else the first of the label's tags. Raises SpecError
    if it cannot be asked alone; each mistake with its JSON pointer within the question.
    """
    if isinstance(document, dict) and document.get("type") in (*NOTES, "matrix"):
        raise SpecError([Problem("/type", "must be the type of one question: notes and matrices need a survey")])
    if isinstance(document, dict) and "block" in document:
        raise SpecError([Problem("/block", "must be one question here, not a block")])
    survey = in_survey(document, language_of(document.get("label") if isinstance(document, dict) else None))
    question = survey.questions[0]
    _check_alone(question)
    if "order" in survey.document["questions"][0]:
        raise SpecError([Problem("/order", "is drawn in your own survey: leave it out of a single question")])
    return SingleQuestion(question, survey.document["questions"][0])


def language_of(label: object) -> str:
    """Return the default language of a label: English, else the first of its tags."""
    return min(label, key=lambda tag: (tag != "en", str(tag))) if isinstance(label, dict) and label else "en"


def in_survey(document: object, language: str) -> Survey:
    """Return a survey of one entry alone; a SpecError has each mistake's JSON pointer within the entry."""
    whole = {"format": FORMAT, "name": "question", "revision": 1, "default_language": language}
    try:
        survey = parse_survey({**whole, "title": {language: "Question"}, "questions": [document]})
    except SpecError as error:
        raise SpecError([Problem(pointer.removeprefix(ITEM), message) for pointer, message in error.problems]) from None
    if any(ABSENT in question.domain.places for question in survey.questions):
        raise SpecError([Problem("", OWN_ABSENT)])
    return survey


def asked_alone(survey: Survey) -> list[SingleQuestion | SingleBlock]:
    """Return the questions and blocks of a survey that can be asked alone, without what ties them to others."""
    found = []
    for item in survey.document["questions"]:
        untied = _untied(item)
        if "items" in item:
            untied["items"] = [_untied(each) for each in item["items"]]
        try:
            found.append(parse_asked(untied))
        except SpecError:
            continue
    return found


def _untied(item: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key not in _TIES}


def is_frame_address(address: str) -> bool:
    """Return True for the address of a frame's folder: https, or http on this computer, ending in a slash."""
    return (
        re.fullmatch(r"(https://|http://(localhost|127\.0\.0\.1)(?=[:/]))[A-Za-z0-9.-]*(:\d+)?/([\w.~-]+/)*", address)
        is not None
    )


def element_name(script: bytes) -> str:
    """Return the name of the element's file that holds these bytes only, beside the page of a single question."""
    return f"element-{hashlib.sha256(script).hexdigest()[:16]}.js"


def _check_alone(question: Question) -> None:
    """Refuse what one question in another system's page cannot be."""
    if question.mechanism is None:
        raise SpecError([Problem("/public", "ask a public question in your own survey: this one must be private")])
    if question.known_share is not None:
        raise SpecError([Problem("/anchor", "corrects the other questions of a survey: leave it out of a single one")])
    if question.by_fact:
        message = "a fact of the person's own hides one answer of a study: ask this in your own survey"
        raise SpecError([Problem("/procedure", message)])
    if question.mechanism.waves > 1:
        raise SpecError([Problem("/mechanism", "an answer for several waves needs a survey around it")])
    if question.epsilon > DEFAULT_ALLOWANCE.question:
        message = EPSILON_LIMIT.format(cost=show_epsilon(question.epsilon), most=DEFAULT_ALLOWANCE.question)
        raise SpecError([Problem("/mechanism", message)])
    try:
        dump_channel(question)
    except ValueError as error:
        raise SpecError([Problem("/mechanism", str(error))]) from None


def _check_items(document: Mapping[str, Any], items: Sequence[Mapping[str, Any]]) -> None:
    problems = [
        Problem(f"/{key}", "needs a survey: leave it out of a block for another system")
        for key in ("arm", "ask")
        if key in document
    ]
    for place, item in enumerate(items):
        if item.get("type") == "matrix":
            problems.append(Problem(f"/items/{place}/type", "must be one question: write each row of a matrix as one"))
        ties = [key for key in _TIES if key in item]
        message = "needs a survey: each question of a block for another system is shown to everyone, in one order"
        problems += [Problem(f"/items/{place}/{key}", message) for key in ties]
    if problems:
        raise SpecError(problems)
