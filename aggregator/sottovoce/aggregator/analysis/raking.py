"""
Weights that make the reports agree with what is known of the population: post-stratification and raking.

Only on public questions. Raking to the known margin of a randomized question gains at most (phi rel)^2 of the variance,
rel = p (1 - p) (a - b)^2 / (l (1 - l)): with a coin flip and phi = .5 that is 1.6 %. Such a margin is better used as an
alarm, by comparing the estimate with it.

Post-stratification   w = N_cell / n_cell for the cells of all named questions together: raking with a single margin.
Raking                each margin in turn multiplied to its known shares, until all of them hold.
Source                Deming and Stephan 1940.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.aggregator.analysis.variable_columns import Answers
from sottovoce.aggregator.analysis.weights import checked_weights, kish_effect, weight_warnings
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.sentence import Sentence

NO_NUMBER = "the margin of '{variable}' must hold numbers of 0 or more"
SMALLEST_CELL = 2
_ROUNDS = 1000
_EXACT = 1e-10

Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Margin:
    """
    What is known of one question, or of several together.

    Attributes:
        answers: the questions, each public.
        shares: by category the known share or number; with several questions by a tuple of categories.
    """

    answers: tuple[Answers, ...]
    shares: Mapping[str | tuple[str, ...], float]

    @property
    def name(self) -> str:
        """Of the questions."""
        return " x ".join(answers.name for answers in self.answers)


@dataclass(frozen=True)
class Weights:
    """
    Weights with mean 1.

    Attributes:
        weights: (n,).
        groups: for each margin the group of each report, from which the cells of the residual error are made.
        deff: Kish's design effect.
        warnings: what is to be said beside results with these weights.
    """

    weights: Array
    groups: tuple[Codes, ...]
    deff: float
    warnings: tuple[str, ...]


def rake(margins: Sequence[Margin]) -> Weights:
    """
    The weights that make all margins hold; with a single margin, post-stratification.

    Args:
        margins: one or more, on the same reports.

    Raises:
        EstimateError: a question is randomized or a number, a margin names no cell or leaves one out, a cell has fewer
            than two reports, the margins contradict each other, or the weights become too unequal.
    """
    if not margins:
        raise EstimateError("name at least one margin")
    known = [_groups(margin) for margin in margins]
    n = len(known[0][0])
    weights = _fitted(known, n)
    checked = checked_weights(weights * n / weights.sum(), n)
    warnings = tuple(weight_warnings(checked))
    return Weights(checked, tuple(groups for groups, _ in known), kish_effect(checked), warnings)


def _fitted(known: Sequence[tuple[Codes, Array]], n: int) -> Array:
    """Each margin in turn, until a whole round changes nothing."""
    weights = np.full(n, 1 / n)
    for _ in range(_ROUNDS):
        furthest = 0.0
        for groups, shares in known:
            factors = shares / np.bincount(groups, weights=weights, minlength=len(shares))
            weights = weights * factors[groups]
            furthest = max(furthest, float(np.abs(factors - 1).max()))
        if furthest < _EXACT:
            return weights
    raise EstimateError("no weights make all these margins hold: they contradict each other or the reports")


def _groups(margin: Margin) -> tuple[Codes, Array]:
    """The group of each report, and the known share of each group."""
    _refuse_unfit(margin)
    names = _cell_names(margin.answers)
    unknown = [_text(name) for name in margin.shares if name not in names]
    if unknown:
        raise EstimateError(
            Sentence(
                "the margin of '{variable}' names no cell: {known}", variable=margin.name, known=", ".join(unknown)
            )
        )
    people = np.bincount(_codes(margin.answers), minlength=len(names))
    if not all(isinstance(share, Real) for share in margin.shares.values()):
        raise EstimateError(Sentence(NO_NUMBER, variable=margin.name))
    shares = np.array([float(margin.shares.get(name, 0.0)) for name in names])
    _refuse_cells(margin.name, [_text(name) for name in names], people, shares)
    there = people > 0
    return (np.cumsum(there) - 1)[_codes(margin.answers)], shares[there] / shares.sum()


def _refuse_unfit(margin: Margin) -> None:
    for answers in margin.answers:
        if not answers.variable.public:
            raise EstimateError(
                Sentence(
                    "'{variable}' is randomized: no weights are raked to it; compare the known share with its estimate",
                    variable=answers.name,
                )
            )
        if not answers.variable.categories:
            raise EstimateError(
                Sentence(
                    "'{variable}' is a number; weights are raked to the options of a question", variable=answers.name
                )
            )
        if not answers.observed.all():
            raise EstimateError(
                Sentence(
                    "'{variable}' was not asked of everybody, so that not every report gets a weight",
                    variable=answers.name,
                )
            )


def _refuse_cells(name: str, cells: Sequence[str], people: NDArray[np.intp], shares: Array) -> None:
    if not (np.isfinite(shares).all() and np.all(shares >= 0) and shares.sum() > 0):
        raise EstimateError(Sentence(NO_NUMBER, variable=name))
    if shares.max() <= 1 and abs(shares.sum() - 1) > 1e-6:
        raise EstimateError(Sentence("the shares of '{variable}' do not add up to 1", variable=name))
    for cell, count, share in zip(cells, people, shares, strict=True):
        if count and not share:
            raise EstimateError(
                Sentence(
                    "the margin of '{variable}' leaves out '{category}', which some reports have",
                    variable=name,
                    category=cell,
                )
            )
        if share and count < SMALLEST_CELL:
            raise EstimateError(
                Sentence(
                    "fewer than {least} reports are in '{category}' of '{variable}'; join it with another",
                    least=SMALLEST_CELL,
                    category=cell,
                    variable=name,
                )
            )


def _cell_names(answers: Sequence[Answers]) -> list[str | tuple[str, ...]]:
    if len(answers) == 1:
        return list(answers[0].variable.categories)
    names: list[tuple[str, ...]] = [()]
    for each in answers:
        names = [(*name, category) for name in names for category in each.variable.categories]
    return list(names)


def _codes(answers: Sequence[Answers]) -> Codes:
    codes = np.zeros(len(answers[0].codes), np.intp)
    for each in answers:
        codes = codes * len(each.variable.categories) + each.scores.argmax(axis=1)[each.codes]
    return codes


def _text(name: str | tuple[str, ...]) -> str:
    return name if isinstance(name, str) else " and ".join(name)
