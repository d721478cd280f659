"""Compute the smallest effect that a fitted model could find, and the people needed for a given odds ratio.

Maths   A coefficient with standard error s is found at the 5 % level with power .8 if it is (z_.975 + z_.8) s = 2.80 s
        from 0. The variance falls as 1 / n, so an effect e takes n (2.80 s / e)^2 people with the same predictors and
        channels.
Use     It says what a null result could have missed; an effect that was found needs no power analysis.
Source  Cohen 1988; Bloom 1995 (minimum detectable effects).
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

from sottovoce.aggregator.analysis.regression.regression_result import Regression

POWER, LEVEL = 0.8, 0.05
ODDS_RATIO = 2.0
REACH = NormalDist().inv_cdf(1 - LEVEL / 2) + NormalDist().inv_cdf(POWER)

_OF_ODDS = frozenset({"logit", "multinomial", "ordered"})


@dataclass(frozen=True)
class DetectableEffect:
    """The smallest effect of one term.

    Attributes:
        category: category of the outcome; None if there are only two.
        smallest: smallest absolute coefficient that is found with ``POWER``.
        people: people needed to find an odds ratio of ``ODDS_RATIO``; None in a linear model.
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
    found = []
    for each in fitted.coefficients:
        # The constant, strata and cuts are no effects.
        if each.term.startswith("(") or "|" in each.term or not each.std_error or not math.isfinite(each.std_error):
            continue
        smallest = REACH * each.std_error
        people = people_needed(fitted.n, each.std_error) if fitted.model in _OF_ODDS else None
        found.append(DetectableEffect(each.category, each.term, smallest, people))
    return found


def people_needed(n: int, std_error: float, odds_ratio: float = ODDS_RATIO) -> int:
    """Return the number of people that a logit needs to find an odds ratio (not 1) with ``POWER``.

    ``std_error`` is of its log odds ratio, for ``n`` people in a fitted model with the same predictors and channels.
    """
    return math.ceil(n * (REACH * std_error / math.log(odds_ratio)) ** 2)
