"""Build the design matrix of a regression from the terms of its formula.

A public answer becomes an indicator for each category that occurs, except the first or the chosen reference; a public
number becomes one column, and so does an arithmetic expression of public numbers. A randomized answer becomes the
scores of its categories except the first, and a randomized number its score. An interaction is the product of its
factors; the corrected equations need unbiased scores of the products of any two columns with a randomized predictor.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations_with_replacement, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sottovoce.aggregator.analysis.regression.corrected_least_squares import Correction
from sottovoce.aggregator.analysis.regression.formula import Calculation, Factors, Scales, evaluate
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.aggregator.analysis.report_columns import Answers, joint_answers
from sottovoce.aggregator.estimators.blocks.joint_channel import blocks_of
from sottovoce.shared.errors import EstimateError

CONSTANT = "(constant)"
STRATUM = "(stratum)"
# As for cohorts: public answers have no noise, so the coefficient of a smaller group would describe its people.
SMALLEST_GROUP = 5
_STEP = 1e-5

Row = NDArray[np.intp]


@dataclass(frozen=True)
class Term:
    """A column of a design: a product of indicators and numbers.

    Attributes:
        predictor: term of the formula that the column belongs to.
        factors: factors of that term.
        groups: category of each categorical factor that the indicators select.
        numbers: numeric factors.
    """

    name: str
    predictor: str
    factors: Factors = ()
    groups: Mapping[str, str] = field(default_factory=dict)
    numbers: tuple[Calculation, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables in the column."""
        return (*self.groups, *(name for number in self.numbers for name in number.names))


@dataclass(frozen=True)
class Recipe:
    """Columns of a design without their values.

    Attributes:
        terms: one for each column, (p,).
        groups: categories of each categorical predictor, the reference category first.
        scales: constants of the expressions.
        units: by term, the step of its odds ratio: 1 of a category, one standard deviation of a public number;
            none of a randomized number.
    """

    terms: tuple[Term, ...]
    groups: Mapping[str, tuple[str, ...]]
    scales: Scales
    units: Mapping[str, float] = field(default_factory=dict)

    @property
    def numbers(self) -> tuple[str, ...]:
        """Names of the numeric predictors."""
        return tuple(dict.fromkeys(name for term in self.terms for name in term.names if name not in term.groups))

    def effects(self) -> Iterator[tuple[str, str | None, str, int]]:
        """Yield what can change: term and base (None of a number), and the predictor with the place of its category."""
        for name in dict.fromkeys(name for term in self.terms for name in term.names):
            base, *others = self.groups.get(name, ("",))
            yield from ((f"{name}={category}", base, name, place) for place, category in enumerate(others, 1))
            yield from () if others else ((name, None, name, 0),)

    def columns(self, people: Mapping[str, ArrayLike]) -> Array:
        """Return the values of all columns, (p, m), for people with these predictors; without those not given.

        Args:
            people: (m,), or one for all: the place of the category in ``groups``, or the number, of each predictor.
        """
        values = {name: np.asarray(value) for name, value in people.items()}
        shape, found = np.broadcast_shapes(*(value.shape for value in values.values())), []
        for term in self.terms:
            product = np.ones(shape)
            for name, group in term.groups.items():
                product = product * (values[name] == self.groups[name].index(group) if name in values else 1)
            for number in term.numbers:
                given = values.keys() >= {*number.names}
                product = product * (evaluate(number, values, self.scales) if given else 1)
            found.append(product)
        return np.array(found, dtype=float)


class Factor(NamedTuple):
    """A randomized factor of a product: the indicator of a category, or a number ("") or its square."""

    answers: Answers
    category: str
    squared: bool = False


