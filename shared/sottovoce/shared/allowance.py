"""Default limits on the epsilon of a survey on one device, and the threshold above which epsilon is high."""

from typing import NamedTuple


class Allowance(NamedTuple):
    """The epsilon that a person allows: for one question, and for one whole report."""

    question: float = 3.0
    total: float = 8.0


DEFAULT_ALLOWANCE = Allowance()
"""What every device begins with, the terminal's and the browser's; its twin is in ``survey/allowance.js``."""

NEARLY_SURE = 4.39
"""
From this total on, four coin flips, whoever thought a thing 10 % likely may come to think it 90 % likely.

Then it is no longer said that a report proves nothing.
"""
