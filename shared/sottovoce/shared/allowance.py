"""What a device lets a survey cost, unless its owner says otherwise; a survey above it is asked of nobody."""

from typing import NamedTuple


class Allowance(NamedTuple):
    """The epsilon that a person allows: for one question, and for one whole report."""

    question: float = 3.0
    total: float = 8.0


DEFAULT_ALLOWANCE = Allowance()
"""What every device begins with, the terminal's and the browser's; its twin is in ``survey/allowance.js``."""
