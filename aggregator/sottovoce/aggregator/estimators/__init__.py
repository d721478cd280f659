"""Variables of all mechanisms for joint analyses, and the estimates of one question, which follow from them."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from sottovoce.aggregator.estimators import matrix, numeric, square_wave, variable
from sottovoce.aggregator.estimators.means import estimate_mean
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule, counts_of, estimate_shares
from sottovoce.aggregator.estimators.variable import ChoiceVariable, Counts, NumberVariable, Variable, YesNo
from sottovoce.shared.answers import Domain
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.mechanisms.square_wave import SquareWave

VARIABLES: dict[str, Callable[[Any, Domain], Sequence[Variable]]] = {
    "binary_rr": variable.yes_no,
    "kary_rr": variable.one_category,
    "memoized_rr": variable.yes_no,
    "subset_selection": variable.subset_selection,
    "hadamard_response": variable.hadamard_response,
    "optimal_unary": variable.optimal_unary,
    "sampled_option": variable.sampled_option,
    "bitwise_rr": variable.bitwise_rr,
    "rounding_rr": numeric.rounding_rr,
    "level_table": numeric.level_table,
    "square_wave": square_wave.variables,
    "geometric": numeric.geometric,
    "sampled_coordinate": numeric.sampled_coordinate,
    "joint_rr": variable.joint_rr,
    "matrix": matrix.variables,
}
"""Functions ``(mechanism, domain) -> variables``, by name of the mechanism; the maths is in ``variable``."""


def estimate(
    mechanism: Mechanism, tally: Mapping[int, int], domain: Domain, rule: IntervalRule = DEFAULT_RULE
) -> Sequence[Estimate]:
    """Estimate one question from the tally of one stratum; ``pooling.estimate_strata`` pools several strata.

    Args:
        mechanism: one of ``VARIABLES``.
        tally: number of reports, as ``Mechanism.reports`` reads it; missing means none.
        domain: true values of the question; estimates are in their order, means in the number's own unit. A yes/no
            question has one estimate, of yes.
        rule: how the intervals are made.

    Raises:
        EstimateError: impossible counts.
    """
    if isinstance(mechanism, SquareWave):
        return square_wave.estimate(mechanism, tally, domain, rule)
    variables = VARIABLES[mechanism.name](mechanism, domain)
    first = variables[0]
    if isinstance(first, matrix.MatrixVariable):
        return matrix.estimate(first.channel, tally, domain, rule)
    if first.drawn:
        # Worst case of poisoning: every fake report claims to have drawn the same option or coordinate.
        rule = rule.when_asked(Fraction(1, len(variables)))
    numbers = [each for each in variables if isinstance(each, NumberVariable)]
    if numbers:
        of_each = ((each.name or "mean", each.tally(tally), each.scored) for each in numbers)
        return [estimate_mean(*parts, rule, len(numbers)) for parts in of_each]
    counts = _counts(mechanism, tally)
    reports = mechanism.reports(tally) if mechanism.masked else counts.sum()
    if isinstance(first, ChoiceVariable):
        return estimate_shares(first.categories, first.supporting(counts), reports, *first.support, rule)
    options = [each for each in variables if isinstance(each, YesNo)]
    names = [each.name or each.categories[1] for each in options]
    supporting, sizes = (counts, reports) if mechanism.masked else _yes_counts(options, counts)
    return estimate_shares(names, supporting, sizes, *options[0].support, rule)


def _counts(mechanism: Mechanism, tally: Mapping[int, int]) -> Counts:
    """Return the counts of the values that the mechanism can report; EstimateError if there are others, or negative.

    Of bit masks these are the counts of the options.
    """
    if mechanism.masked:
        return counts_of(tally, mechanism.masked)
    counts = counts_of(tally, mechanism.largest + 1)
    if tally and not (min(tally) >= 0 and max(tally) <= mechanism.largest and counts.min() >= 0):
        raise EstimateError("the counts are impossible")
    return counts


def _yes_counts(options: Sequence[YesNo], counts: Counts) -> tuple[Counts, Any]:
    """Return how many reports say yes to each option, and how many speak of it."""
    reported = np.arange(len(counts))
    if not options[0].drawn:
        return np.array([counts @ each.bit(reported) for each in options]), counts.sum()
    seen = [counts * each.observed(reported) for each in options]
    yes = [counted @ each.bit(reported) for counted, each in zip(seen, options, strict=True)]
    return np.array(yes), np.array([counted.sum() for counted in seen])


__all__ = ["DEFAULT_RULE", "VARIABLES", "Estimate", "IntervalRule", "Variable", "estimate"]
