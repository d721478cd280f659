"""Compare two questions that are asked in different arms, such as directly and with protection.

Each share is estimated in its own arm by ``compare``. No person is in two arms, so the shares are independent:
the limits of their difference combine both shares' limits (MOVER, Zou and Donner 2008), and those of their ratio, too
(Donner and Zou 2012). Corrected for careless answers both shares depend on one share of careless people, whose part of
a difference is taken once. A ratio is not given if this moves its two shares in opposite directions: its limits would
be too narrow.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from numpy.typing import ArrayLike
from sottovoce.aggregator.analysis.availability import LISTED
from sottovoce.aggregator.analysis.innocuous_shares import with_innocuous_shares
from sottovoce.aggregator.analysis.published_counts import is_direct
from sottovoce.aggregator.analysis.report_columns import Columns, find_variable
from sottovoce.aggregator.analysis.result import Result
from sottovoce.aggregator.analysis.selection import PERHAPS_ASKED
from sottovoce.aggregator.analysis.tables.corrected_table import CorrectedShare, corrected_difference
from sottovoce.aggregator.analysis.tables.crosstab import Compared, compare, mover
from sottovoce.aggregator.analysis.tables.table import DEFAULT_RULE, Rule
from sottovoce.aggregator.estimators.careless.anchors import Careless
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.errors import EstimateError

ACROSS = ": "
"""Between arm and question in the names of groups."""

SAME_ARM = "both are asked in arm {arm}: choose questions that no arm has both of"


@with_innocuous_shares
def compare_across_arms(
    columns: Columns,
    questions: tuple[str, ...],
    category: str = "",
    weights: ArrayLike | None = None,
    rule: Rule = DEFAULT_RULE,
    everybody: bool = True,
) -> Compared:
    """Compare a question by arm, as ``compare``, with ratios where arms are random; or two, each in its own arms.

    ``questions`` are the outcome, and the one that it is compared with, the reference, if any. Where the reports are
    those of ``everybody``, and not of a subset, answers of a direct arm are shown at every count. The other arguments
    are as for ``compare``. Raises EstimateError as ``compare``, or if an arm asks both.
    """
    rule = replace(rule, counted=everybody, kept=())
    outcome, *against = (_by_arm(columns, name, category, weights, rule) for name in questions)
    if not against:
        told = outcome.category and outcome.differences and columns.survey.arms and _move_alike(outcome.parts)
        ratios = _ratios(outcome.values) if told else ()
        return replace(outcome, ratios=_counted_once(ratios, len(ratios), outcome.values[0].n_pair))
    [reference] = against
    own, others = (set(LISTED.join(each.group_names).split(LISTED)) for each in (outcome, reference))
    for arm in own & others:
        raise EstimateError(SAME_ARM, arm=arm)
    both = (reference, outcome)
    names = [f"{each.group_names[place]}{ACROSS}{each.outcome}" for each in both for place in range(len(each.values))]
    values = [value for each in both for value in each.values]
    parts = [part for each in both for part in each.parts]
    within, n = len(reference.values) - 1, reference.values[0].n_pair
    ratios = _ratios(values) if outcome.category and _move_alike(parts) else ()
    return Compared(
        outcome=outcome.outcome,
        groups=ARM,
        category=outcome.category,
        group_names=tuple(names),
        values=tuple(values),
        differences=_counted_once(tuple(_differences(values, parts, outcome.careless)), within, n),
        warnings=tuple(dict.fromkeys([*outcome.warnings, *reference.warnings])),
        people=PERHAPS_ASKED if PERHAPS_ASKED in {reference.people, outcome.people} else outcome.people,
        declined=(*reference.declined, *outcome.declined) if outcome.declined and reference.declined else (),
        ratios=_counted_once(ratios, within, n),
    )


def _by_arm(columns: Columns, name: str, category: str, weights: ArrayLike | None, rule: Rule) -> Compared:
    """Compare by arm, as ``compare``; a direct arm's answers are shown at every count, unless weights tell whose."""
    question, _ = find_variable(columns, name)
    counted = rule.counted and weights is None and is_direct(columns.survey, question)
    return compare(columns, name, ARM, category, weights, replace(rule, counted=counted))


def _differences(
    values: Sequence[Result], parts: Sequence[CorrectedShare | None], careless: Careless | None
) -> Iterator[Result]:
    for place, value in enumerate(values[1:], 1):
        if careless is None:
            yield _difference(values[0], value)
        else:
            both = replace(value, n_pair=values[0].n_pair + value.n_pair)
            yield corrected_difference(both, careless, (parts[0], parts[place]))


def _counted_once(figures: tuple[Result, ...], within: int, n: int) -> tuple[Result, ...]:
    """Return the figures, the first ``within`` of them of two arms of one question, which has ``n`` reports in all."""
    return (*(replace(each, n_pair=n) for each in figures[:within]), *figures[within:])


def _move_alike(parts: Sequence[CorrectedShare | None]) -> bool:
    """Return True if more careless people would move all shares in one direction, or none is corrected."""
    slopes = [part.slope for part in parts if part is not None]
    return not slopes or min(slopes) >= 0 or max(slopes) <= 0


def _ratios(values: Sequence[Result]) -> tuple[Result, ...]:
    """Return the ratio of each later share to the first one, from independent groups."""
    return tuple(_ratio(values[0], value) for value in values[1:])


def _difference(first: Result, later: Result) -> Result:
    limits = mover(first, later)
    if first.raw is None or later.raw is None or "shown" not in limits:
        return _combined(first, later, (None, None, None, None))
    error = None if first.std_error is None or later.std_error is None else math.hypot(first.std_error, later.std_error)
    found = _combined(first, later, (limits["shown"], error, limits["low"], limits["high"]))
    return replace(found, raw=later.raw - first.raw)


def _ratio(first: Result, later: Result) -> Result:
    """Return the ratio of two independent shares; the upper limit is none where the first share may be 0."""
    one, other = later.estimate, first.estimate
    limits = (later.low, later.high, first.low, first.high)
    if one is None or not other or any(limit is None for limit in limits):
        return _combined(first, later, (None, None, None, None))
    low, high, from_low, from_high = (float(limit or 0.0) for limit in limits)
    product, below, above = one * other, from_high * (2 * other - from_high), from_low * (2 * other - from_low)
    # The other root of the same square, which holds where the reference may be more than twice as large, too.
    part = max(low * (2 * one - low), 0.0)
    whole = product + math.sqrt(max(product**2 - part * below, 0.0))
    most = product + math.sqrt(max(product**2 - high * (2 * one - high) * above, 0.0))
    limits_of_ratio = (part / whole if whole else 0.0, most / above if above > 0 else None)
    return _combined(first, later, (one / other, None, *limits_of_ratio))


def _combined(first: Result, later: Result, figures: tuple[float | None, ...]) -> Result:
    figure, error, low, high = figures
    n, pair = first.n, first.n_pair + later.n_pair
    return Result(figure, figure, error, "independent-arms", low, high, "mover", n, pair, later.deff)
