"""Follow a device through the whole history of its answers, along every branch: the set of questions that it draws
before any is shown, what its ledger remembers, and a report for each wave.

What a device remembers could tell what one report never does: a set that follows an answer, a noise that is the same in
every wave, a permanent answer that is drawn anew. Surveys that stand in for the audited one keep the branches few.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import chain, combinations, islice, product
from typing import Any

from sottovoce.audit.check import FAILED, NOT_DONE, NOT_FOLLOWED, PASSED, Check
from sottovoce.audit.exact_channel import (
    ALL_PROBABILITIES,
    MAX_PATHS,
    Computed,
    Distribution,
    Mismatch,
    TooManyPaths,
    check_claim,
    check_reads,
    compute,
    has_too_many,
    inputs_of,
    reports_of,
)
from sottovoce.audit.python_code import private, smaller, standing_in
from sottovoce.client.draws import Draws
from sottovoce.client.ledger import MemoryLedger
from sottovoce.client.question_sample import draw_asked
from sottovoce.client.respondent import Respondent
from sottovoce.shared import rational
from sottovoce.shared.accounting import Allowance
from sottovoce.shared.answers import Value
from sottovoce.shared.arms.arms import Block, samples
from sottovoce.shared.errors import SurveyError
from sottovoce.shared.mechanisms.joint_rr import JointRR
from sottovoce.shared.mechanisms.memoized_rr import MemoizedRR
from sottovoce.shared.questions import dump_question
from sottovoce.shared.report import parse_report, receipt
from sottovoce.shared.spec import Question, Survey

WAVES = 2
"""Reports that are followed; one memo's reports in more waves have a closed form, which these two agree with."""

MOST = 256
"""Most ways through a history with one trajectory of the truth."""

ASKED = "questions asked"
PARTLY = "answers to those asked"

_COIN = {"type": "boolean", "mechanism": {"name": "coin_flip"}}
_WRONG = "the reports of one device together have another distribution than the survey's"

Truths = tuple[tuple[Value, ...], ...]
"""For each wave, the true values of all questions, asked or not."""


@dataclass(frozen=True)
class DeviceHistory:
    """All reports of one device over the waves of a survey, whose joint distribution is enumerated.

    Attributes:
        survey: the audited survey, or a smaller one in its place.
        truths: sequences of true values to try.
        distribution: joint distribution of all reports for given truths, computed from the survey file.
        claim: epsilon of all reports together.
        own: whether these are the audited survey's own questions, so that the figure is theirs.
    """

    subject: str
    survey: Survey
    truths: tuple[Truths, ...]
    distribution: Callable[[Truths], Distribution]
    claim: float
    own: bool
    scope: str

    @property
    def figure(self) -> float | None:
        """The claim, if it is one of the audited survey's."""
        return self.claim if self.own else None

    @property
    def answers(self) -> list[list[dict[str, Any]]]:
        """The answers in each wave for each of the truths: to all questions, asked or not."""
        return [[answers_of(self.survey, truth) for truth in truths] for truths in self.truths]


def histories_of(survey: Survey) -> tuple[list[DeviceHistory], list[Check]]:
    """Return the histories of a survey with ``ask``, waves or a memo, and a check for each that is too large."""
    found, lacking = [], []
    if survey.is_sampled:
        found.append(_partly_asked(_drawn(survey)))
    for block in survey.blocks:
        together = _together(survey, block)
        message = "the branches of a block's draws are too many"
        found += [together] if together else []
        lacking += [] if together else [Check("python", f"{block.name} together", NOT_DONE, message=message)]
    for question in [] if survey.own_coin else private(survey):
        if question.randomizer.waves == 1 and len(survey.waves) == 1:
            continue
        history = _waves(question)
        if history is None:
            message = "the branches of two waves are too many, those of a smaller question as well"
            lacking.append(Check("python", _two(question), NOT_DONE, message=message))
        else:
            found.append(history)
    return found, lacking


def check_histories(found: Sequence[DeviceHistory]) -> Iterator[Check]:
    """Check the distribution of the Python client's whole histories."""
    for history in found:
        try:
            computed = compute(partial(_reports_of_device, history.survey), history.truths)  # type: ignore[arg-type]
        except (TooManyPaths, SurveyError, ValueError):
            yield Check("python", history.subject, FAILED, history.figure, None, history.scope, NOT_FOLLOWED)
        else:
            yield judge_history("python", history, computed)  # type: ignore[arg-type]


