"""Format shares, differences, numbers and intervals of joint results in the reader's language."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sottovoce.aggregator.i18n.translator import Words

Figures = Mapping[str, Any]
"""Estimate of a result document, with the interval ``low`` and ``high``."""
Show = Callable[[float], str]

DIGITS = 4
RARE = 0.0001


@dataclass(frozen=True)
class FiguresInWords:
    """
    Number formatter of a language.

    Attributes:
        words: translator of the language.
    """

    words: Words

    def share(self, value: float) -> str:
        """Format a share (0..1) as a percentage."""
        return self.words.percent(value)

    def points(self, value: float) -> str:
        """Format a difference of shares in percentage points."""
        return self.words.say("joint_points", number=self._signed(self.words.number(abs(100 * value), 1), value))

    def figure(self, value: float) -> str:
        """Format any other number with four significant digits."""
        size = math.floor(math.log10(abs(value))) if value else 0
        return self._signed(self.words.number(abs(value), min(max(DIGITS - 1 - size, 0), 6)), value)

    def point(self, value: float | None, show: Show) -> str:
        """Format an estimate; None gives the phrase for a missing estimate."""
        return self.words.say("joint_none") if value is None else show(value)

    def limits(self, figures: Figures, show: Show) -> str:
        """Format an interval by its two limits."""
        low, high = (self._limit(figures[end], show) for end in ("low", "high"))
        return self.words.say("joint_limits", low=low, high=high)

    def with_limits(self, figures: Figures, point: str, show: Show) -> str:
        """
        Format an estimate with its interval, or as "not shown" if all values are None.

        Args:
            figures: the estimate.
            point: key of the point estimate.
            show: formatter of a single number.
        """
        if figures[point] is None and figures["low"] is None and figures["high"] is None:
            return self.words.say("joint_not_shown")
        return self.words.say(
            "joint_with_limits", figure=self.point(figures[point], show), limits=self.limits(figures, show)
        )

    def p(self, value: float) -> str:
        """Format a p-value or q-value."""
        return f"< {self.words.number(RARE, DIGITS)}" if value < RARE else self.words.number(value, DIGITS)

    def p_equals(self, value: float) -> str:
        """Format a p-value as an equation, such as "p = 0.0123" or "p < 0.0001"."""
        return f"p {self.p(value)}" if value < RARE else f"p = {self.p(value)}"

    def _limit(self, value: float | None, show: Show) -> str:
        return self.words.say("joint_no_limit") if value is None else show(value)

    @staticmethod
    def _signed(written: str, value: float) -> str:
        """Prefix a negative number with U+2212: unlike a hyphen, it allows no line break after it."""
        return f"\u2212{written}" if value < 0 else written
