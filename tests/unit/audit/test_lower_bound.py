"""From counts to a verdict: the level of each limit, the bound that follows, and what counts as a pass."""

import math

import pytest
from sottovoce.audit.events import READ_NAMES
from sottovoce.audit.lower_bound import BoundFinding, BoundVerdict, Comparison, judge, limits

COIN = Comparison("coin", math.log(3), ("yes", "no"), (100, 0), (0, 100), (100, 100))
"""All of a hundred say yes under one input, and none under the other."""


def finding(epsilon: float, claim: float) -> BoundFinding:
    """A finding with this bound."""
    return BoundFinding("subject", claim, epsilon, "event", 9.0)


def test_bound_that_exceeds_its_claim_by_anything_is_no_pass() -> None:
    """It holds with the promised probability already; nothing is allowed on top."""
    claim = math.log(3)

    assert finding(claim, claim).passed
    assert not finding(math.nextafter(claim, 9), claim).passed
    assert not finding(0.0, math.nan).passed


def test_verdict_passes_only_if_every_finding_does() -> None:
    """And names the one that exceeds its claim most."""
    good, bad, worse = finding(1.0, 2.0), finding(0.5, 0.4), finding(1.0, 0.5)

    assert BoundVerdict((good, good), 2).passed
    assert not BoundVerdict((good, bad, good), 3).passed
    assert BoundVerdict((good, bad, worse), 3).worst is worse
    assert BoundVerdict((good, finding(1.5, 2.0)), 2).worst.epsilon == 1.5


def test_events_share_the_probability_of_a_false_alarm() -> None:
    """Each of m events takes alpha / (4 m) for each of its limits: in both directions, one above and one below."""
    for others in (0, 7):
        more = [Comparison("reads", 0.0, ("read",), (50,), (50,), (100, 100))] * others
        verdict = judge([COIN, *more], alpha=0.01)
        level = 0.01 / (4 * (2 + others))
        low, high = level ** (1 / 100), 1 - level ** (1 / 100)

        assert verdict.events == 2 + others
        assert verdict.findings[0].epsilon == pytest.approx(math.log(low / high), rel=1e-9)
        assert verdict.findings[0].reach == pytest.approx(verdict.findings[0].epsilon)


def test_limits_are_one_sided_at_their_level() -> None:
    """Of 10 of 100: the binomial tails beyond the limits have just the level."""
    (low,), (high,) = limits([10], 100, 0.001)

    def tail(p: float, counts: range) -> float:
        return math.fsum(math.comb(100, c) * p**c * (1 - p) ** (100 - c) for c in counts)

    assert tail(low, range(10, 101)) == pytest.approx(0.001)
    assert tail(high, range(11)) == pytest.approx(0.001)


def test_what_is_read_may_not_depend_on_the_input() -> None:
    """A claim of nothing allows no delta either: one byte more under one input is told."""
    names = READ_NAMES
    first = [100 if name == "bytes read > 4" else 0 for name in names]
    verdict = judge([Comparison("reads", 0.0, names, first, [0] * len(names), (100, 100))], alpha=0.05, delta=0.9)

    assert not verdict.passed
    assert verdict.worst.event == "bytes read > 4"
