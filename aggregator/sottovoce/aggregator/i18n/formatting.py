"""Write shares, intervals, counts, p values and epsilon in one way: a language's own, or the terminal's."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.aggregator.i18n.translator import Words
from sottovoce.shared.answers import Grid
from sottovoce.shared.rational import show_epsilon

EstimateFigures = Mapping[str, Any]
"""Estimate of a result document, with the interval ``low`` and ``high``."""
Show = Callable[[float], str]

DIGITS = 4
RARE = 0.0001
HUNDRED = 100


def decimals_of(value: float | None, low: float | None, high: float | None) -> int | None:
    """Return the decimals of a figure and its limits: two significant digits of the distance to the nearer limit.

    At most six; None without both limits, or for a figure outside or on one of them.
    """
    if value is None or low is None or high is None or not low < value < high:
        return None
    return min(max(1 - math.floor(math.log10(min(value - low, high - value))), 0), 6)


@dataclass(frozen=True)
class NumberFormat:
    """Numbers as they are written in one language."""

    words: Words

    def percent(self, share: float | Fraction, decimals: int = 1) -> str:
        """Write a share as a percentage; one that rounds to nothing is 0 and never less."""
        return self.words.percent(round(Fraction(share), decimals + 2), decimals).replace("-", "−")

    def points(self, value: float) -> str:
        """Write a difference of shares."""
        return self.words.translate("joint_points", number=self._signed(self.words.number(abs(100 * value), 1), value))

    def figure(self, value: float) -> str:
        """Write any other number with four digits, zeros at the end included."""
        size = math.floor(math.log10(abs(value))) if value else 0
        return self._signed(self.words.number(abs(value), min(max(DIGITS - 1 - size, 0), 6)), value)

    def rounded(self, value: float, decimals: int) -> str:
        """Write a number with so many decimals."""
        return self._signed(self.words.number(abs(value), decimals), value)

    def following(self, figures: EstimateFigures, show: Show) -> Show:
        """Return a way to write a figure and its limits with the digits that its interval tells, as 2.7 (1.4 to 4.0).

        ``show`` is the usual way; any other than ``figure`` has fixed digits and is returned.
        """
        decimals = decimals_of(figures.get("shown", figures.get("estimate")), figures["low"], figures["high"])
        # Of any object of this class: two bound methods are equal only if their objects are the same one.
        if getattr(show, "__func__", None) is not type(self).figure or decimals is None:
            return show
        return lambda value: self.rounded(value, decimals)

    def number(self, value: float, grid: Grid | None = None, towards: int = 0, decimals: int | None = None) -> str:
        """Write a number with up to four digits, or with ``decimals``, see ``decimals_of``.

        A ``grid``, of a question whose answers are numbers or dates, rounds and writes its own; ``towards`` is -1 to
        round down on it, 1 to round up.
        """
        written = value if grid is None else grid.figure(value, towards)
        if isinstance(written, str):
            return written
        if decimals is not None:
            return self.rounded(written, decimals)
        short = f"{written:.4g}"
        if "e" in short:
            return short
        return self.words.number(float(short), len(short.partition(".")[2])).replace("-", "−")

    def epsilon(self, value: float) -> str:
        """Write epsilon with two decimals, rounded up."""
        return self.words.number(Fraction(show_epsilon(value)), 2)

    def of_hundred(self, share: Fraction) -> str:
        """Write a share as a number of 100 people; where chance has a say, neither 0 nor 100 is claimed."""
        whole = math.floor(share * HUNDRED + Fraction(1, 2))
        if whole == share * HUNDRED:
            return self.words.number(whole)
        if 0 < whole < HUNDRED:
            return self.words.translate("poster_about", number=self.words.number(whole))
        return f"{'<' if whole <= 0 else '>'} {self.words.number(1 if whole <= 0 else HUNDRED - 1)}"

    def interval(self, low: str, high: str) -> str:
        """Write an interval from its two written limits."""
        return self.words.translate("results_range", low=low, high=high)

    def point(self, value: float | None, show: Show) -> str:
        """Write a figure, or that there is none."""
        return self.words.translate("joint_none") if value is None else show(value)

    def estimate(self, figures: EstimateFigures, show: Show) -> str:
        """Write a figure with the digits of its limits, or that there is none."""
        return self.point(figures.get("shown", figures.get("estimate")), self.following(figures, show))

    def limits(self, figures: EstimateFigures, show: Show) -> str:
        """Write the limits of a figure, either of which may be missing."""
        show = self.following(figures, show)
        low, high = (self._limit(figures[end], show) for end in ("low", "high"))
        return self.words.translate("results_range", low=low, high=high)

    def with_limits(self, figures: EstimateFigures, point: str, show: Show) -> str:
        """Write the figure under the key ``point``, which may be not shown, with its limits."""
        if figures[point] is None and figures["low"] is None and figures["high"] is None:
            return self.words.translate("joint_not_shown")
        shown = self.point(figures[point], self.following(figures, show))
        return self.words.translate("joint_with_limits", figure=shown, limits=self.limits(figures, show))

    def p(self, value: float) -> str:
        """Write a p or q value without its letter."""
        return f"< {self.words.number(RARE, DIGITS)}" if value < RARE else self.words.number(value, DIGITS)

    def p_equals(self, value: float) -> str:
        """Write a p value after its letter."""
        return f"p {self.p(value)}" if value < RARE else f"p = {self.p(value)}"

    def _limit(self, value: float | None, show: Show) -> str:
        return self.words.translate("joint_no_limit") if value is None else show(value)

    @staticmethod
    def _signed(written: str, value: float) -> str:
        """Put a real minus sign, after which no line breaks, before a negative number."""
        return f"−{written}" if value < 0 else written


ENGLISH = NumberFormat(Words("en"))
"""Numbers in files and sentences that are in English alone."""
