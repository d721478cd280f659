"""Figures with their limits, drawn."""

import importlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

from sottovoce.shared.errors import EstimateError

_FIGURES = {"n", "shown", "raw", "clipped", "estimate", "std_error", "low", "high", "a", "b", "confidence", "method"}
_WIDTH, _HEIGHT = 7.0, 0.35  # inches: of all, and of a row


def plot_intervals(rows: Sequence[Mapping[str, Any]]) -> Any:  # noqa: ANN401 - matplotlib's figure
    """
    A point and a line for each row that has ``shown``, ``low`` and ``high``, named by its texts.

    Raises:
        EstimateError: matplotlib is not installed, or no row has a figure.
    """
    try:
        figures = importlib.import_module("matplotlib.figure")
    except ModuleNotFoundError:
        raise EstimateError("a plot needs pip install 'sottovoce[plot]'") from None
    drawn = [row for row in rows if row.get("shown") is not None]
    if not drawn:
        raise EstimateError("there is no figure to draw")
    figure = figures.Figure(figsize=(_WIDTH, 1 + _HEIGHT * len(drawn)), layout="constrained")
    axes = figure.subplots()
    points = [float(row["shown"]) for row in drawn]
    axes.errorbar(points, range(len(drawn)), xerr=_lengths(drawn), fmt="o", color="black", capsize=3)
    axes.set_yticks(range(len(drawn)), labels=[_name(row) for row in drawn])
    axes.invert_yaxis()
    axes.set_xlabel("estimate with 95 % limits")
    return figure


def _lengths(rows: Sequence[Mapping[str, Any]]) -> list[list[float]]:
    """From each point to its limits; not a number where a side has no limit."""
    ends: list[list[float]] = [[], []]
    for row in rows:
        for side, limit in enumerate((row.get("low"), row.get("high"))):
            length = math.nan if limit is None else abs(float(limit) - float(row["shown"]))
            ends[side].append(length)
    return ends


def _name(row: Mapping[str, Any]) -> str:
    return ", ".join(str(value) for key, value in row.items() if key not in _FIGURES and isinstance(value, str))