def judge_history(part: str, history: DeviceHistory, computed: Mapping[Truths, Computed]) -> Check:
    """Judge distributions of all reports together, computed from code, against the survey's."""
    try:
        check_reads(computed.values())
        if any(row.distribution != history.distribution(truths) for truths, row in computed.items()):
            raise Mismatch(_WRONG)
        rows = [row.distribution for row in computed.values()]
        worst = max(max(row[seen] for row in rows) / min(row[seen] for row in rows) for seen in rows[0])
        check_claim(worst, history.claim)
    except Mismatch as mismatch:
        return Check(part, history.subject, FAILED, history.figure, None, history.scope, str(mismatch))
    epsilon = rational.log(worst) if history.own else None
    return Check(part, history.subject, PASSED, history.figure, epsilon, history.scope)


def set_survey(survey: Survey) -> Survey | None:
    """Return the survey whose sets of questions are followed: itself, or one with fewer; None if all are asked."""
    if not survey.is_sampled:
        return None
    whole = survey.ask is not None and not survey.arms and math.perm(len(survey.units), survey.ask) <= MAX_PATHS
    return survey if whole else _coins(6, min(_drawn(survey), 3))


def _drawn(survey: Survey) -> int:
    """Return the number of questions that devices draw, in the arm or block that comes first."""
    return next(sample.size for arm in range(len(survey.places_by_arm)) for sample in samples(survey, arm))


def check_set(survey: Survey) -> Iterator[Check]:
    """Check the distribution of the set that the Python client draws under ``ask``."""
    drawn = set_survey(survey)
    if drawn is not None:
        computed = compute(lambda _, draws: set_as_text(draw_asked(drawn, draws)), [0])  # type: ignore[arg-type, return-value]
        yield judge_set("python", survey, drawn, computed[0].distribution)


def judge_set(part: str, survey: Survey, drawn: Survey, found: Distribution) -> Check:
    """Check that every set of as many private questions, with all public ones, is equally likely.

    ``drawn`` is the audited survey or a smaller one; ``found`` has its sets as ``set_as_text`` writes them.
    """
    places = range(len(drawn.questions))
    sets = [
        set_as_text([place for place in places if place not in drawn.private or place in {*chain(*subset)}])
        for subset in combinations(drawn.units, drawn.ask or 0)
    ]
    scope = f"the set: each of {len(sets)}" + ("" if drawn is survey else " of a smaller survey")
    if found == dict.fromkeys(sets, Fraction(1, len(sets))):
        return Check(part, ASKED, PASSED, scope=scope)
    return Check(part, ASKED, FAILED, scope=scope, message="not every set of questions is equally likely")


def set_as_text(places: Sequence[int]) -> str:
    """Format a set of questions as text, the same in both languages."""
    return json.dumps(list(places), separators=(",", ":"))


def reports_as_text(values: Sequence[Sequence[int | None]]) -> str:
    """Format the reports of a history as text, the same in both languages: each wave's number and values."""
    return json.dumps([[wave, list(row)] for wave, row in enumerate(values)], separators=(",", ":"))


def answers_of(survey: Survey, truth: Sequence[Value]) -> dict[str, Any]:
    """Return the answers that have these true values; where one stands for a refusal, None."""
    return {each.name: answer_of(each, value) for each, value in zip(survey.questions, truth, strict=True)}


def answer_of(question: Question, value: Value) -> Any:  # noqa: ANN401 - in the form of the question's type
    """Return the answer with a true value; None where the question has a home for no answer, and this is it."""
    return None if question.domain.absent and value == question.absent else question.answer(value)


def _partly_asked(ask: int) -> DeviceHistory:
    """Return the history of three coins of which one or two are tossed."""
    survey = _coins(3, min(ask, 2))
    truths = tuple((truth,) for truth in product((0, 1), repeat=3))
    scope = f"a survey of 3 coins that asks {survey.ask} of each person, all {len(truths)} truths"
    return DeviceHistory(PARTLY, survey, truths, partial(_distribution_of_set, survey), survey.epsilon, False, scope)


def _distribution_of_set(survey: Survey, truths: Truths) -> Distribution:
    [truth] = truths
    sets = list(combinations(survey.private, survey.ask or 0))
    distribution: Distribution = {}
    for subset in sets:
        for reported in product((0, 1), repeat=len(subset)):
            given = dict(zip(subset, reported, strict=True))
            row = [given.get(place) for place in survey.private]
            likely = Fraction(1, len(sets))
            for place, value in given.items():
                likely *= survey.questions[place].randomizer.probability(value, truth[place])
            distribution[reports_as_text([row])] = likely
    return distribution


def _together(survey: Survey, block: Block) -> DeviceHistory | None:
    """Return the questions of a block, all shown, in one wave; None if there are too many branches."""
    kept = [dump_question(survey.questions[place]) for place in block.questions[: block.mechanism.asked]]
    alone = standing_in({"block": block.name, "mechanism": block.mechanism.dump(), "items": kept})
    cells = [*islice(product(*map(range, block.mechanism.asked_sizes)), MOST + 1)]
    if len(cells) > MOST:
        return None
    truths = tuple(((*cell,),) for cell in cells)
    scope = f"all {len(truths)} combinations of the answers that are randomized together"
    distribution = partial(_distribution_of_block, block.mechanism, cells)
    return DeviceHistory(f"{block.name} together", alone, truths, distribution, block.mechanism.epsilon, True, scope)


