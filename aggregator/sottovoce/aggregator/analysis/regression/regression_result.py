"""What a regression says, and its JSON (sottovoce-regression/1)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sottovoce.aggregator.analysis.regression.likelihood_ratio import LikelihoodRatio
from sottovoce.aggregator.analysis.regression.newton import Array

FORMAT = "sottovoce-regression/1"


@dataclass(frozen=True)
class Coefficient:
    """
    One figure of a regression.

    Attributes:
        category: of the outcome, where there are more than two.
        term: the predictor, or the predictor and its category.
        estimate: None where the likelihood has no finite maximum.
        std_error: None likewise.
        low: of the interval; None where there is no limit on this side.
        high: likewise.
    """

    category: str | None
    term: str
    estimate: float | None
    std_error: float | None
    low: float | None
    high: float | None

    def as_dict(self) -> dict[str, Any]:
        """``category`` only where there is one; what is no finite number is None, as JSON has no other."""
        fields = {key: _finite(value) for key, value in asdict(self).items()}
        return fields if self.category is not None else {key: fields[key] for key in fields if key != "category"}


@dataclass(frozen=True)
class Regression:
    """
    A fitted model.

    Attributes:
        model: "logit", "multinomial", "ordered" or "linear".
        outcome: the name of what is explained.
        n: reports that took part.
        coefficients: of the model; in an ordered one the cuts between categories come last.
        std_error_kind: "observed", "expected", "opg", "sandwich", "clustered", or "none" where no maximum exists; the
            limits are then by likelihood ratio, or missing.
        log_likelihood: up to a constant; None for a linear model.
        ame: average marginal effects on shares, by category after the first.
        tests: likelihood-ratio tests of each predictor; none with weights or clusters, which have no likelihood.
        converged: a maximum was found.
        deff: Kish's design effect of the weights; 1 without.
        warnings: what a reader must know.
        linear: the linear probability model of the same reports, beside a model of categories.
        of_predictor: the model of a randomized predictor, on which a logit with one leans.
        groups: by predictor with categories these, the one first that the others are compared with.
        covariance: (d, d), of the coefficients in their order; None where there are no standard errors.
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
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    covariance: Array | None = field(default=None, compare=False)

    def as_dict(self) -> dict[str, Any]:
        """The JSON document."""
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
        }


def _dicts(coefficients: Sequence[Coefficient]) -> list[dict[str, Any]]:
    return [coefficient.as_dict() for coefficient in coefficients]


def _finite(value: Any) -> Any:  # noqa: ANN401 - a text, a number or None
    return None if isinstance(value, float) and not math.isfinite(value) else value
