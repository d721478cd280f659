"""Prove the survey's integers, and every branch of the Python client."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sottovoce.audit.check import FAILED, NOT_FOLLOWED, PASSED, Check
from sottovoce.audit.exact_channel import (
    MAX_WORK,
    Computed,
    Mismatch,
    TooManyPaths,
    check_code,
    claim_of_one,
    compute,
    input_count,
    inputs_of,
    prove_integers,
    toss_distribution,
)
from sottovoce.audit.patch import system_source
from sottovoce.client.draws import Draws
from sottovoce.client.randomizers import RANDOMIZERS
from sottovoce.client.respondent import randomize
from sottovoce.shared import rational
from sottovoce.shared.answers import Value
from sottovoce.shared.arms.arms import samples
from sottovoce.shared.errors import AnswerError, SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.questions import dump_question
from sottovoce.shared.spec import Question, Survey

SMALL = 6
"""Options, or steps of a grid, of the smaller question that stands for one with too many branches."""

OUTSIDE = "impossible answers"
WRITTEN = "numbers as they are written"


@dataclass(frozen=True)
class Task:
    """A question whose randomizer is run through all of its branches.

    Attributes:
        asked: the question as it stands in the survey.
        run: that question, or a smaller one of the same mechanism.
        inputs: the true values to try.
        known: the Python randomizer's distribution for the first of them, which shows how many ways there are; or
            nothing.
    """

    asked: Question
    run: Question
    inputs: tuple[Value, ...]
    known: Mapping[Value, Computed] = field(default_factory=dict, compare=False, repr=False)

    @property
    def scope(self) -> str:
        """Describe the values that are tried."""
        count = input_count(self.run)
        inputs = f"all {count} inputs" if len(self.inputs) == count else f"{len(self.inputs)} of {count:,} inputs"
        return inputs if self.run is self.asked else f"{inputs} of a smaller question, for the branches are too many"


def private(survey: Survey) -> list[Question]:
    """Return the questions that devices randomize alone; blocks are followed as histories, and own facts by no
    audit.
    """
    singly = [survey.questions[unit[0]] for unit in survey.units if survey.block_of(unit[0]) is None]
    return [question for question in singly if question.mechanism and not question.by_fact]


def check_integers(question: Question) -> Check:
    """Check epsilon from the survey's own integers."""
    try:
        odds, scope = prove_integers(question)
    except Mismatch as mismatch:
        return Check("integers", question.name, FAILED, question.epsilon, message=str(mismatch))
    return Check("integers", question.name, PASSED, question.epsilon, rational.log(odds), scope)


def check_written(survey: Survey) -> Check:
    """Check that the loaded mechanism parameters equal those of the survey file."""
    stand = {name: fields for item in survey.document["questions"] for name, fields in _mechanisms(item)}
    run = {each.name: each.mechanism.dump() for each in survey.questions if each.mechanism and not each.by_fact}
    if stand != run:
        return Check("integers", WRITTEN, FAILED, message="the numbers that run are not those that stand in the survey")
    return Check("integers", WRITTEN, PASSED, scope=f"of {len(run)} questions")


