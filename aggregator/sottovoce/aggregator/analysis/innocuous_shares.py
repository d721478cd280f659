"""Carry the uncertainty of innocuous shares through tables, comparisons and models; ``uncertain_share`` has the maths.

Every figure is computed anew at each turn of a fact's share, and the sets of limits are joined. Tests of independence
stay as they are: at independence no share of a fact matters. Coefficients have symmetrical limits by their standard
error, to whose square the derivative's is added, unless the share moves them along a curve or a maximum is missing; in
a test of a model both likelihoods are largest over the share.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial, wraps
from inspect import signature
from itertools import chain
from operator import getitem
from typing import Any, ParamSpec, TypeVar

import numpy as np
from sottovoce.aggregator.analysis.regression.likelihood_ratio import LikelihoodRatio
from sottovoce.aggregator.analysis.regression.regression_result import Coefficient, Regression
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.result import Result
from sottovoce.aggregator.analysis.tables.likeliest_cells import METHOD as PROFILE
from sottovoce.aggregator.analysis.tables.score_intervals import LowestCell
from sottovoce.aggregator.analysis.tables.table import SCORE, TOO_FEW, TOO_WIDE
from sottovoce.aggregator.estimators.by_hand.uncertain_share import Turns, moved
from sottovoce.aggregator.estimators.intervals import upper_tail
from sottovoce.shared.errors import EstimateError

Options = ParamSpec("Options")
Found = TypeVar("Found")

MOST_FACTS = 2
STRAIGHT = 0.05
"""Largest part of their distance by which limits differ that follow from a standard error."""

TOO_MANY = (
    "{variables}: more than {most} innocuous shares that have a standard error do not go together in one analysis; "
    "fewer of these questions do"
)


def moved_columns(columns: Columns, fact: str, u: float) -> Columns:
    """Return the reports with the share of a fact ``u`` standard errors away, in all questions that it hides."""
    revisions = tuple(
        replace(survey, questions=tuple(
            replace(each, mechanism=moved(each.mechanism, u)) if each.inexact_fact == fact else each
            for each in survey.questions
        ))
        for survey in columns.revisions
    )  # fmt: skip
    return replace(columns, revisions=revisions)


def facts_of(columns: Columns, names: Iterable[str]) -> list[str]:
    """Return the facts with an inexact share that hide answers to these variables; raise EstimateError if too many."""
    used = {name.partition(".")[0] for name in names}
    questions = [each for survey in columns.revisions for each in survey.questions]
    asked = [each for each in questions if each.name in used and each.inexact_fact]
    facts = list(dict.fromkeys(each.inexact_fact for each in asked))
    if len(facts) > MOST_FACTS:
        variables = tuple(dict.fromkeys(each.name for each in asked))
        raise EstimateError(TOO_MANY, variables=variables, most=MOST_FACTS)
    return facts


def with_innocuous_shares(analysis: Callable[Options, Found]) -> Callable[Options, Found]:
    """Return an analysis of ``columns`` by a ``rule`` with the uncertainty of innocuous shares in its results."""

    @wraps(analysis)
    def by_rule(*args: Options.args, **options: Options.kwargs) -> Found:
        given = signature(analysis).bind(*args, **options)
        given.apply_defaults()
        columns, rule, kept = given.arguments["columns"], given.arguments["rule"], ()
        parts = chain.from_iterable(each if isinstance(each, tuple) else [each] for each in given.arguments.values())
        facts = facts_of(columns, [each for each in parts if isinstance(each, str)])
        if not facts or rule.kept is not None:
            return analysis(*args, **options)

        def at(moved: Columns, level: float) -> Found:
            given.arguments.update(columns=moved, rule=replace(rule, confidence=level, kept=kept))
            return analysis(*given.args, **given.kwargs)

        # A group that no one seems to be in at another share is still one of those that are compared.
        kept = getattr(at(columns, rule.confidence), "group_names", ())
        return carried(at, columns, facts, rule.confidence)

    return by_rule


def carried(
    analyse: Callable[[Columns, float], Found], columns: Columns, facts: Sequence[str], confidence: float
) -> Found:
    """Analyse reports at this confidence, with the uncertainty of the shares of these facts."""
    if not facts:
        return analyse(columns, confidence)
    turns = Turns(confidence)

    def at(u: float, level: float) -> Found:
        return carried(analyse, moved_columns(columns, facts[0], u) if u else columns, facts[1:], level)

    return turns.over(at, partial(_joined, turns))  # type: ignore[no-any-return]


def _joined(turns: Turns, around: Sequence[Any]) -> Any:  # noqa: ANN401 - any result
    """Return the results with an exact share, the first, with those at all turns in their limits, tests and alarm."""
    found = around[0]

    def parts(keys: Iterable[Any], get: Callable[[Any, Any], Any]) -> dict[Any, Any]:
        return {key: _joined(turns, [get(each, key) for each in around]) for key in keys}

    # What another share does not give at all, such as a linear model beside, is not given.
    if is_dataclass(found) and any(each is None for each in around):
        return None
    if isinstance(found, Result | Coefficient):
        return _figure(turns, around)
    if isinstance(found, LowestCell):
        least = min(min(each.statistic, 0.0) ** 2 + u**2 for each, u in zip(around, turns.u, strict=True))
        return found._replace(statistic=max(found.statistic, -math.sqrt(least)))
    if isinstance(found, Mapping):
        return parts(found, getitem)
    if isinstance(found, tuple) and any(isinstance(each, Result | Coefficient | tuple) for each in found):
        same = all(len(each) == len(found) for each in around)
        own = parts(range(len(found)), getitem).values() if same else ()
        found = type(found)(*own) if hasattr(found, "_fields") else tuple(own)
    elif is_dataclass(found) and not isinstance(found, type):
        changed = parts([each.name for each in fields(found)], getattr)
        changed |= _of_model(turns, around) if isinstance(found, Regression) else {}
        found = replace(found, **changed)
    return found


def _figure(turns: Turns, around: Sequence[Any]) -> Any:  # noqa: ANN401 - a result or coefficient
    wide: Any = turns.with_share(around)
    if None in (wide.estimate, wide.low, wide.high):
        return wide
    if isinstance(wide, Result):
        few = wide.method in {SCORE, PROFILE} and (wide.high or 0.0) - (wide.low or 0.0) > TOO_WIDE
        return replace(wide, warnings=tuple(dict.fromkeys([*around[0].warnings, *([TOO_FEW] if few else [])])))
    half = turns.z * (wide.std_error or math.inf)
    low, high = wide.estimate - half, wide.estimate + half
    straight = max(abs(low - wide.low), abs(high - wide.high)) <= STRAIGHT * half < math.inf
    return replace(wide, low=low, high=high) if straight else wide


def _of_model(turns: Turns, around: Sequence[Regression]) -> dict[str, Any]:
    """Return the covariance, None where a share leaves no maximum, and tests with both likelihoods over all shares."""
    columns = zip(*(each.coefficients for each in around), strict=True)
    slopes = [turns.slope([each.estimate for each in column]) for column in columns]
    known = np.array([each for each in slopes if each is not None])
    whole = around[0].covariance is not None and len(known) == len(slopes)
    covariance = around[0].covariance + np.outer(known, known) if whole else None
    return {"covariance": covariance, "tests": tuple(_test(each, turns, around) for each in around[0].tests)}


def _test(test: LikelihoodRatio, turns: Turns, models: Sequence[Regression]) -> LikelihoodRatio:
    # Less the likelihood of the exact share, so that tops are right to a thousandth of a statistic.
    own = models[0].log_likelihood or 0.0
    free = [(each.log_likelihood or -math.inf) - own - u**2 / 2 for each, u in zip(models, turns.u, strict=True)]
    found = [{each.predictor: each.statistic for each in model.tests} for model in models]
    bound = [log - each.get(test.predictor, math.inf) / 2 for log, each in zip(free, found, strict=True)]
    statistic = 2 * ((turns.outermost(free, 1, ()) or 0.0) - (turns.outermost(bound, 1, ()) or 0.0))
    return replace(test, statistic=statistic, p=upper_tail(statistic, test.df))
