"""Compose privacy loss over reports (epsilon over questions, waves and people), and check it against a device's limits.

Questions    Two answers of one person cost the sum of their epsilons, whatever the answers are and however they are
             associated. Where each respondent draws m of the questions, a report costs at most the m largest.
Waves        Unlinked waves draw anew each time, and are charged in full each time.
People       Reports of different people are parallel: a survey of a thousand respondents costs each of them what her
             own report costs. Questions of one person are never parallel. k people whose data change together, such
             as a household, lose k epsilon (and k e^((k-1) epsilon) delta).
Processing   Whatever is computed from reports costs nothing more: estimates, tables, exports, a second look.
Sources      Dwork and Roth 2014, sections 2.3 and 3.5; Vadhan 2017 (group privacy with delta).

Everything is a worst case. ``report_epsilon`` and ``waves_epsilon`` have a twin in the browser's client. Other accounts
that are smaller, under conditions, are in ``shuffling`` and here, of many releases with a small delta:

Optimal     The worst k releases of epsilon each are k randomized responses with a = e^epsilon / (1 + e^epsilon). Their
            curve is exact: delta(E) = sum over l of max(P_l - e^E Q_l, 0), P = Bin(k, a), Q = Bin(k, 1 - a), and
            P_l / Q_l = e^((2l - k) epsilon). Between two such ratios the set of terms is fixed and delta is linear in
            e^E, so that the least E for a delta has a closed form too. Computed with 60 decimal digits.
Comparison  Dwork, Rothblum and Vadhan: sqrt(2 k ln(1/delta)) epsilon + k epsilon (e^epsilon - 1). Known as "advanced",
            and larger than the plain sum for most surveys; then it is not shown.
Use         Next to none for what leaves a device: under 45 answers at ln 3, 30 at ln 2 or 15 at 0.1 even the optimal
            account gains less than 1 % on the plain sum (delta 10^-6). The ledger is the plain sum.
Sources     Kairouz, Oh and Viswanath 2017; Dwork, Rothblum and Vadhan 2010.
"""

import math
from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from typing import NamedTuple

from sottovoce.shared.errors import BudgetExhausted
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Survey

BELIEF_BEFORE = 0.1
"""Belief in a statement about a person before a report, for which all texts give the belief after it."""

MAX_PEOPLE = 1000
"""The largest group that an account is made for."""

MAX_WAVES = 1000
"""The most waves that an account is made for."""

MAX_RELEASES = 10_000

_DIGITS = 60


class Allowance(NamedTuple):
    """The epsilon that a person allows: for one question, and for one whole report."""

    question: float = 3.0
    total: float = 8.0


DEFAULT_ALLOWANCE = Allowance()
"""Limits that every device begins with, the terminal's and the browser's; its twin is in ``survey/allowance.js``."""

NEARLY_SURE = 4.39
"""
Total epsilon (four coin flips: 4 ln 3) for which a prior of 10 % can become a posterior of 90 %.

From there on, the receipt no longer says that a report proves nothing.
"""


def check_allowance(survey: Survey, allowance: Allowance) -> None:
    """Raise BudgetExhausted if one question, or the whole report, costs more than is allowed."""
    # Written so that a limit that is not a number refuses everything.
    for question in survey.questions:
        if not question.epsilon <= allowance.question:
            raise BudgetExhausted(
                f"question '{question.name}' costs epsilon {show_epsilon(question.epsilon)}, "
                f"more than the {allowance.question:g} that you allow for one question"
            )
    if not survey.epsilon <= allowance.total:
        raise BudgetExhausted(
            f"the survey costs epsilon {show_epsilon(survey.epsilon)}, "
            f"more than the {allowance.total:g} that you allow in total"
        )


def report_epsilon(epsilons: Sequence[float], ask: int | None = None) -> float:
    """Return the privacy loss of one report: the sum of the epsilons, 0 for public questions, or of the ``ask``
    largest.

    ``ask`` is how many of the questions each respondent draws and answers; None for all of them. Raises ValueError if
    an epsilon is negative or no number, or there are fewer questions than are asked.
    """
    for epsilon in epsilons:
        check_epsilon(epsilon)
    if ask is None:
        return math.fsum(epsilons)
    check_whole(ask, 1, len(epsilons), "the number of questions asked")
    return math.fsum(sorted(epsilons, reverse=True)[:ask])


def waves_epsilon(epsilon: float, waves: int) -> float:
    """Return the privacy loss of answering so many unlinked waves, each with a fresh draw."""
    check_epsilon(epsilon)
    check_whole(waves, 1, MAX_WAVES, "the number of waves")
    return epsilon * waves


def group_epsilon(epsilon: float, people: int) -> float:
    """Return the privacy loss of a group of people whose data change together (group privacy, with delta 0: what leaves
    a device has none).

    Raises ValueError if epsilon or the number of people is out of range.
    """
    check_epsilon(epsilon)
    check_whole(people, 1, MAX_PEOPLE, "the number of people")
    return people * epsilon


