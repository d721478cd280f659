"""Compute the arithmetic expressions of a formula from numbers, one for each report or one alone."""

from collections.abc import Callable, Mapping

import numpy as np
from sottovoce.aggregator.analysis.regression.formula_terms import Calculation
from sottovoce.aggregator.analysis.regression.newton import Array

Scales = Mapping[Calculation, tuple[float, float]]
"""Mean and standard deviation of the argument of each ``scale``."""

_OPERATIONS: Mapping[str, Callable[..., Array]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "^": np.power,
    "log": np.log,
    "sqrt": np.sqrt,
    "exp": np.exp,
}


def evaluate(calculation: Calculation, numbers: Mapping[str, Array], scales: Scales) -> Array:
    """Return the value of an expression for each report, from values (n,) by name; not finite where it has none."""
    if calculation.name:
        return numbers[calculation.name]
    if not calculation.parts:
        return np.array(calculation.value)
    parts = [evaluate(part, numbers, scales) for part in calculation.parts]
    # The design refuses values that are not finite with a clear message, where numpy would only warn.
    with np.errstate(all="ignore"):
        if calculation.sign == "scale":
            mean, deviation = scales[calculation]
            return np.asarray((parts[0] - mean) / deviation)
        changes_sign = calculation.sign == "-" and len(parts) == 1
        return np.asarray(-parts[0] if changes_sign else _OPERATIONS[calculation.sign](*parts))


def scales_of(calculation: Calculation, numbers: Mapping[str, Array]) -> Scales:
    """Return the constants of each ``scale`` in an expression, inner ones first, from values (n,) of the reports."""
    found: dict[Calculation, tuple[float, float]] = {}
    for part in calculation.parts:
        found |= scales_of(part, numbers)
    if calculation.sign == "scale":
        values = evaluate(calculation.parts[0], numbers, found)
        # The sample standard deviation, as in R's scale().
        found[calculation] = float(np.mean(values)), float(np.std(values, ddof=1)) if values.size > 1 else 0.0
    return found