def _distribution_of_block(block: JointRR, cells: Sequence[Sequence[int]], truths: Truths) -> Distribution:
    (truth,) = truths
    return {reports_as_text([cell]): block.probability(truth, cell) for cell in cells}  # type: ignore[arg-type]


def _waves(question: Question) -> DeviceHistory | None:
    """Return the question alone, or a smaller one with its mechanism, in two waves; None if there are too many
    branches.
    """
    memoized = isinstance(question.mechanism, MemoizedRR)
    for run in (question, *(smaller(question, size) for size in (6, 3, 2))):
        if run is None:
            continue
        document = dump_question(run)
        if memoized:
            document["mechanism"] = {**document["mechanism"], "waves": WAVES}
        survey = standing_in(document, waves=[_year(wave) for wave in range(WAVES)])
        [asked] = survey.questions
        truths = tuple(tuple((value,) for value in row) for row in product(inputs_of(asked, 2)[:2], repeat=WAVES))
        if has_too_many(partial(_reports_of_device, survey, truths[0]), MOST):
            continue
        claim = asked.epsilon if memoized else WAVES * asked.epsilon
        scope = f"{len(truths)} courses of the truth through two waves"
        scope += f" of the {question.randomizer.waves} that a memo covers" if memoized else ""
        scope += "" if run is question else " of a smaller question"
        distribution = partial(_distribution_of_waves, asked)
        return DeviceHistory(_two(question), survey, truths, distribution, claim, run is question, scope)
    return None


def _two(question: Question) -> str:
    return f"{question.name} in two waves"


def _distribution_of_waves(question: Question, truths: Truths) -> Distribution:
    reports = reports_of(question, ALL_PROBABILITIES)
    values = [truth for (truth,) in truths]
    rows = product(reports, repeat=len(values))
    return {reports_as_text([[y] for y in row]): _likely(question, row, values) for row in rows}


def _likely(question: Question, reported: Sequence[int], values: Sequence[Any]) -> Fraction:
    """Return P(one report for each wave | a true value for each)."""
    mechanism = question.randomizer
    if not isinstance(mechanism, MemoizedRR):
        return _product(mechanism.probability(y, x) for y, x in zip(reported, values, strict=True))
    total = Fraction(0)
    for memo in product((0, 1), repeat=2):
        weight = _product(mechanism.permanent.probability(memo[x], x) for x in (0, 1))
        pairs = zip(reported, values, strict=True)
        total += weight * _product(mechanism.instantaneous.probability(y, memo[x]) for y, x in pairs)
    return total


def _product(factors: Iterable[Fraction]) -> Fraction:
    return math.prod(factors, start=Fraction(1))


def _coins(count: int, ask: int) -> Survey:
    return standing_in(*({**_COIN, "name": f"q{place}"} for place in range(count)), ask=ask)


def _year(wave: int) -> dict[str, str]:
    return {"opens": f"{2001 + wave}-01-01T00:00:00Z", "closes": f"{2002 + wave}-01-01T00:00:00Z"}


class _Nameless(Draws):
    """Draws with equal ids, so that reports differ only by their values."""

    def __init__(self, draws: Any) -> None:  # noqa: ANN401 - what stands in for Draws
        self.below, self.pick = draws.below, draws.pick  # type: ignore[method-assign]

    def identity(self) -> str:
        return "0" * 32


class _Caught:
    """A stand-in for an aggregator that keeps the bodies."""

    origin = "https://audit.invalid"

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    def submit(self, survey: str, body: bytes, token: str = "") -> dict[str, Any]:  # noqa: ARG002 - of any transport
        self.bodies.append(body)
        return receipt(parse_report(body), body)


def _reports_of_device(survey: Survey, truths: Truths, draws: Any) -> str:  # noqa: ANN401 - what stands in for Draws
    """Return the reports of one device as the Python client makes them: a respondent for each wave, one ledger for
    all.
    """
    ledger, caught = MemoryLedger(), _Caught()
    for wave, truth in enumerate(truths):
        any_price = Allowance(math.inf, math.inf)
        person = Respondent(survey, caught, ledger, draws=_Nameless(draws), allowance=any_price, wave=wave)  # type: ignore[arg-type]
        _ = person.asked  # drawn, as people do, before anything is answered
        person.answer(answers_of(survey, truth))
    reports = [parse_report(body) for body in caught.bodies]
    return json.dumps([[report.wave, list(report.values)] for report in reports], separators=(",", ":"))
