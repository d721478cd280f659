"""Read the planned comparisons of a survey with arms: ``analysis_plan``, which its digest binds to the questions.

Each compares a question by arm, or against a question of other arms. With ``design``, both are one sensitive question
asked with unlike odds, which tell an unknown share. The device only carries the plan.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sottovoce.shared.arms.arms import ARM, Arm
from sottovoce.shared.checks import MISSING, Reader
from sottovoce.shared.spec import Item, Question, Survey

MOST_PLANNED = 20
MEASURES = ("difference", "ratio")
UNRELATED_UNKNOWN, CHEATER_DETECTION = DESIGNS = ("unrelated_unknown", "cheater_detection")
ONE_FIGURE = frozenset({"yes_no", "option", "number"})
"""Kinds of true values that one comparison covers; others are compared as ``question.option``."""

_Asked = tuple[Question, tuple[str, ...]]
"""A question and the names of its arms."""

_DRAWN = (
    "needs procedure: unrelated_question in both questions: where a device draws, a cheater's no gets the noise of an "
    "honest no: the cheaters cannot be told apart"
)
_KNOWN = (
    "needs procedure: unrelated_question in both questions: where a device draws, the share of the other answer is "
    "known, and one arm is enough"
)
_SAME_ODDS = "both groups have the same odds, so reports cannot tell the shares apart: give one question another truth"

_VARIABLE = re.compile(r"[a-z0-9][a-z0-9_]{0,63}(\.[a-z0-9][a-z0-9_]{0,63})?")
_CONFIDENCE = re.compile(r"0\.[5-9][0-9]{0,3}")


@dataclass(frozen=True)
class PlannedComparison:
    """A planned comparison of a survey.

    Attributes:
        question: question, or ``question.option``, whose share or mean is compared.
        measure: ``difference`` or ``ratio``.
        confidence: level of the limits, as a decimal.
        by: ``arm``, or "" with ``against``.
        against: the question of other arms that is the reference; "" with ``by``.
        category: category whose share is compared; "" for the last answer, or a mean.
        design: one of ``DESIGNS``, which has no measure; "" for a comparison.
    """

    question: str
    measure: str = ""
    confidence: str = ""
    by: str = ""
    against: str = ""
    category: str = ""
    design: str = ""

    def dump(self) -> dict[str, str]:
        """Return the comparison's document in the canonical survey."""
        return {key: value for key, value in asdict(self).items() if value}


def planned_comparisons(survey: Survey) -> list[PlannedComparison]:
    """Return the planned comparisons of a survey; empty without a plan."""
    return [PlannedComparison(**each) for each in survey.document.get("analysis_plan", ())]


def read_plan(
    reader: Reader, fields: Mapping[str, Any], arms: Sequence[Arm], items: Sequence[Item]
) -> dict[str, list[dict[str, str]]]:
    """Return the plan's key of the canonical survey; empty without a plan, so that other surveys keep their digest."""
    if "analysis_plan" not in fields:
        return {}
    if not arms:
        reader.problem("/analysis_plan", "goes with arms only: it plans comparisons between them")
        return {}
    listed = reader.items(fields["analysis_plan"], "/analysis_plan", 1, MOST_PLANNED)
    planned = [_comparison(reader, value, f"/analysis_plan/{index}") for index, value in enumerate(listed)]
    for index, each in enumerate(planned):
        for key, message in _mistakes(each, [arm.name for arm in arms], items):
            reader.problem(f"/analysis_plan/{index}/{key}", message)
        if each in planned[:index]:
            reader.problem(f"/analysis_plan/{index}", "is planned twice")
    return {"analysis_plan": [each.dump() for each in planned]}


def _comparison(reader: Reader, value: object, pointer: str) -> PlannedComparison:
    optional = {"by", "against", "category", "measure", "confidence", "design"}
    fields = reader.fields(value, pointer, {"question"}, optional)
    design = reader.one_of(fields["design"], f"{pointer}/design", DESIGNS) if "design" in fields else ""
    if design and {"by", "category", "measure"} & fields.keys():
        reader.problem(f"{pointer}/design", "goes with question, against and confidence only: it has shares of its own")
    if ("by" in fields) == ("against" in fields):
        reader.problem(pointer, "must have either by: arm or against, the question of other arms")
    message = 'must be a decimal from 0.5 to below 1 written as a string, such as "0.95"'
    names = {
        key: reader.match(fields[key], f"{pointer}/{key}", _VARIABLE)
        for key in ("against", "category")
        if key in fields
    }
    return PlannedComparison(
        question=reader.match(fields.get("question", MISSING), f"{pointer}/question", _VARIABLE),
        measure="" if design else reader.one_of(fields.get("measure", MEASURES[0]), f"{pointer}/measure", MEASURES),
        confidence=reader.match(fields.get("confidence", "0.95"), f"{pointer}/confidence", _CONFIDENCE, message),
        by=reader.one_of(fields["by"], f"{pointer}/by", (ARM,)) if "by" in fields else "",
        design=design,
        **names,
    )


def _mistakes(planned: PlannedComparison, arms: Sequence[str], items: Sequence[Item]) -> Iterator[tuple[str, str]]:
    """Yield the key and the message of each mistake that the questions of the survey show."""
    asked = {question.name: (question, item.arms or tuple(arms)) for item in items for question in item.questions}
    found = {}
    for key, variable in (("question", planned.question), ("against", planned.against)):
        name, _, part = variable.partition(".")
        if name in asked and _is_variable(asked[name][0], part):
            found[key] = asked[name]
        elif variable:
            yield key, "is not a question of the survey, or an option of one as question.option"
    if "question" in found:
        yield from _mistakes_of(planned, found["question"], found.get("against"))


def _mistakes_of(planned: PlannedComparison, compared: _Asked, reference: _Asked | None) -> Iterator[tuple[str, str]]:
    question, own = compared
    if planned.by and len(own) == 1:
        yield "by", "is asked in one arm only: name the question of another arm as against"
    if reference and set(own) & set(reference[1]):
        yield "against", "is asked in an arm of the question: compare questions that no arm has both of"
    if reference and reference[0].kind.truth != question.kind.truth:
        yield "against", "is a question of another type"
    if planned.category and planned.category not in question.options:
        yield "category", "is not an answer of the question"
    if planned.measure == "ratio" and question.domain.grid is not None:
        yield "measure", "is the difference for a mean: only shares have a ratio"
    if reference and planned.design:
        yield from (("design", message) for message in _unidentified(planned.design, question, reference[0]))


def _unidentified(design: str, question: Question, reference: Question) -> Iterator[str]:
    """Yield why reports do not tell the shares of a design."""
    one, other = question.by_fact, reference.by_fact
    if one is None or other is None or one.is_crosswise or other.is_crosswise:
        yield _DRAWN if design == CHEATER_DETECTION else _KNOWN
    elif design == CHEATER_DETECTION:
        # The told yes of each, over what is not told no: equal ratios are one equation.
        if one.a * other.b == other.a * one.b:
            yield _SAME_ODDS
        if one.std_error or other.std_error:
            yield "takes the shares of the facts as exact: leave out se"
    else:
        if one.truth == other.truth:
            yield _SAME_ODDS
        if (one.label, one.share, one.std_error) != (other.label, other.share, other.std_error):
            yield "needs the same statement, share and se in both questions: its share is what the design estimates"
        if not one.std_error:
            yield "needs se: the share is unknown, and epsilon is the largest within two standard errors of it"


def _is_variable(question: Question, part: str) -> bool:
    return not part if question.kind.truth in ONE_FIGURE else part in question.options
