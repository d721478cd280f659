"""Work in a second process comes back whole, or has failed."""

import os

from sottovoce.audit.beside import started_beside, surely
from sottovoce.audit.check import FAILED, PASSED, Check


def test_checks_come_back() -> None:
    """Whatever was changed in this process is so in the other."""
    secret = str(os.getpid())
    assert started_beside("python", "q", lambda: [Check("python", secret, PASSED)])() == [
        Check("python", secret, PASSED)
    ]


def test_work_that_stops_has_failed() -> None:
    """With an error, or without a word."""
    for work in (lambda: 1 / 0, lambda: os._exit(3)):
        [check] = started_beside("python", "q", work)()  # type: ignore[arg-type]
        assert (check.outcome, check.message) == (FAILED, "the client stops with an error")
    assert surely("python", "q", lambda: 1 / 0)[0].outcome == FAILED  # type: ignore[arg-type, return-value]
