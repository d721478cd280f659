"""Compare groups: the share or mean of a variable in each group, and its difference from the first group.

A share has a score interval. Means and differences have intervals by test inversion, which are valid for public groups
and for groups that are randomized themselves.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike
from sottovoce.aggregator.analysis import selection
from sottovoce.aggregator.analysis.innocuous_shares import with_innocuous_shares
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.result import Result
from sottovoce.aggregator.analysis.tables.answered_cells import difference_among_answered
from sottovoce.aggregator.analysis.tables.corrected_table import CorrectedShare, corrected_table
from sottovoce.aggregator.analysis.tables.pair_moments import Independence, joint
from sottovoce.aggregator.analysis.tables.table import (
    DEFAULT_RULE,
    Rule,
    TwoWayTable,
    between,
    independence_of,
    inverted_result,
    main_answer,
    widened,
)
from sottovoce.aggregator.analysis.tables.test_inversion_intervals import Inverted, difference, mean_among
from sottovoce.aggregator.analysis.weights import weights_of_reports
from sottovoce.aggregator.estimators.careless.anchors import Careless
from sottovoce.aggregator.estimators.variable import Variable
from sottovoce.shared.errors import EstimateError

RARE = (
    "'{variable}': '{category}' is left out or counted together with other answers, since fewer than {least} people "
    "gave one of them; choose another answer, or compare a direct arm without weights and for all people"
)
LEFT_OUT = (
    "'{variable}': the file leaves out the answer '{category}' as few, so that its share is not known; choose one of: "
    "{categories}"
)
NO_GROUPS = "the reports show people in none of the groups of '{variable}'"


@dataclass(frozen=True)
class Compared:
    """A comparison of one variable among groups.

    Attributes:
        category: category of the outcome whose share is compared; "" for a number, whose mean is compared.
        group_names: the groups, the reference group first.
        values: share or mean in each group.
        differences: value of each later group minus the first group's value; empty if cells are suppressed.
        independence: test for any difference; None if suppressed, or if a variable does not vary.
        people: people whom the values describe, see ``described_people``.
        declined: share of people in each group who did not answer; empty if everybody did.
        ratios: value of each later group divided by the first group's, of arms; empty for others.
        parts: corrected shares, of which differences across arms consist; empty if not corrected.
        careless: share of careless people that they are corrected for; None if not corrected.
    """

    outcome: str
    groups: str
    category: str
    group_names: tuple[str, ...]
    values: tuple[Result, ...]
    differences: tuple[Result, ...]
    warnings: tuple[str, ...]
    independence: Independence | None = None
    people: str = selection.ALL
    declined: tuple[Result, ...] = ()
    ratios: tuple[Result, ...] = ()
    parts: tuple[CorrectedShare | None, ...] = ()
    careless: Careless | None = None


@with_innocuous_shares
def compare(
    columns: Columns,
    outcome: str,
    groups: str,
    category: str = "",
    weights: ArrayLike | None = None,
    rule: Rule = DEFAULT_RULE,
) -> Compared:
    """Compare an outcome among groups, the categories of a variable; ``weights`` (n,) are positive, equal by default.

    ``category`` is the one whose share is compared, by default the last answer ("yes" of a yes/no); "" for a number.
    Raises EstimateError if no report can carry both variables, the groups are numbers, or there is no such category.
    """
    (measured, grouped), people = selection.choose_described(columns, (outcome, groups), rule.among, rule.counted)
    if not grouped.newest.categories:
        raise EstimateError("'{variable}' is a number: groups are the categories of a question", variable=groups)
    cautions = (*people.cautions, *selection.check_together(columns, measured, grouped))
    if rule.among == selection.CAREFUL:
        return _corrected(columns, (grouped, measured), category, weights, rule, cautions)
    weights, unequal = (None, ()) if weights is None else weights_of_reports(weights, len(columns))
    pairs = selection.count_strata(columns, (grouped, measured), weights, people.asked)
    whole = TwoWayTable(joint(pairs, len(columns), columns.repeats), rule)
    found = whole.joint
    place = _place(columns, measured.newest, category)
    if found.second.categories:
        place = _place_in(found.second, measured.newest.categories[place], rule)
    bounds = whole.bounds
    there = _groups(whole)
    values = [_value(whole, group, place, bounds) for group in there]
    hidden = bool(whole.hidden.any())
    return Compared(
        outcome=measured.newest.full_name,
        groups=grouped.newest.full_name,
        category=found.second.categories[place] if found.second.categories else "",
        group_names=tuple(found.first.categories[group] for group in there),
        values=tuple(values),
        differences=() if hidden else _differences(whole, there, place, values),
        independence=None if hidden else independence_of(found),
        warnings=(*cautions, *unequal, *whole.few_people()),
        people=people.people,
        declined=tuple(whole.declined(group) for group in there if found.second.absent),
    )


def _corrected(
    columns: Columns,
    pair: tuple[selection.SelectedVariable, selection.SelectedVariable],
    category: str,
    weights: ArrayLike | None,
    rule: Rule,
    cautions: tuple[str, ...],
) -> Compared:
    """Compare the share of a category among careful people in each group; without a test, which would need a model."""
    whole, found = corrected_table(columns, pair, weights, rule)
    grouped, measured = (each.newest for each in pair)
    shown = whole.joint.second
    place = _place_in(shown, measured.categories[_place(columns, measured, category)], rule)
    there = _groups(whole)
    pairs = [] if whole.hidden.any() else [(there[0], group) for group in there[1:]]
    return Compared(
        outcome=measured.full_name,
        groups=grouped.full_name,
        category=shown.categories[place],
        group_names=tuple(whole.joint.first.categories[group] for group in there),
        values=tuple(found.share(group, place) for group in there),
        differences=tuple(found.difference(each, place) for each in pairs),
        warnings=(*cautions, *found.notes, *whole.left_out),
        people=selection.CAREFUL,
        parts=tuple(found.part(group, place) for group in there),
        careless=found.careless,
    )


def _groups(whole: TwoWayTable) -> list[int]:
    """Return the places of the groups to compare: those that occur, by their estimated shares, or that are kept."""
    grouped, kept = whole.joint.first, whole.rule.kept
    there = (grouped.categories[group] in kept if kept else whole.occurs(group) for group in range(whole.shape[0]))
    found = [group for group, is_there in enumerate(there) if is_there]
    # A group without people has nothing to compare.
    if not found:
        raise EstimateError(NO_GROUPS, variable=grouped.full_name)
    return found


def _differences(whole: TwoWayTable, there: Sequence[int], place: int, values: Sequence[Result]) -> tuple[Result, ...]:
    least, most = whole.bounds
    # The largest possible difference is the range of the outcome.
    spread = least - most, most - least
    found = []
    for group, value in zip(there[1:], values[1:], strict=True):
        inverted = difference(whole.joint, (there[0], group), place, spread, whole.rule.z)
        if whole.by_mover or whole.joint.second.absent:
            inverted = answered_difference(whole, inverted, (there[0], group), place, (values[0], value))
        added = whole.added({there[0]: values[0], group: value})
        # Limits made of those of the values hold in several waves as they are.
        inverted = widened(inverted, added, spread, 0.0 if whole.by_mover else whole.rule.z)
        found.append(inverted_result(whole.joint, between(inverted, values[0], value), spread))
    return tuple(found)


def answered_difference(
    whole: TwoWayTable, inverted: Inverted, groups: tuple[int, int], place: int, values: tuple[Result, Result]
) -> Inverted:
    """Return a difference among the people who answered, with limits that hold in small and sparse groups.

    ``inverted`` is the difference with limits by inversion, ``groups`` are two rows of the table, ``place`` the column.
    """
    if whole.by_mover:
        return inverted._replace(**mover(*values))
    # The variance of the sample is too small where a cell is nearly empty, the one at the hypothesis where noise is
    # strong: alone they cover .91 and .92 in the worst of six settings, both together .95.
    low, high = difference_among_answered(whole.joint, whole.raw, groups, place, whole.rule.z)
    return inverted._replace(low=min(low, inverted.low), high=max(high, inverted.high))


def mover(first: Result, later: Result) -> dict[str, float]:
    """Return a difference of two displayed shares with limits from their own limits (MOVER; Zou and Donner 2008).

    The reports of two public groups are independent, and score limits hold in small groups, in which the sample
    covariance that inversion uses does not: without any yes in either group it is 0.
    """
    if first.estimate is None or later.estimate is None:
        return {"low": -1.0, "high": 1.0}
    (low, high), (from_low, from_high) = (
        (each.low or 0.0, 1.0 if each.high is None else each.high) for each in (later, first)
    )
    apart = later.estimate - first.estimate
    return {
        "shown": apart,
        "low": apart - math.hypot(later.estimate - low, from_high - first.estimate),
        "high": apart + math.hypot(high - later.estimate, first.estimate - from_low),
    }


def _place(columns: Columns, variable: Variable, category: str) -> int:
    """Return the place of a category, by default of yes or the last answer, also where a file leaves that out."""
    if not variable.categories:
        if category:
            raise EstimateError("'{variable}' is a number and has no categories", variable=variable.full_name)
        return 0
    before = columns.before.get(variable.question)
    names = variable.answered if before is None else tuple(before[0].domain.places)
    wanted = category or main_answer(names)
    if wanted not in variable.answered:
        words = LEFT_OUT if wanted in names else "'{variable}' has no category of this name; it has: {categories}"
        raise EstimateError(words, variable=variable.full_name, category=wanted, categories=variable.answered)
    return variable.categories.index(wanted)


def _place_in(shown: Variable, category: str, rule: Rule) -> int:
    """Return the place of a category; raise EstimateError if it is left out, or counted with others."""
    if category not in shown.answered:
        raise EstimateError(RARE, variable=shown.full_name, category=category, least=rule.least)
    return shown.answered.index(category)


def _value(whole: TwoWayTable, group: int, place: int, bounds: tuple[float, float]) -> Result:
    if whole.joint.second.categories:
        return whole.share(group, place)
    found = inverted_result(whole.joint, mean_among(whole.joint, group, place, bounds, whole.rule.z), bounds)
    return found if whole.joint.waves == 1 else whole.of_waves(found, whole.people(group))
