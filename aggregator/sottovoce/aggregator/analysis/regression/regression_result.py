"""Results of a regression, their JSON form (sottovoce-regression/1), and the smallest effects that it could find.

Smallest    A coefficient with standard error s is found at the 5 % level with power .8 if it is (z_.975 + z_.8) s =
            2.80 s from 0. The variance falls as 1 / n, so an effect e takes n (2.80 s / e)^2 people with the same
            predictors and channels.
Use         It says what a null result could have missed; an effect that was found needs no power analysis.
Source      Cohen 1988; Bloom 1995 (minimum detectable effects).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np
from sottovoce.aggregator.analysis.regression.design_matrix import Recipe
from sottovoce.aggregator.analysis.regression.likelihood_ratio import LikelihoodRatio
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.aggregator.analysis.selection import ALL

FORMAT = "sottovoce-regression/1"

POWER, LEVEL = 0.8, 0.05
ROUNDING = 1e-9
"""Standard errors up to this are 0 but for rounding, and tell nothing."""
ODDS_RATIO = 2.0
REACH = NormalDist().inv_cdf(1 - LEVEL / 2) + NormalDist().inv_cdf(POWER)

_OF_ODDS = frozenset({"logit", "multinomial", "ordered"})


@dataclass(frozen=True)
class Coefficient:
    """A coefficient or average marginal effect of a regression.

    Attributes:
        category: category of the outcome; None if there are only two.
        term: the predictor, or ``predictor=category``.
        estimate, std_error: None if the likelihood has no finite maximum.
        low, high: limits; None if unbounded or unavailable.
        base: category that the effect of a category is the difference to; None for the derivative by a number, and for
            a coefficient.
    """

    category: str | None
    term: str
    estimate: float | None
    std_error: float | None
    low: float | None
    high: float | None
    base: str | None = None

    @classmethod
    def wald(
        cls, category: str | None, term: str, estimate: float, std_error: float, z: float, base: str | None = None
    ) -> "Coefficient":
        """Return a coefficient with the limits z standard errors away."""
        return cls(category, term, estimate, std_error, estimate - z * std_error, estimate + z * std_error, base)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields for JSON: without ``category`` and ``base`` if None, with None for infinity and NaN."""
        named = asdict(self).items()
        fields = {key: None if isinstance(one, float) and not math.isfinite(one) else one for key, one in named}
        return {key: value for key, value in fields.items() if value is not None or key not in {"category", "base"}}


def wald_coefficients(
    labels: Iterable[tuple[str | None, str]], theta: Array, variances: Array, z: float
) -> tuple[Coefficient, ...]:
    """Return the first coefficients of a model, one for each label, which is a category and a term."""
    named = zip(labels, theta.tolist(), np.sqrt(variances).tolist(), strict=False)
    return tuple(Coefficient.wald(*label, at, error, z) for label, at, error in named)


