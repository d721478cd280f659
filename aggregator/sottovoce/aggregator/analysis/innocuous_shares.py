"""Carry the uncertainty of innocuous shares through tables and comparisons; ``uncertain_share`` has the maths.

Every figure is computed anew at each turn of a fact's share, and the sets of limits are joined. Tests of independence
stay as they are: at independence no share of a fact matters.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import wraps
from inspect import signature
from operator import getitem
from typing import Any, ParamSpec, TypeVar

from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.result import Result
from sottovoce.aggregator.analysis.tables.likeliest_cells import METHOD as PROFILE
from sottovoce.aggregator.analysis.tables.table import SCORE, TOO_FEW, TOO_WIDE, Rule
from sottovoce.aggregator.analysis.tables.table_diagnostics import LowestCell
from sottovoce.aggregator.estimators.by_hand.uncertain_share import fact_of, moved, turns, with_share
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.sentence import Sentence

Options = ParamSpec("Options")
Found = TypeVar("Found")

MOST_FACTS = 2
TOGETHER = (
    "simultaneous limits do not go with an innocuous share that has a standard error; limits of each cell by itself do"
)
TOO_MANY = (
    "{variables}: more than {most} innocuous shares that have a standard error do not go together in one analysis; "
    "fewer of these questions do"
)


def moved_columns(columns: Columns, fact: str, u: float) -> Columns:
    """Return the reports with the share of a fact ``u`` standard errors away, in all questions that it hides."""
    revisions = tuple(
        replace(survey, questions=tuple(
            replace(each, mechanism=moved(each.mechanism, u)) if fact_of(each) == fact else each
            for each in survey.questions
        ))
        for survey in columns.revisions
    )  # fmt: skip
    return replace(columns, revisions=revisions)


def facts_of(columns: Columns, names: Iterable[str]) -> list[str]:
    """Return the facts with an inexact share that hide answers to these variables; raise EstimateError if too many."""
    used = {name.partition(".")[0] for name in names}
    asked = [each for survey in columns.revisions for each in survey.questions if each.name in used and fact_of(each)]
    facts = list(dict.fromkeys(map(fact_of, asked)))
    if len(facts) > MOST_FACTS:
        variables = tuple(dict.fromkeys(each.name for each in asked))
        raise EstimateError(Sentence(TOO_MANY, variables=variables, most=MOST_FACTS))
    return facts


def with_innocuous_shares(analysis: Callable[Options, Found]) -> Callable[Options, Found]:
    """Return an analysis of ``columns`` by a ``rule`` with the uncertainty of innocuous shares in its results."""

    @wraps(analysis)
    def carried(*args: Options.args, **options: Options.kwargs) -> Found:
        given = signature(analysis).bind(*args, **options)
        given.apply_defaults()
        columns, rule = given.arguments["columns"], given.arguments["rule"]
        facts = facts_of(columns, _texts(given.arguments.values()))
        if not facts or rule.kept is not None:
            return analysis(*args, **options)
        if rule.simultaneous:
            raise EstimateError(TOGETHER)

        def at(moved: Columns, by: Rule) -> Found:
            given.arguments.update(columns=moved, rule=by)
            return analysis(*given.args, **given.kwargs)

        # A group that no one seems to be in at another share is still one of those that are compared.
        names = getattr(at(columns, replace(rule, kept=())), "group_names", ())
        return _carried(at, columns, replace(rule, kept=names), facts)

    return carried


def _texts(arguments: Iterable[Any]) -> Iterator[str]:
    for each in arguments:
        yield from [each] if isinstance(each, str) else filter(str, each) if isinstance(each, tuple) else []


def _carried(analyse: Callable[[Columns, Rule], Found], columns: Columns, rule: Rule, facts: Sequence[str]) -> Found:
    if not facts:
        return analyse(columns, rule)
    found = _carried(analyse, columns, rule, facts[1:])
    steps = list(turns(rule.confidence))
    around = [
        _carried(analyse, moved_columns(columns, facts[0], u), replace(rule, confidence=level), facts[1:])
        for u, level in steps
    ]
    return _joined(found, around, steps, rule.confidence)  # type: ignore[no-any-return]


def _joined(found: Any, around: Sequence[Any], steps: Sequence[tuple[float, float]], confidence: float) -> Any:  # noqa: ANN401 - any result
    """Return results with those at all turns in their limits, and in the alarm."""

    def parts(keys: Iterable[Any], get: Callable[[Any, Any], Any]) -> dict[Any, Any]:
        return {key: _joined(get(found, key), [get(each, key) for each in around], steps, confidence) for key in keys}

    if isinstance(found, Result):
        return _result(found, around, confidence)
    if isinstance(found, LowestCell):
        squares = [min(each.statistic, 0.0) ** 2 + u**2 for each, (u, _) in zip(around, steps, strict=True)]
        return found._replace(statistic=max(found.statistic, -math.sqrt(min(squares))))
    if isinstance(found, Mapping):
        found = parts(found, getitem)
    elif isinstance(found, tuple) and any(isinstance(each, Result | tuple) for each in found):
        # What another share does not give at all, such as a ratio, is not given.
        same = all(len(each) == len(found) for each in around)
        own = parts(range(len(found)), getitem).values() if same else ()
        found = type(found)(*own) if hasattr(found, "_fields") else tuple(own)
    elif is_dataclass(found) and not isinstance(found, type):
        found = replace(found, **parts([each.name for each in fields(found)], getattr))
    return found


def _result(found: Result, around: Sequence[Result], confidence: float) -> Result:
    wide = with_share(found, around, confidence)
    few = wide.low is not None and wide.high is not None and wide.high - wide.low > TOO_WIDE
    few = few and wide.method in {SCORE, PROFILE}
    return replace(wide, warnings=tuple(dict.fromkeys([*found.warnings, *([TOO_FEW] if few else [])])))
