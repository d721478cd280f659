"""
Build the design matrix of a regression from the terms of its formula.

A public answer becomes an indicator for each category that occurs, except the first or the chosen reference; a public
number becomes one column, and so does an arithmetic expression of public numbers. A randomized answer becomes the
scores of its categories except the first, and a randomized number its score. An interaction is the product of its
factors; the corrected equations need unbiased scores of the products of any two columns with a randomized predictor.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement, product
from math import prod

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.regression.corrected_least_squares import Correction
from sottovoce.aggregator.analysis.regression.expression import Scales, evaluate, scales_of
from sottovoce.aggregator.analysis.regression.formula_terms import Calculation, Factors, Formula
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.aggregator.analysis.regression.term_coding import codings
from sottovoce.aggregator.analysis.variable_columns import Answers
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.sentence import Sentence

CONSTANT = "(constant)"
STRATUM = "(stratum)"
SMALLEST_GROUP = 5

Row = NDArray[np.intp]


@dataclass(frozen=True)
class Term:
    """
    One column of a design: a product of indicators and numbers.

    Attributes:
        name: name of the column.
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
    """
    Columns of a design without their values.

    Attributes:
        terms: one for each column, (p,).
        groups: categories of each categorical predictor, the reference category first.
        scales: constants of the expressions.
    """

    terms: tuple[Term, ...]
    groups: Mapping[str, tuple[str, ...]]
    scales: Scales

    @property
    def numbers(self) -> tuple[str, ...]:
        """Names of the numeric predictors."""
        return tuple(dict.fromkeys(name for term in self.terms for name in term.names if name not in term.groups))

    def row(self, groups: Mapping[str, str], numbers: Mapping[str, float]) -> list[float]:
        """
        Return the values of all columns for one person.

        Args:
            groups: category of each categorical predictor.
            numbers: value of each numeric predictor.
        """
        values = {name: np.array(value) for name, value in numbers.items()}
        found = []
        for term in self.terms:
            inside = all(groups[name] == group for name, group in term.groups.items())
            factors = [float(evaluate(number, values, self.scales)) for number in term.numbers]
            found.append(inside * prod(factors))
        return found


@dataclass(frozen=True)
class Design:
    """
    Design matrix of a regression.

    Attributes:
        recipe: what the columns are.
        columns: (p, n), with the scores of randomized predictors.
        public: (p, n), the product of the public factors of each column.
        randomized: the randomized predictors.
        rows: (n,), indices of the reports used.
    """

    recipe: Recipe
    columns: Array
    public: Array
    randomized: tuple[Answers, ...]
    rows: Row

    @property
    def terms(self) -> tuple[Term, ...]:
        """Term of each column, (p,)."""
        return self.recipe.terms

    @cached_property
    def known(self) -> "Design":
        """Design of the columns without a randomized predictor."""
        names = {each.name for each in self.randomized}
        kept = [place for place, term in enumerate(self.terms) if names.isdisjoint(term.names)]
        terms = tuple(self.terms[place] for place in kept)
        columns = np.ascontiguousarray(self.public[kept])
        return Design(Recipe(terms, self.recipe.groups, self.recipe.scales), columns, columns, (), self.rows)

    @cached_property
    def corrections(self) -> tuple[Correction, ...]:
        """Unbiased scores of the products of columns that share a randomized predictor."""
        return tuple(self._corrections())

    def _corrections(self) -> Iterator[Correction]:
        names = {each.name for each in self.randomized}
        for first, second in combinations_with_replacement(range(len(self.terms)), 2):
            if names & {*self.terms[first].names} & {*self.terms[second].names}:
                yield Correction(first, second, self._products(first, second))

    def _products(self, first: int, second: int) -> Array | None:
        """Return scores of the true product of two columns, (n,); None if it is always 0."""
        one, other = self.terms[first], self.terms[second]
        found: Array = self.public[first] * self.public[second]
        for each in self.randomized:
            in_both = each.name in one.names and each.name in other.names
            categories = {term.groups.get(each.name, "") for term in (one, other) if each.name in term.names}
            if len(categories) > 1:
                # Two categories of one answer exclude each other.
                return None
            for category in categories:
                found = found * _scores(each, category, self.rows, squared=in_both)
        return found

    def cells(self) -> tuple[tuple[tuple[int, ...], ...], Array]:
        """
        Enumerate the joint categories of the randomized predictors.

        Returns:
            The category of each predictor in each cell, and the factor of each column there, (cells, p).
        """
        sizes = [range(len(each.variable.categories)) for each in self.randomized]
        cells = tuple(product(*sizes))
        factors = np.ones((len(cells), len(self.terms)))
        for place, each in enumerate(self.randomized):
            named = [self._category(each, term) for term in self.terms]
            for row, cell in enumerate(cells):
                factors[row] *= [at is None or at == cell[place] for at in named]
        return cells, factors

    @staticmethod
    def _category(answers: Answers, term: Term) -> int | None:
        group = term.groups.get(answers.name)
        return None if group is None else answers.variable.categories.index(group)


