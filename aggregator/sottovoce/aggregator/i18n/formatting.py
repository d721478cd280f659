"""Figures of joint results as a reader's language writes them: shares, points, numbers, and always their limits."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sottovoce.aggregator.i18n.translator import Words

Figures = Mapping[str, Any]
"""A figure of a document with its limits ``low`` and ``high``."""
Show = Callable[[float], str]

DIGITS = 4
RARE = 0.0001


@dataclass(frozen=True)
class FiguresInWords:
    """
    One language.

    Attributes:
        words: its sentences and numbers.
    """

    words: Words

    def share(self, value: float) -> str:
        """A share of 1."""
        return self.words.percent(value)

    def points(self, value: float) -> str:
        """A difference of shares."""
        return self.words.say("joint_points", number=self._signed(self.words.number(abs(100 * value), 1), value))

    def figure(self, value: float) -> str:
        """Any other number, with four digits."""
        size = math.floor(math.log10(abs(value))) if value else 0
        return self._signed(self.words.number(abs(value), min(max(DIGITS - 1 - size, 0), 6)), value)

    def point(self, value: float | None, show: Show) -> str:
        """The figure itself, or that there is none."""
        return self.words.say("joint_none") if value is None else show(value)

    def limits(self, figures: Figures, show: Show) -> str:
        """From the lower limit to the upper one."""
        low, high = (self._limit(figures[end], show) for end in ("low", "high"))
        return self.words.say("joint_limits", low=low, high=high)

    def with_limits(self, figures: Figures, point: str, show: Show) -> str:
        """
        A figure with its limits.

        Args:
            figures: the figure, maybe not shown.
            point: its key.
            show: how a number is written.
        """
        if figures[point] is None and figures["low"] is None and figures["high"] is None:
            return self.words.say("joint_not_shown")
        return self.words.say(
            "joint_with_limits", figure=self.point(figures[point], show), limits=self.limits(figures, show)
        )

    def p(self, value: float) -> str:
        """A p or q value by itself."""
        return f"< {self.words.number(RARE, DIGITS)}" if value < RARE else self.words.number(value, DIGITS)

    def p_equals(self, value: float) -> str:
        """The same after its letter."""
        return f"p {self.p(value)}" if value < RARE else f"p = {self.p(value)}"

    def _limit(self, value: float | None, show: Show) -> str:
        return self.words.say("joint_no_limit") if value is None else show(value)

    @staticmethod
    def _signed(written: str, value: float) -> str:
        """A real minus sign, that no line breaks after."""
        return f"\u2212{written}" if value < 0 else written
