"""
Comparison of groups: the share or mean of a variable in each group, and its difference from the first group.

A share has a score interval. Means and differences have intervals by test inversion, which are valid for public groups
and for groups that are randomized themselves.
"""

from dataclasses import dataclass

from numpy.typing import ArrayLike
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.result import Result
from sottovoce.aggregator.analysis.selection import check_together, choose, count_strata
from sottovoce.aggregator.analysis.tables.independence_test import Independence
from sottovoce.aggregator.analysis.tables.pair_moments import joint
from sottovoce.aggregator.analysis.tables.table import DEFAULT_RULE, Rule, TwoWayTable, inverted_result, tested
from sottovoce.aggregator.analysis.tables.test_inversion_intervals import difference, mean_among
from sottovoce.aggregator.analysis.weights import weights_of_reports
from sottovoce.aggregator.estimators.variable import Variable
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.sentence import Sentence


@dataclass(frozen=True)
class Compared:
    """
    Comparison of one variable among groups.

    Attributes:
        outcome, groups: names of the variables.
        category: category of the outcome whose share is compared; "" for a number, whose mean is compared.
        group_names: the groups, the reference group first.
        values: share or mean in each group.
        differences: value of each later group minus the first group's value; empty if cells are suppressed.
        independence: test for any difference; None if suppressed, or if a variable does not vary.
        warnings: notes for the reader on the comparison.
    """

    outcome: str
    groups: str
    category: str
    group_names: tuple[str, ...]
    values: tuple[Result, ...]
    differences: tuple[Result, ...]
    independence: Independence | None
    warnings: tuple[str, ...]


def compare(
    columns: Columns,
    outcome: str,
    groups: str,
    category: str = "",
    weights: ArrayLike | None = None,
    rule: Rule = DEFAULT_RULE,
) -> Compared:
    """
    Compare an outcome among groups.

    Args:
        columns: the reports.
        outcome: name of the outcome variable.
        groups: name of the variable whose categories are the groups.
        category: category of the outcome whose share is compared; by default the last one ("yes" of a yes/no). Must be
            "" for a number.
        weights: weights of the reports, (n,), positive; equal by default.
        rule: options of the comparison.

    Raises:
        EstimateError: no report can carry both variables, the groups are numbers, or there is no such category.
    """
    told, among = choose(columns, outcome), choose(columns, groups)
    if not among.newest.categories:
        raise EstimateError(
            Sentence("'{variable}' is a number: groups are the categories of a question", variable=groups)
        )
    weights, unequal = weights_of_reports(weights, len(columns))
    cautions = check_together(columns, told, among)
    whole = TwoWayTable(joint(count_strata(columns, (among, told), weights), len(columns)), rule)
    place = _place(told.newest, category)
    found = whole.joint
    bounds = _bounds(found.second)
    values = [_value(whole, group, place, bounds) for group in range(len(found.first.categories))]
    # The largest possible difference is the range of the outcome.
    spread = bounds[0] - bounds[1], bounds[1] - bounds[0]
    differences = [
        inverted_result(found, difference(found, (0, group), place, spread, rule.z()), spread)
        for group in range(1, len(values))
    ]
    hidden = bool(whole.hidden.any())
    return Compared(
        outcome=told.newest.full_name,
        groups=among.newest.full_name,
        category=found.second.categories[place] if found.second.categories else "",
        group_names=found.first.categories,
        values=tuple(values),
        # A difference would give back a hidden cell to a reader who knows the other group.
        differences=() if hidden else tuple(differences),
        # The statistic of a small table can also be solved for its one hidden cell.
        independence=None if hidden else tested(found.strata),
        warnings=(*cautions, *unequal),
    )


def _place(variable: Variable, category: str) -> int:
    if not variable.categories:
        if category:
            raise EstimateError(Sentence("'{variable}' is a number and has no categories", variable=variable.full_name))
        return 0
    if category and category not in variable.categories:
        raise EstimateError(
            Sentence(
                "'{variable}' has no category of this name; it has: {categories}",
                variable=variable.full_name,
                categories=variable.categories,
            )
        )
    return variable.categories.index(category) if category else len(variable.categories) - 1


def _bounds(variable: Variable) -> tuple[float, float]:
    return (0.0, 1.0) if variable.categories else (variable.levels[0], variable.levels[-1])


def _value(whole: TwoWayTable, group: int, place: int, bounds: tuple[float, float]) -> Result:
    if whole.joint.second.categories:
        return whole.share(group, place)
    return inverted_result(whole.joint, mean_among(whole.joint, group, place, bounds, whole.rule.z()), bounds)