@dataclass(frozen=True)
class Regression:
    """A fitted model.

    Attributes:
        model: "logit", "multinomial", "ordered" or "linear".
        n: number of reports used.
        coefficients: in an ordered model the cuts between categories come last.
        std_error_kind: "observed", "expected", "opg", "sandwich", "clustered", or "none" if no maximum exists; the
            limits are then by likelihood ratio, or missing.
        log_likelihood: up to a constant; None for a linear model.
        ame: average marginal effects on shares, by category after the first: differences between a category and its
            base, derivatives by numbers. In a linear model on the outcome, and empty where all are coefficients.
        tests: likelihood-ratio tests of each predictor; empty with weights or clusters, where they are not valid.
        deff: Kish's design effect of the weights; 1 without weights.
        linear: linear probability model of the same reports, for models of categories.
        of_predictor: model of the randomized predictor, which a logit with one depends on.
        design: recipe of the columns, to predict for people with given answers; None for a model of predictors.
        people: people whom the model describes: see ``described_people``.
        declining: logit of declining, on the public predictors or with one common share; None if everybody must answer.
        declining_test: test of one common share of declined answers against a logit of it.
        random_intercept: number of clusters, points, standard deviation and its test; None without one.
        covariance: (d, d), covariance of the coefficients in their order; None without standard errors, for several
            linear fits, and for the model of a randomized predictor.
        at_edge: public predictor and category of each group whose estimates alone run off, if there is no maximum.
        df: degrees of freedom of limits by clusters; 0 without.
    """

    model: str
    outcome: str
    n: int
    coefficients: tuple[Coefficient, ...]
    std_error_kind: str
    log_likelihood: float | None = None
    ame: tuple[Coefficient, ...] = ()
    tests: tuple[LikelihoodRatio, ...] = ()
    converged: bool = True
    deff: float = 1.0
    warnings: tuple[str, ...] = ()
    linear: "Regression | None" = None
    of_predictor: "Regression | None" = None
    people: str = ALL
    declining: "Regression | None" = None
    declining_test: LikelihoodRatio | None = None
    random_intercept: dict[str, Any] | None = None
    design: Recipe | None = field(default=None, compare=False)
    covariance: Array | None = field(default=None, compare=False)
    at_edge: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    df: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the regression as a JSON document."""
        return {"format": FORMAT, **self._fields()}

    def _fields(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "outcome": self.outcome,
            "n": self.n,
            "coefficients": _dicts(self.coefficients),
            "std_error_kind": self.std_error_kind,
            "log_likelihood": self.log_likelihood,
            "ame": _dicts(self.ame),
            "tests": [asdict(test) for test in self.tests],
            "converged": self.converged,
            "deff": self.deff,
            "warnings": list(self.warnings),
            "linear": None if self.linear is None else self.linear._fields(),
            "of_predictor": None if self.of_predictor is None else self.of_predictor._fields(),
            **({} if self.random_intercept is None else {"random_intercept": self.random_intercept}),
            **self._people(),
        }

    def _people(self) -> dict[str, Any]:
        """Return the fields of a model that does not describe all people; none otherwise."""
        if self.people == ALL:
            return {}
        test = None if self.declining_test is None else asdict(self.declining_test)
        declining = None if self.declining is None else self.declining._fields()
        return {"people": self.people, "declining": declining, "declining_test": test}


def _dicts(coefficients: Sequence[Coefficient]) -> list[dict[str, Any]]:
    return [coefficient.as_dict() for coefficient in coefficients]


@dataclass(frozen=True)
class DetectableEffect:
    """The smallest effect of one term.

    Attributes:
        category: category of the outcome; None if there are only two.
        smallest: smallest absolute coefficient that is found with ``POWER``.
        people: people needed to find an odds ratio of ``ODDS_RATIO``, of a number for one standard deviation; None in
            a linear model, and of a randomized number.
    """

    category: str | None
    term: str
    smallest: float
    people: int | None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields for JSON, without those that are None."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def detectable_effects(fitted: Regression) -> Sequence[DetectableEffect]:
    """Return the smallest effects of all slopes of a model that has standard errors."""
    found, units = list[DetectableEffect](), {} if fitted.design is None else fitted.design.units
    for each in fitted.coefficients:
        # The constant, strata and cuts are no effects.
        if each.term.startswith("(") or "|" in each.term or not each.std_error or not math.isfinite(each.std_error):
            continue
        smallest = REACH * each.std_error
        unit = units.get(each.term) if fitted.model in _OF_ODDS else None
        people = None if unit is None else people_needed(fitted.n, each.std_error * unit)
        found.append(DetectableEffect(each.category, each.term, smallest, people))
    return found


def people_needed(n: int, std_error: float, odds_ratio: float = ODDS_RATIO) -> int:
    """Return the number of people that a logit needs to find an odds ratio (not 1) with ``POWER``.

    ``std_error`` is its log odds ratio's, for ``n`` people in a fitted model with the same predictors and channels.
    """
    return math.ceil(n * (REACH * std_error / math.log(odds_ratio)) ** 2)