def _mechanisms(item: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return (question's name, parameters) of what an item of the document asks; of each question of a block the
    block's.
    """
    if "block" in item:
        together = {"mechanism": item["mechanism"]}
        inner = [
            {**each, "of": {**each["of"], **together}} if "of" in each else {**each, **together}
            for each in item["items"]
        ]
        return [found for each in inner for found in _mechanisms(each)]
    if "of" in item:
        rows = [f"{item['name']}_{row['name']}" for row in item["rows"]]
        return [(row, item["of"]["mechanism"]) for row in rows if "mechanism" in item["of"]]
    return [(item["name"], item["mechanism"])] if "mechanism" in item else []


def plan(question: Question, work: int = MAX_WORK) -> Task | None:
    """Choose the question to enumerate, or a smaller one; None if both have too many branches.

    ``work`` is about how many ways all inputs together may have; two inputs at least are tried.
    """
    for run in (question, smaller(question)):
        if run is None:
            continue
        first = inputs_of(run, 2)[0]
        try:
            known = _computed_distributions(run, [first])
        except TooManyPaths:
            continue
        except Exception:  # code that stops is run once more, and has failed then
            return Task(question, question, tuple(inputs_of(question, 2)))
        return Task(question, run, tuple(inputs_of(run, max(2, work // known[first].ways))), known)
    return None


def _computed_distributions(question: Question, inputs: Sequence[Value]) -> dict[Value, Computed]:
    """Enumerate the distributions of the Python client's randomizer, whose only source of chance is its draws."""
    with system_source(_refuse):
        return compute(partial(_randomize, question), inputs)


def smaller(question: Question, size: int = SMALL) -> Question | None:
    """Return a question of the same type and mechanism with at most so many options or steps; None if there is none."""
    document = dump_question(question)
    grid = question.domain.grid
    document.pop("when_absent", None)  # one of the inputs, whichever; it may be gone
    if "choices" in document:
        document["choices"] = document["choices"][:size]
    if "coordinates" in document:
        document["coordinates"] = document["coordinates"][:2]
    if "max_choices" in document:
        document["max_choices"] = min(size, document["max_choices"])
    if grid is not None:
        document["max"] = grid.text(min(grid.steps, size))
    if "size" in document["mechanism"]:
        document["mechanism"] = {**document["mechanism"], "size": min(max(1, size // 2), document["mechanism"]["size"])}
    try:
        return alone(document)
    except SpecError:
        return None


def check_python(task: Task) -> Check:
    """Check the distribution of the Python client's randomizer."""
    try:
        rest = [value for value in task.inputs if value not in task.known]
        computed = {**task.known, **_computed_distributions(task.run, rest)}
    except Exception:  # too many ways, or whatever the code does instead of drawing
        return Check("python", task.asked.name, FAILED, task.asked.epsilon, scope=task.scope, message=NOT_FOLLOWED)
    return judge_code("python", task, computed)


def judge_code(part: str, task: Task, computed: Mapping[Value, Computed]) -> Check:
    """Judge a distribution that was computed from code, by the mechanism."""
    claim = claim_of_one(task.asked)
    try:
        odds = check_code(task.run, computed)
    except Mismatch as mismatch:
        return Check(part, task.asked.name, FAILED, claim, scope=task.scope, message=str(mismatch))
    # Of a smaller question the figure would not be the survey's.
    epsilon = rational.log(odds) if task.run is task.asked else None
    return Check(part, task.asked.name, PASSED, claim, epsilon, task.scope)


def check_python_refusals(survey: Survey) -> Check:
    """Check that the Python client refuses exactly the invalid true values, and before it draws."""
    accepted = [_is_refused(survey, values) is None for values in possible(survey)]
    return judge_refusals("python", accepted, [_is_refused(survey, values) for values in outside(survey)])


def _is_refused(survey: Survey, values: Sequence[object]) -> bool | None:
    """Return True if values are refused before any draw, False if after one, None if they are accepted."""
    draws = _WatchedDraws()
    try:
        randomize(survey, tuple(values), draws)  # type: ignore[arg-type]
    except AnswerError:
        return not draws.touched
    except Exception:  # whatever else it is, it is no refusal
        return False
    return None


def judge_refusals(part: str, accepted: Sequence[object], refused: Sequence[object]) -> Check:
    """Judge whether each possible report was drawn, and each impossible one refused before anything was drawn."""
    message = ""
    if not all(outcome is True for outcome in accepted):
        message = "answers that are possible are refused"
    if not all(outcome is True for outcome in refused):
        message = "what is no possible answer is not refused, or only after a draw"
    scope = "" if message else f"{len(refused)} values refused before anything was drawn"
    return Check(part, OUTSIDE, FAILED if message else PASSED, scope=scope, message=message)


def ordinary(survey: Survey, asked: int) -> tuple[Value | None, ...]:
    """Return a true value for each question that is asked with the one with this index; in the first of its arms."""
    arm = next(arm for arm, places in enumerate(survey.places_by_arm) if asked in places)
    unasked: set[int] = set()
    for sample in samples(survey, arm):
        unasked.update(*sorted(sample.units, key=lambda unit: asked not in unit)[sample.size :])
    given = [inputs_of(question, 2)[0] for question in survey.questions]
    if survey.arms:
        given[-1] = arm
    places = {*survey.places_by_arm[arm]} - unasked
    return tuple(value if index in places else None for index, value in enumerate(given))


def possible(survey: Survey) -> list[tuple[Value | None, ...]]:
    """Return the true values of whole reports; each value of each question is in one of them."""
    return [ordinary(survey, index) for index in range(len(survey.questions))]


def outside(survey: Survey) -> list[tuple[object, ...]]:
    """List invalid reports: one answer outside its domain, or every question answered although only some are asked."""
    found: list[tuple[object, ...]] = []
    for index, question in enumerate(survey.questions):
        given = ordinary(survey, index)
        found += [(*given[:index], value, *given[index + 1 :]) for value in _impossible(question)]
    if survey.arms:
        found += [(*ordinary(survey, 0)[:-1], arm) for arm in range(len(survey.arms)) if _is_other_arm(survey, arm)]
    if survey.is_sampled or len({*survey.places_by_arm}) > 1:
        found.append(tuple(inputs_of(question, 2)[0] for question in survey.questions))
    return found


def _is_other_arm(survey: Survey, arm: int) -> bool:
    """Return whether the arm asks other questions than the one of an ordinary report of the first question."""
    own = ordinary(survey, 0)[-1]
    return isinstance(own, int) and survey.places_by_arm[arm] != survey.places_by_arm[own]


def _impossible(question: Question) -> list[object]:
    size, count = question.domain.size, len(question.domain.options)
    wrong: list[object] = [-1, 0.5, "0", None, True]
    if question.domain.coordinates:
        return [*wrong, 0, (0,) * (count - 1), (size,) * count]
    if question.kind.is_set:
        most = question.domain.max_choices
        return [*wrong, 1 << size, *([(1 << most + 1) - 1] if most < size else [])]
    return [*wrong, size, size + 1]


def check_instructions(part: str, question: Question, found: object) -> Check:
    """Check the coin or die instructions for a person, toss by toss, against the mechanism.

    ``found`` is (flips, parts) as the code under audit gives them, whatever they are.
    """
    try:
        flips, parts = found  # type: ignore[misc]
        computed: dict[Value, Computed] = {
            truth: Computed(toss_distribution(flips, parts, truth), frozenset())  # type: ignore[has-type]
            for truth in (0, 1)
        }
        odds = check_code(question, computed)
    except Mismatch as mismatch:
        return Check(part, question.name, FAILED, question.epsilon, message=str(mismatch))
    except (TypeError, ValueError):
        return Check(part, question.name, FAILED, question.epsilon, message="there are no instructions")
    return Check(part, question.name, PASSED, question.epsilon, rational.log(odds), "all tosses of its instructions")


def _refuse(count: int) -> bytes:
    raise PermissionError(f"{count} bytes were read beside the draws")


def _randomize(question: Question, value: Value, draws: Any) -> int:  # noqa: ANN401 - what stands in for Draws
    return RANDOMIZERS[question.randomizer.name](question.randomizer, value, draws)


def alone(document: Mapping[str, Any]) -> Question:
    """Return the one question of a survey made for it; its texts are not those of the survey."""
    return standing_in(document).questions[0]


def standing_in(*documents: Mapping[str, Any], **more: Any) -> Survey:  # noqa: ANN401 - keys of a survey file
    """Return a survey of these questions, without their texts."""
    survey = {"format": "sottovoce-survey/1", "name": "audit", "revision": 1, "title": {"en": "Audit"}}
    return parse_survey({**survey, "default_language": "en", "questions": [*map(_unlabelled, documents)], **more})


def _unlabelled(document: Mapping[str, Any]) -> dict[str, Any]:
    if "items" in document:
        return {**document, "items": [*map(_unlabelled, document["items"])]}
    label = {"en": "Q"}
    renamed = {**document, "label": label}
    renamed.pop("hint", None)
    for key in ("choices", "coordinates"):
        if key in renamed:
            renamed[key] = [{**item, "label": label} for item in renamed[key]]
    return renamed


class _WatchedDraws(Draws):
    """Draws that note whether anything was drawn."""

    touched = False

    def identity(self) -> str:
        self.touched = True
        return "0" * 32

    def below(self, bound: int) -> int:  # noqa: ARG002 - the signature of Draws
        self.touched = True
        return 0

    def pick(self, weights: Sequence[int]) -> int:  # noqa: ARG002 - the signature of Draws
        self.touched = True
        return 0