def belief_after(before: float, epsilon: float) -> float:
    """Return the strongest belief in a statement about a respondent after her report, whatever it was, in [0, 1].

    Bayes' rule with odds of e^epsilon: an upper bound for every observer whose belief was ``before``. Raises ValueError
    if ``before`` is no probability, or epsilon is out of range.
    """
    check_epsilon(epsilon)
    if not 0 <= before <= 1:
        raise ValueError("a belief must lie between 0 and 1")
    # Divided by e^epsilon, which may overflow where its inverse does not.
    return before / (before + (1 - before) * math.exp(-epsilon)) if before else 0.0


def percent_after(epsilon: float) -> int:
    """Return what a belief of 10 % can become at most after a report, in whole per cent, rounded up."""
    return percent_at_most(belief_after(BELIEF_BEFORE, epsilon))


def percent_at_most(share: float) -> int:
    """Return an upper bound of a share in whole per cent, rounded up."""
    # Epsilon is a rounded logarithm: four coin flips make 10 % exactly 90 %, and a float a little more.
    return math.ceil(100 * share - 1e-9)


def check_epsilon(epsilon: float) -> None:
    """Raise ValueError if epsilon is negative, infinite or not a number."""
    if not 0 <= epsilon < math.inf:
        raise ValueError("epsilon must be at least 0 and finite")


def check_delta(delta: float) -> None:
    """Raise ValueError unless 0 < delta < 1: 0 is pure privacy, which needs no such account, and 1 promises nothing."""
    if not 0 < delta < 1:
        raise ValueError("delta must lie between 0 and 1")


def check_delta_among(delta: float, people: int) -> None:
    """Refuse a delta that one could have by publishing one of so many people's answers as it is, now and then.

    Raises ValueError if it is no delta, or 1/(10 n) or more.
    """
    check_delta(delta)
    if delta * 10 * people >= 1:
        raise ValueError("delta must be below 1/(10 n), n the number of respondents: else it may stand for one of them")


def is_large_delta(delta: float, people: int) -> bool:
    """Return True if delta is above 1/n^2: over all n people, it is then a probability above 1/n."""
    return delta * people**2 > 1


def check_whole(number: int, low: int, high: int, what: str) -> None:
    """Raise ValueError, which names ``what`` and the range, if a number is no whole one in it."""
    if type(number) is not int or not low <= number <= high:
        raise ValueError(f"{what} must be a whole number from {low} to {high}")


def optimal_epsilon(epsilon: float, releases: int, delta: float) -> float:
    """Return the least E for which so many releases of ``epsilon`` each are (E, delta)-private; at most their plain
    sum.

    ``delta`` is for all together. Raises ValueError if epsilon, delta or the number of releases is out of range.
    """
    check_epsilon(epsilon)
    check_delta(delta)
    check_whole(releases, 1, MAX_RELEASES, "the number of releases")
    with localcontext(Context(prec=_DIGITS)):
        allowed, p_sum, q_sum = Decimal(delta), Decimal(0), Decimal(0)
        for p, q in _terms(epsilon, releases):
            # At the ratio of this term all terms before it count. Once their sum exceeds delta, E is above the ratio.
            if p_sum - p / q * q_sum > allowed:
                break
            p_sum, q_sum = p_sum + p, q_sum + q
        exact = ((p_sum - allowed) / q_sum).ln() if p_sum > allowed else Decimal(0)
        return min(max(0.0, math.nextafter(float(exact), math.inf)), releases * epsilon)


def advanced_epsilon(epsilon: float, releases: int, delta: float) -> float | None:
    """Return Dwork, Rothblum and Vadhan's figure, or None where it exceeds the plain sum and would only mislead.

    Arguments are as for ``optimal_epsilon``.
    """
    check_epsilon(epsilon)
    check_delta(delta)
    check_whole(releases, 1, MAX_RELEASES, "the number of releases")
    if epsilon > 1:  # it exceeds k epsilon (e - 1)
        return None
    figure = math.sqrt(2 * releases * math.log(1 / delta)) * epsilon + releases * epsilon * math.expm1(epsilon)
    return figure if figure < releases * epsilon else None


def _terms(epsilon: float, releases: int) -> "list[tuple[Decimal, Decimal]]":
    """Return (P_l, Q_l) from the largest ratio to the smallest; in the caller's decimal context."""
    odds = Decimal(epsilon).exp()
    q = 1 / (1 + odds) ** releases
    p = odds**releases * q
    terms = []
    for count in range(releases + 1):
        terms.append((p, q))
        # One answer fewer on the likelier side: C(k, l) grows by (k - l) / (l + 1).
        step = Decimal(releases - count) / (count + 1)
        p, q = p * step / odds, q * step * odds
    return terms
