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
Total epsilon (four coin flips: 4 ln 3) at which a prior of 10 % can become a posterior of 90 %.

From there on, the receipt no longer says that a report proves nothing.
"""