def make_design(
    formula: Formula,
    predictors: Sequence[Answers],
    rows: Row,
    strata: tuple[NDArray[np.intp], Sequence[str]],
    smallest: int,
) -> Design:
    """
    Build the design matrix for a subset of the reports.

    Args:
        formula: terms of the model.
        predictors: public or randomized variables of the formula.
        rows: (m,), indices of the reports used; every predictor is observed in all of them.
        strata: the stratum (wave and revision) of each of these reports, (m,), and the names of the strata; each
            stratum with reports, except the first, gets an indicator column.
        smallest: smallest allowed group of public predictors.

    Raises:
        EstimateError: a group is smaller, a predictor does not vary or has no scores of squares, or an expression has
            no value for a report.
    """
    return _Builder(formula, {each.name: each for each in predictors}, rows, smallest).design(*strata)


class _Builder:
    """Design of the terms of one formula, for some reports."""

    def __init__(self, formula: Formula, predictors: Mapping[str, Answers], rows: Row, smallest: int) -> None:
        self._formula = formula
        self._predictors = predictors
        self._rows = rows
        self._smallest = smallest
        self._variables = [name for name in predictors if name in formula.factors]
        self._groups = {name: self._categories(name) for name in self._variables if self._is_categorical(name)}
        self._numbers, self._scales = self._public_numbers()

    def design(self, strata: NDArray[np.intp], names: Sequence[str]) -> Design:
        there = np.flatnonzero(np.bincount(strata)).tolist()
        terms = [*self._terms(), *(_stratum(names[each]) for each in there[1:])]
        public = np.stack([*(self._public(term) for term in self._terms()), *(strata == each for each in there[1:])])
        # A product of categories that no report has is 0 in every report.
        kept = [place for place, column in enumerate(public) if column.any()]
        terms, public = [terms[place] for place in kept], np.ascontiguousarray(public[kept], dtype=float)
        randomized = tuple(each for each in self._predictors.values() if not each.variable.public)
        scored = [column * self._randomized(term) for term, column in zip(terms, public, strict=True)]
        columns = np.stack(scored) if randomized else public
        groups = {**self._groups, STRATUM: tuple(names[each] for each in there)}
        recipe = Recipe(tuple(terms), groups, self._scales)
        return Design(recipe, columns, public, randomized, self._rows)

    def _is_categorical(self, name: str) -> bool:
        return bool(self._predictors[name].variable.categories)

    def _categories(self, name: str) -> tuple[str, ...]:
        """Return the categories in use, the reference first; refuse small groups of a public answer."""
        answers = self._predictors[name]
        there = answers.variable.categories
        if answers.variable.public:
            there = _occurring(answers, self._rows, self._smallest)
        reference = self._formula.references.get(name, there[0])
        if reference not in there:
            raise EstimateError(Sentence("'{variable}' is one of: {categories}", variable=name, categories=there))
        return (reference, *(each for each in there if each != reference))

    def _public_numbers(self) -> tuple[dict[str, Array], Scales]:
        """Return the values of the public numbers, (m,) each, and the constants of the expressions."""
        numbers = {
            name: each.scores[each.codes[self._rows]]
            for name, each in self._predictors.items()
            if each.variable.public and not each.variable.categories
        }
        scales: dict[Calculation, tuple[float, float]] = {}
        for factor, calculation in self._formula.factors.items():
            self._check_factor(factor, calculation, numbers)
            if factor not in self._predictors:
                scales |= scales_of(calculation, numbers)
        return numbers, scales

    def _check_factor(self, factor: str, calculation: Calculation, numbers: Mapping[str, Array]) -> None:
        if factor in self._formula.references and factor not in self._groups:
            raise EstimateError(Sentence("'{variable}' is a number, which has no reference category", variable=factor))
        if factor in self._predictors:
            return
        unfit = [name for name in calculation.names if name not in numbers]
        if unfit:
            raise EstimateError(
                Sentence("'{variable}' is no public number, so nothing can be computed from it", variable=unfit[0])
            )

    def _terms(self) -> Iterator[Term]:
        terms = ((), *self._formula.terms) if self._formula.intercept else self._formula.terms
        for factors, found in zip(terms, codings(terms, self._groups), strict=True):
            self._check_cells(factors)
            for coding in found:
                yield from self._products(factors, coding)

    def _products(self, factors: Factors, coding: Mapping[str, bool]) -> Iterator[Term]:
        """Yield the columns of one product of a term, the categories of its first factor changing fastest."""
        predictor = ":".join(factors) or CONSTANT
        numbers = tuple(self._formula.factors[factor] for factor in factors if factor not in self._groups)
        levels = [self._groups[factor][not full :] for factor, full in coding.items()]
        for chosen in product(*reversed(levels)):
            groups = dict(zip(coding, reversed(chosen), strict=True))
            named = [f"{factor}={groups[factor]}" if factor in groups else factor
                     for factor in factors if factor in groups or factor not in self._groups]  # fmt: skip
            yield Term(":".join(named) or CONSTANT, predictor, factors, groups, numbers)

    def _check_cells(self, factors: Factors) -> None:
        """Refuse an interaction of public answers that a handful of people have in common."""
        public = [self._predictors[name] for name in factors if name in self._groups]
        public = [each for each in public if each.variable.public]
        cells = np.zeros(len(self._rows), np.intp)
        for each in public:
            cells = cells * len(each.variable.categories) + known_categories(each, self._rows)
        people = np.bincount(cells)
        if len(public) > 1 and np.any((people > 0) & (people < self._smallest)):
            names = tuple(each.name for each in public)
            raise EstimateError(
                Sentence(
                    "fewer than {least} people gave some combination of answers to {variables}; leave their "
                    "interaction out",
                    least=self._smallest,
                    variables=names,
                )
            )

    def _public(self, term: Term) -> Array:
        """Return the product of the public factors of a column, (m,)."""
        found = np.ones(len(self._rows))
        for name, group in term.groups.items():
            answers = self._predictors[name]
            if answers.variable.public:
                place = answers.variable.categories.index(group)
                found = found * (known_categories(answers, self._rows) == place)
        for number in term.numbers:
            if not self._is_randomized(number):
                found = found * self._value(number)
        return found

    def _value(self, number: Calculation) -> Array:
        values = evaluate(number, self._numbers, self._scales)
        if not np.isfinite(values).all():
            raise EstimateError(
                Sentence("'{term}' has no finite value for some of the reports, or for all", term=str(number))
            )
        return values

    def _randomized(self, term: Term) -> Array:
        """Return the product of the scores of the randomized factors of a column, (m,) or a single 1."""
        found = np.ones(1)
        for name, group in (*term.groups.items(), *((number.name, "") for number in term.numbers)):
            answers = self._predictors.get(name)
            if answers is not None and not answers.variable.public:
                found = found * _scores(answers, group, self._rows, squared=False)
        return found

    def _is_randomized(self, number: Calculation) -> bool:
        answers = self._predictors.get(number.name)
        return answers is not None and not answers.variable.public


