"""
From counts to a lower bound on epsilon.

Maths   For an event S and two inputs x and x', (epsilon, delta)-privacy says P(S | x) <= e^epsilon P(S | x') + delta.
        With one-sided Clopper-Pearson limits L <= P(S | x) and U >= P(S | x'), epsilon >= ln((L - delta) / U). Of m
        events in both directions each limit is taken at the level alpha / (4 m), so that all bounds hold together
        with probability 1 - alpha at least; an honest mechanism is flagged no oftener than that.
Power   n of about 1.1 to 2 times e^epsilon ln(1/alpha) / p finds a true answer that leaks with probability p.
Source  Clopper and Pearson 1934; Jagielski, Ullman and Oprea 2020 (audits by such limits).
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from sottovoce.audit.events import READ_NAMES, Events, Observation, count_read
from sottovoce.shared.accounting import check_epsilon, check_whole

MAX_SAMPLES = 10_000_000

Sample = Callable[[object, int], Iterable[Observation]]
"""``sample(input, n)``: n independent runs of a mechanism on an input."""


@dataclass(frozen=True)
class Comparison:
    """
    Counts of the same events under two inputs.

    Attributes:
        subject: what was compared, for the report.
        claim: the epsilon that is claimed; 0 for what may not depend on the input at all.
        names: of the events.
        first, second: counts of each event.
        runs: numbers of runs under the first and the second input.
    """

    subject: str
    claim: float
    names: Sequence[str]
    first: Sequence[int]
    second: Sequence[int]
    runs: tuple[int, int]


@dataclass(frozen=True)
class BoundFinding:
    """
    The worst event of one comparison.

    Attributes:
        subject, claim: those of the comparison.
        epsilon: the lower bound; 0 if nothing was told apart.
        event: the event that it comes from.
        reach: the largest bound that so many runs could give; if it does not exceed the claim, nothing was tested.
    """

    subject: str
    claim: float
    epsilon: float
    event: str
    reach: float

    @property
    def passed(self) -> bool:
        """Return True if the lower bound is at most the claim; a claim of NaN never passes."""
        return self.epsilon <= self.claim

    @property
    def tested(self) -> bool:
        """Return True if the sample was large enough to find an excess over the claim."""
        return self.reach > self.claim


@dataclass(frozen=True)
class BoundVerdict:
    """
    Result of an audit by sampling.

    Attributes:
        findings: the worst event of each comparison.
        events: the number m of events in all comparisons.
    """

    findings: tuple[BoundFinding, ...]
    events: int

    @property
    def passed(self) -> bool:
        """Return True if no comparison contradicts its claim."""
        return all(finding.passed for finding in self.findings)

    @property
    def worst(self) -> BoundFinding:
        """The finding that exceeds its claim most, else the one with the largest bound."""
        wrong = [finding for finding in self.findings if not finding.passed]
        if wrong:
            return max(wrong, key=lambda finding: finding.epsilon - finding.claim)
        return max(self.findings, key=lambda finding: finding.epsilon)


def audit(  # noqa: PLR0913, PLR0917 - in the order of the sentence
    sample: Sample, inputs: Sequence[object], events: Events, claim: float, n: int, alpha: float, delta: float = 0.0
) -> BoundVerdict:
    """
    Test a mechanism against the claim of (epsilon, delta)-privacy by n runs on each of its inputs.

    Args:
        sample: runs the mechanism.
        inputs: two at least; every pair is compared.
        events: fixed beforehand.
        claim: epsilon.
        n: runs on each input.
        alpha: probability of flagging an honest mechanism, at most.
        delta: of the claim.

    Raises:
        ValueError: n, alpha, delta or the claim is out of range. A claim that is not a number is no claim.
    """
    check_epsilon(claim)
    if len(inputs) < 2:
        raise ValueError("there must be at least two inputs to compare")
    check_whole(n, 1, MAX_SAMPLES, "the number of runs")
    drawn = [list(sample(value, n)) for value in inputs]
    counted = [(events.count(seen), count_read(seen), len(seen)) for seen in drawn]
    comparisons = []
    for (i, first), (j, second) in combinations(enumerate(counted), 2):
        pair, runs = f"inputs {i} and {j}", (first[2], second[2])
        comparisons.append(Comparison(pair, claim, events.names, first[0], second[0], runs))
        comparisons.append(Comparison(pair, 0.0, READ_NAMES, first[1], second[1], runs))
    return judge(comparisons, alpha, delta)


def judge(comparisons: Sequence[Comparison], alpha: float, delta: float = 0.0) -> BoundVerdict:
    """
    The lower bounds of all comparisons, which hold together with probability 1 - alpha at least.

    Args:
        comparisons: counts under pairs of inputs.
        alpha: probability of flagging an honest mechanism, at most.
        delta: of the claims.

    Raises:
        ValueError: alpha or delta is out of range.
    """
    if not 0 < alpha < 1:
        raise ValueError("alpha must lie between 0 and 1")
    if not 0 <= delta < 1:
        raise ValueError("delta must be at least 0 and below 1")
    events = sum(len(comparison.names) for comparison in comparisons)
    level = alpha / (4 * events) if events else alpha
    return BoundVerdict(tuple(_finding(comparison, level, delta) for comparison in comparisons), events)


def _finding(comparison: Comparison, level: float, delta: float) -> BoundFinding:
    (low_1, high_1), (low_2, high_2) = (
        limits(counts, n, level)
        for counts, n in zip((comparison.first, comparison.second), comparison.runs, strict=True)
    )
    # What may not depend on the input has no delta either.
    allowed = delta if comparison.claim else 0.0
    worst, event = 0.0, ""
    for index, name in enumerate(comparison.names):
        for low, high in ((low_1[index], high_2[index]), (low_2[index], high_1[index])):
            bound = math.log((low - allowed) / high) if low > allowed else 0.0
            if bound > worst:
                worst, event = bound, name
    reach = min(_reach(one, other, level, allowed) for one, other in (comparison.runs, comparison.runs[::-1]))
    return BoundFinding(comparison.subject, comparison.claim, worst, event, reach)


def _reach(always: int, never: int, level: float, delta: float) -> float:
    """The bound from an event that occurs in all runs under one input, and in none under the other."""
    if not always or not never:
        return 0.0
    low, high = level ** (1 / always), 1 - level ** (1 / never)
    return max(0.0, math.log((low - delta) / high)) if low > delta else 0.0


def limits(counts: Sequence[int], n: int, level: float) -> tuple[list[float], list[float]]:
    """
    One-sided Clopper-Pearson limits for each count of n, each of them right with probability 1 - ``level``.

    Args:
        counts: of events.
        n: runs in which they were counted.
        level: probability that one limit is wrong, at most.

    Returns:
        (lower limits, upper limits)
    """
    # It brings numpy, for which an audit that samples nothing would only wait.
    from sottovoce.aggregator.estimators.beta import beta_quantile

    distinct = sorted(set(counts))
    inner = [count for count in distinct if 0 < count <= n]
    outer = [count for count in distinct if 0 <= count < n]
    lower = dict(zip(inner, beta_quantile(level, inner, [n - c + 1 for c in inner]).tolist(), strict=True))
    # The upper limit is 1 - t, t the quantile of Beta(n - c, c + 1) at the level.
    upper = dict(zip(outer, beta_quantile(level, [n - c for c in outer], [c + 1 for c in outer]).tolist(), strict=True))
    return [lower.get(count, 0.0) for count in counts], [1 - upper.get(count, 0.0) for count in counts]
