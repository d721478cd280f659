"""
Everything that may happen to a device, in both languages: how much of it an audit follows, and what it found before.

The verdict is about one client's files and not about a survey; where it passed, it is kept by their SHA-256.
"""

from collections.abc import Callable, Mapping
from functools import partial

from sottovoce.audit.beside import surely
from sottovoce.audit.check import Check
from sottovoce.audit.device_events import check_events
from sottovoce.audit.javascript_events import check_javascript_events
from sottovoce.audit.kept_verdicts import kept_or_found, kept_verdict, scripts
from sottovoce.audit.small_surveys import Scenario, scenarios, signed_scenario

LIFE = "life of a device"

LENGTHS = (3, 3, 2)
"""Most events in a course, of the ordinary small survey, of the rich one and of the one with signed reports."""

QUICK = (1, 1, 1)
"""The same, while a survey is edited and where nothing was found before."""


def check_lives(language: str, quick: bool, signed: bool = False) -> list[Check]:
    """
    Every course of events on the small surveys.

    Args:
        language: one of ``CLIENTS``.
        quick: shorter courses, where nothing was found before.
        signed: of reports that come with a signature, too.
    """
    found = []
    followed = [*scenarios(), *([signed_scenario()] if signed else [])]
    for scenario, length, least in zip(followed, LENGTHS, QUICK, strict=False):
        kept = kept_verdict(language, _asked(scenario, length))
        most = least if quick else length
        find = partial(CLIENTS[language], scenario, most)
        found.append(kept or kept_or_found(language, _asked(scenario, most), find))
    return found


def _asked(scenario: Scenario, length: int) -> str:
    return f"{scenario.name}, {length}"


def _python(scenario: Scenario, length: int) -> Check:
    [check] = surely("python", LIFE, lambda: [check_events("python", scenario, length)])
    return check


def _javascript(scenario: Scenario, length: int) -> Check:
    [check] = check_javascript_events(scripts(), [scenario], {scenario.name: length})
    return check


CLIENTS: Mapping[str, Callable[[Scenario, int], Check]] = {"python": _python, "javascript": _javascript}