def _scores(answers: Answers, category: str, rows: Row, *, squared: bool) -> Array:
    """Return unbiased scores of an indicator, or of a number or its square if there is no category, (m,)."""
    codes = answers.codes[rows]
    if category:
        # An indicator is its own square.
        return answers.scores[:, answers.variable.categories.index(category)][codes]
    if answers.squares is None:
        raise EstimateError(
            Sentence(
                "'{variable}': its reports do not show how much it varies, so it cannot be a predictor",
                variable=answers.name,
            )
        )
    return (answers.squares if squared else answers.scores)[codes]


def _stratum(name: str) -> Term:
    return Term(f"{STRATUM}={name}", STRATUM, (STRATUM,), {STRATUM: name})


def _occurring(answers: Answers, rows: Row, smallest: int) -> tuple[str, ...]:
    """Return the categories of a public answer that occur, each in enough reports."""
    categories = answers.variable.categories
    people = np.bincount(known_categories(answers, rows), minlength=len(categories)).tolist()
    named = list(zip(categories, people, strict=True))
    few = [category for category, n in named if 0 < n < smallest]
    if few:
        raise EstimateError(
            Sentence(
                "'{variable}': fewer than {least} people said {categories}; leave this predictor out",
                variable=answers.name,
                least=smallest,
                categories=tuple(few),
            )
        )
    there = tuple(category for category, n in named if n)
    if len(there) < 2:
        raise EstimateError(
            Sentence(
                "everybody has the same answer to '{variable}', so it cannot be a predictor",
                variable=answers.name,
            )
        )
    return there


def known_categories(answers: Answers, rows: Row) -> Row:
    """Return the category index of each of these reports on a public question, (m,)."""
    truth: Row = answers.scores.argmax(axis=1)[answers.codes[rows]]
    return truth


def refuse_small_cells(outcome: Answers, predictors: Sequence[Answers], rows: Row, smallest: int) -> None:
    """
    Refuse a regression of one public answer on another if a nonempty cell of their table is too small.

    No noise protects public answers, so such a regression would describe identifiable people.

    Args:
        outcome: the outcome.
        predictors: the predictors.
        rows: (m,), indices of the reports used.
        smallest: smallest allowed nonempty cell of two public answers.

    Raises:
        EstimateError: a cell is smaller.
    """
    public = [each for each in (outcome, *predictors) if each.variable.public and each.variable.categories]
    for other in public[1:] if public[:1] == [outcome] else []:
        cells = known_categories(outcome, rows) * len(other.variable.categories) + known_categories(other, rows)
        people = np.bincount(cells)
        if np.any((people > 0) & (people < smallest)):
            raise EstimateError(
                Sentence(
                    "fewer than {least} people gave some two answers to '{variable}' and '{other}', which are both "
                    "public; leave this predictor out",
                    least=smallest,
                    variable=outcome.name,
                    other=other.name,
                )
            )
