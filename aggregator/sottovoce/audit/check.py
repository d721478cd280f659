"""The result of one step of an audit."""

from collections.abc import Callable
from dataclasses import dataclass

PASSED, FAILED, NOT_DONE = "passed", "failed", "not done"

NOT_FOLLOWED = "its draws cannot be followed"

PARTS = ("statement", "integers", "python", "javascript", "files", "core", "frame")
"""The parts of an audit, in the order of its report."""


@dataclass(frozen=True)
class Check:
    """A line of an audit's report.

    Attributes:
        part: one of ``PARTS``.
        subject: the question's name, or what else was looked at.
        outcome: passed, failed or not done; what was not done is no pass.
        claim: the claimed epsilon, if this is about one.
        epsilon: the computed epsilon.
        scope: what was tried.
    """

    part: str
    subject: str
    outcome: str
    claim: float | None = None
    epsilon: float | None = None
    scope: str = ""
    message: str = ""


Tick = Callable[[float], None]
"""Called with the share of a part that has been done since the last call."""
