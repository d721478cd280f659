"""Invented respondents: true answers for every question of a survey, and what the estimates ought to find."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.estimators.numbers import grid_of
from sottovoce.aggregator.planning.batch_randomizers import BatchDraws, Values, ask_batch, simulate
from sottovoce.aggregator.planning.skip_logic import hide
from sottovoce.aggregator.results.analysis import Results, Revision, analyse
from sottovoce.aggregator.storage import Cell, StoredSurvey
from sottovoce.aggregator.storage.base import ALL
from sottovoce.aggregator.storage.columns import tally
from sottovoce.shared.answers import Domain
from sottovoce.shared.spec import Question, Survey


def invent(survey: Survey, count: int, seed: int) -> list[Values]:
    """
    True values of ``count`` respondents, an array for each question; the seed decides them.

    Shares of options are drawn uniformly from all distributions, numbers lean towards their lower end. A question that
    is hidden from somebody has its fixed value.
    """
    generator = np.random.Generator(np.random.PCG64(seed))
    truths = [_INVENTORS[question.kind.truth](question.domain, count, generator) for question in survey.questions]
    return hide(survey, truths)


def pilot(survey: Survey, truths: list[Values], draws: BatchDraws) -> Results:
    """The results of a closed survey whose respondents have these true values, through the batch client."""
    reported = randomized(survey, truths, draws)
    tallies = {index: tally(values, survey.masks.get(index, 0)) for index, values in enumerate(reported)}
    n = len(truths[0])
    stored = StoredSurvey(0, survey.name, survey.revision, survey.digest, survey.canonical, True, n)
    return analyse([Revision(stored, survey, (Cell(0, ALL, n, 0, tallies),))])


def randomized(survey: Survey, truths: list[Values], draws: BatchDraws) -> list[Values]:
    """What those who are asked it report, an array for each question; also what they toss by hand."""
    asked = ask_batch(survey, len(truths[0]), draws)
    return [
        truth if question.mechanism is None else simulate(question.mechanism, truth[asks], draws)
        for question, truth, asks in zip(survey.questions, truths, asked, strict=True)
    ]


def true_figure(question: Question, truth: Values, estimate: Estimate) -> float | None:
    """What an estimate ought to find; None for the share of a bin."""
    if question.kind.truth == "numbers":
        return float(_in_units(question, truth[:, question.options.index(estimate.option)]).mean())
    if question.domain.grid is not None:
        return _of_number(_in_units(question, truth), estimate)
    index = question.options.index(estimate.option)
    chosen = truth >> index & 1 if question.kind.truth == "options" else truth == index
    return float(chosen.mean())


def answers_of(survey: Survey, truths: list[Values], respondent: int) -> dict[str, Any]:
    """One invented respondent's answers, as a form would give them."""
    return {
        question.name: _answer(question, truth[respondent].tolist())
        for question, truth in zip(survey.questions, truths, strict=True)
    }


def _of_number(values: NDArray[np.float64], estimate: Estimate) -> float | None:
    if estimate.kind == "mean":
        return float(values.mean())
    if estimate.kind == "quantile":
        return float(np.quantile(values, int(estimate.option[1:]) / 100))
    return None


def _in_units(question: Question, steps: Values) -> NDArray[np.float64]:
    grid = grid_of(question.domain)
    return float(grid.low) + float(grid.step) * steps.astype(np.float64)


def _answer(question: Question, value: Any) -> Any:  # noqa: ANN401 - as the question's type has it
    if question.domain.absent and value == question.absent:
        return None
    return question.answer(value)


def _options(domain: Domain, count: int, generator: np.random.Generator) -> Values:
    shares = generator.dirichlet(np.ones(domain.size))
    return generator.choice(domain.size, size=count, p=shares).astype(np.int64)


def _masks(domain: Domain, count: int, generator: np.random.Generator) -> Values:
    shares = generator.beta(1, 3, size=domain.size)
    chosen = generator.random((count, domain.size)) < shares
    # Whoever chose too many keeps the first ones.
    chosen &= chosen.cumsum(axis=1) <= domain.max_choices
    masks: Values = (chosen.astype(np.int64) << np.arange(domain.size)).sum(axis=1)
    return masks


def _steps(domain: Domain, count: int, generator: np.random.Generator) -> Values:
    return np.rint(generator.beta(2, 5, size=count) * domain.steps).astype(np.int64)


def _vectors(domain: Domain, count: int, generator: np.random.Generator) -> Values:
    return np.column_stack([_steps(domain, count, generator) for _ in domain.options])


_INVENTORS: dict[str, Callable[[Domain, int, np.random.Generator], Values]] = {
    "yes_no": _options,
    "option": _options,
    "options": _masks,
    "number": _steps,
    "numbers": _vectors,
}