@dataclass(frozen=True)
class Design:
    """A design matrix of a regression.

    Attributes:
        recipe: what the columns are.
        columns: (p, n), with the scores of randomized predictors.
        public: (p, n), the product of the public factors of each column.
        randomized: the randomized predictors.
        rows: (n,), indices of the reports used.
        people: public predictors of these reports, as for ``Recipe.columns``, (n,) each.
    """

    recipe: Recipe
    columns: Array
    public: Array
    randomized: tuple[Answers, ...]
    rows: Row
    people: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def terms(self) -> tuple[Term, ...]:
        """Term of each column, (p,)."""
        return self.recipe.terms

    @cached_property
    def known(self) -> "Design":
        """Design of the columns without a randomized predictor."""
        return self.without({each.name for each in self.randomized})

    def without(self, names: Set[str]) -> "Design":
        """Return the design of the columns without some predictors, all randomized ones among them."""
        indices = [place for place, term in enumerate(self.terms) if names.isdisjoint(term.names)]
        terms = tuple(self.terms[place] for place in indices)
        columns = np.ascontiguousarray(self.public[indices])
        return replace(self, recipe=replace(self.recipe, terms=terms), columns=columns, public=columns, randomized=())

    def at(self, places: Row) -> "Design":
        """Return the design of some of its reports."""
        people = {name: values[places] for name, values in self.people.items()}
        columns, public = self.columns[:, places], self.public[:, places]
        return replace(self, columns=columns, public=public, rows=self.rows[places], people=people)

    @cached_property
    def corrections(self) -> tuple[Correction, ...]:
        """Unbiased scores of the products of columns that share a randomized predictor."""
        pairs = combinations_with_replacement(range(len(self.terms)), 2)
        shared = (pair for pair in pairs if self._sources(pair[0]) & self._sources(pair[1]))
        return tuple(Correction(*pair, self._products(*pair)) for pair in shared)

    def _sources(self, column: int) -> set[Hashable]:
        """Return the predictors and blocks whose randomization a column has."""
        there = [each for each in self.randomized if each.name in self.terms[column].names]
        blocks = {each.variable.block[:2] for each in there if each.variable.block is not None}
        return {*(each.name for each in there), *blocks}

    def _products(self, *columns: int, beside: tuple[Factor, ...] = ()) -> Array | None:
        """Return scores of the true product of columns, and of an outcome's category; None if it is always 0."""
        terms = [self.terms[column] for column in columns]
        factors = list(beside)
        for each in self.randomized:
            having = [term for term in terms if each.name in term.names]
            categories = {term.groups.get(each.name, "") for term in having}
            if len(categories) > 1:
                # Two categories of one answer exclude each other.
                return None
            factors += [Factor(each, category, squared=len(having) > 1) for category in categories]
        found: Array = np.prod([self.public[column] for column in columns], axis=0)
        return found * product_scores(factors, self.rows)

    def is_linked(self, outcome: Answers) -> bool:
        """Return True if the outcome is reported in one block with a predictor."""
        block = outcome.variable.block
        return block is not None and any(block[:2] in self._sources(column) for column in range(len(self.terms)))

    def with_outcome(self, outcome: Answers, category: str) -> Array:
        """Return unbiased scores of each column times a category of a linked outcome, (p, n)."""
        beside = (Factor(outcome, category),)
        found = [self._products(column, beside=beside) for column in range(len(self.terms))]
        return np.stack([np.zeros(len(self.rows)) if each is None else each for each in found])

    def corrections_among_answered(self, outcome: Answers) -> list[Correction]:
        """Return unbiased scores of the products of all columns among the people who answered a linked outcome."""
        absent = (Factor(outcome, outcome.variable.categories[-1]),)
        found = []
        for first, second in combinations_with_replacement(range(len(self.terms)), 2):
            whole, declined = self._products(first, second), self._products(first, second, beside=absent)
            found.append(Correction(first, second, None if whole is None or declined is None else whole - declined))
        return found

    @property
    def latent(self) -> tuple[Answers, ...]:
        """The randomized predictors with categories, also those that are numbers in the columns."""
        return tuple(each.latent for each in self.randomized)

    def cells(self) -> tuple[tuple[tuple[int, ...], ...], Array]:
        """Return the joint categories of the randomized predictors, and the factor of each column there, (cells, p)."""
        cells = tuple(product(*[range(len(each.variable.categories)) for each in self.latent]))
        return cells, np.stack([self._factors(self._values(cell)) for cell in cells])

    def moved(self, cell: tuple[int, ...], name: str, category: int) -> tuple[Array, Array]:
        """Return the factor of each column in a cell with the base of a randomized predictor, and with a category.

        Both are of the cell itself if the predictor is another one; ``category`` is a place in the groups. A number
        moves by a small step to both sides.
        """
        groups, ends = self.recipe.groups.get(name, ()), [self._values(cell), self._values(cell)]
        for place, each in enumerate(self.randomized):
            for end, there, step in zip(ends, (0, category), (-_STEP, _STEP), strict=True):
                if each.name == name:
                    end[place] = each.variable.categories.index(groups[there]) if groups else end[place] + step
        return self._factors(ends[0]), self._factors(ends[1])

    def _values(self, cell: tuple[int, ...]) -> list[float]:
        """Return the category of each randomized predictor in a cell, or its number."""
        return [each.variable.levels[at] if each.variable.levels else at
                for each, at in zip(self.randomized, cell, strict=True)]  # fmt: skip

    def _factors(self, values: Sequence[float]) -> Array:
        """Return the factor of each column, (p,); a column without a predictor has the factor 1."""
        found = np.ones(len(self.terms))
        for each, value in zip(self.randomized, values, strict=True):
            for column, term in enumerate(self.terms):
                if each.name in term.names:
                    found[column] *= value if each.variable.levels else self._category(each, term) == value
        return found

    def ends(self, name: str, category: int, part: slice) -> tuple[Array, Array, Array]:
        """Return the public columns with the base of a predictor, those with a category, and how far both are apart.

        Those of a number are a small step to both sides of it, (p, m) each and (m,).
        """
        people = {each: values[part] for each, values in self.people.items()}
        if name not in people:
            columns = self.public[:, part]
            return columns, columns, np.full(columns.shape[1], 1.0 if name in self.recipe.groups else 2 * _STEP)
        low, high, width = np.zeros(1), np.full(1, category), np.ones(1)
        if name not in self.recipe.groups:
            values, spread = people[name], float(np.std(self.people[name])) or 1.0
            # Logarithms of small numbers need small steps; rounding forbids them elsewhere.
            width = _STEP * np.where(values, np.clip(np.abs(values), _STEP * spread, spread), spread)
            low, high = values - width, values + width
            width = high - low
        return self.recipe.columns({**people, name: low}), self.recipe.columns({**people, name: high}), width

    def changes(self) -> Iterator[Array]:
        """Yield unbiased scores of what columns change by in each of ``effects``, (p, n); none without products."""
        plain = not any(len(each.factors) > 1 or any(one.parts for one in each.numbers) for each in self.terms)
        for *_, name, category in () if plain else self.recipe.effects():
            low, high, width = self.ends(name, category, slice(None))
            found, groups = np.zeros(self.public.shape), self.recipe.groups.get(name, ("",))
            for column, term in enumerate(self.terms):
                factors = [
                    Factor(one, term.groups.get(one.name, "")) for one in self.randomized if one.name in term.names
                ]
                change = (high[column] - low[column]) / width
                if name in term.names and name not in self.people:
                    at, base = term.groups.get(name, ""), groups[0] if category else None
                    change = self.public[column] * (float(at == groups[category]) - float(at == base))
                others = [one for one in factors if one.answers.name != name]
                found[column] = change * product_scores(others, self.rows)
            yield found

    @staticmethod
    def _category(answers: Answers, term: Term) -> int | None:
        group = term.groups.get(answers.name)
        return None if group is None else answers.variable.categories.index(group)


