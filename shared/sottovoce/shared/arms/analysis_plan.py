"""Read the planned comparisons of a survey with arms: ``analysis_plan``, which its digest binds to the questions.

Each compares a question by arm, or against a question of other arms. The device only carries the plan.
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
ONE_FIGURE = frozenset({"yes_no", "option", "number"})
"""Kinds of true values that one comparison covers; others are compared as ``question.option``."""

_Asked = tuple[Question, tuple[str, ...]]
"""A question and the names of its arms."""

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
    """

    question: str
    measure: str
    confidence: str
    by: str = ""
    against: str = ""
    category: str = ""

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
    fields = reader.fields(value, pointer, {"question"}, {"by", "against", "category", "measure", "confidence"})
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
        measure=reader.one_of(fields.get("measure", MEASURES[0]), f"{pointer}/measure", MEASURES),
        confidence=reader.match(fields.get("confidence", "0.95"), f"{pointer}/confidence", _CONFIDENCE, message),
        by=reader.one_of(fields["by"], f"{pointer}/by", (ARM,)) if "by" in fields else "",
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
    if planned.measure == "ratio" and question.kind.truth in {"number", "numbers"}:
        yield "measure", "is the difference for a mean: only shares have a ratio"


def _is_variable(question: Question, part: str) -> bool:
    return not part if question.kind.truth in ONE_FIGURE else part in question.options