def product_scores(factors: Sequence[Factor], rows: Row) -> Array:
    """Return unbiased scores of a product of different variables, (m,) or a single 1; a block is scored together."""
    found: Array = np.ones(1)
    for places in blocks_of([each.answers.variable for each in factors]):
        together = [factors[place] for place in places]
        if len(together) == 1:
            [one] = together
            found = found * scores_of(one.answers, one.category, rows, squared=one.squared)
        else:
            categories = [each.answers.variable.categories.index(each.category) for each in together]
            joint = joint_answers([each.answers for each in together], rows)
            found = found * joint.scores(categories)[joint.codes]
    return found


def scores_of(answers: Answers, category: str, rows: Row, *, squared: bool) -> Array:
    """Return unbiased scores of a randomized factor, (m,); raise EstimateError if a number has none of its square."""
    codes = answers.codes[rows]
    if category:
        # An indicator is its own square.
        return answers.scores[:, answers.variable.categories.index(category)][codes]
    if answers.squares is None:
        raise EstimateError(
            "'{variable}': its reports do not show how much it varies, so it cannot be a predictor",
            variable=answers.name,
        )
    return (answers.squares if squared else answers.scores)[codes]


def known_categories(answers: Answers, rows: Row) -> Row:
    """Return the category index of each of these reports on a public question, (m,)."""
    # Scores of a public answer are indicators, so the largest one is the answer.
    truth: Row = answers.scores.argmax(axis=1)[answers.codes[rows]]
    return truth


def refuse_small_cells(outcome: Answers, predictors: Sequence[Answers], rows: Row, smallest: int) -> None:
    """Raise EstimateError if a nonempty cell of a public outcome and a public predictor has under ``smallest`` reports.

    No noise protects public answers, so such a regression would describe identifiable people.
    """
    public = [each for each in (outcome, *predictors) if each.variable.public and each.variable.categories]
    for other in public[1:] if public[:1] == [outcome] else []:
        cells = known_categories(outcome, rows) * len(other.variable.categories) + known_categories(other, rows)
        people = np.bincount(cells)
        if np.any((people > 0) & (people < smallest)):
            raise EstimateError(
                "fewer than {least} people gave some two answers to '{variable}' and '{other}', which are both "
                "public; leave this predictor out",
                least=smallest,
                variable=outcome.name,
                other=other.name,
            )
