"""Plans: numbers of answers of equal epsilon that are charged whole, by exact optimal composition.

Cost        k answers of epsilon each cost the least E such that they are (E, delta)-private together, see
            ``shared.composition``: 26 answers of .05 cost 1 at delta 1e-6, where their sum allows 20. Answers that are
            never asked for are paid all the same, because the bound holds for the whole plan only.
Opening     Before the first answer: what a plan reserves, epsilon and delta, must not depend on an answer. Everything
            outside of plans shares what they leave and is added up, see ``budget.total``.
Answers     A release with delta 0 and a plan's epsilon belongs to the first such plan that has answers left. Plans and
            other answers may alternate: private mechanisms compose concurrently as they do one after the other.
Sources     Kairouz, Oh and Viswanath 2017 (optimal composition); Vadhan and Zhang 2023 (concurrent composition).
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.aggregator.curator.ledger.ledger_format import ReleaseEntry, ReleaseLedger
from sottovoce.aggregator.curator.privacy_cost import Charge
from sottovoce.aggregator.curator.release import Release
from sottovoce.shared.composition import MAX_RELEASES, optimal_epsilon
from sottovoce.shared.errors import SpecError, StorageError

PLAN = "plan"
"""Verb of the entry that opens a plan."""

_MARGIN = 1 + Fraction(1, 2**50)
"""More than the rounding of one product of floats."""


@dataclass(frozen=True)
class Plan:
    """A plan in a ledger.

    Attributes:
        entry: number of its entry.
        answers: number of answers that were paid for.
        epsilon: of each answer.
        used: number of answers that were given.
        charge: of all answers together.
    """

    entry: int
    answers: int
    epsilon: Fraction
    used: int
    charge: Charge


def plan_epsilon(answers: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return an upper bound, exact to 15 digits, on the total epsilon of a plan; never above the sum.

    Each answer has this ``epsilon`` and delta 0; all together have ``delta``. Raises SpecError if there are too many
    answers, or none.
    """
    if not 1 <= answers <= MAX_RELEASES:
        raise SpecError(f"a plan has 1 to {MAX_RELEASES:,} answers")
    if delta == 0:
        return answers * epsilon
    each, allowed = float(epsilon), float(delta)
    # Epsilon is rounded up and delta down, so that the figure is never too small.
    each = math.nextafter(each, math.inf) if each < epsilon else each
    allowed = math.nextafter(allowed, 0) if allowed > delta else allowed
    found = Fraction(optimal_epsilon(each, answers, allowed)) * _MARGIN
    return min(max(found, epsilon), answers * epsilon)


def plan_release(answers: int, epsilon: Fraction, delta: Fraction) -> Release:
    """Return the release that opens a plan; it reveals nothing and costs what the plan costs, see ``plan_epsilon``."""
    charge = Charge(plan_epsilon(answers, epsilon, delta), delta)
    note = f"{answers:,} answers of epsilon {float(epsilon):.6g} are paid for, also those that are never asked for"
    return Release({}, {}, charge, "", {}, (note,))


def plan_form(answers: int, epsilon: Fraction, delta: Fraction) -> Mapping[str, Any]:
    """Return the canonical form of a plan, as questions have one; two equal plans are one."""
    return {"verb": PLAN, "answers": answers, "epsilon": str(epsilon), "delta": str(delta)}


def plans_in(ledger: ReleaseLedger) -> list[Plan]:
    """Return the plans of a ledger, in order.

    Raises StorageError if an entry belongs to a plan that has no such answer, which ``Budget`` never writes.
    """
    used = Counter(entry.plan for entry in ledger.entries if entry.plan is not None)
    plans = [_plan(entry, used[entry.number]) for entry in ledger.entries if entry.question["verb"] == PLAN]
    costs = {plan.entry: Charge(plan.epsilon) for plan in plans if plan.used <= plan.answers}
    for entry in ledger.entries:
        if entry.plan is not None and not _is_paid(entry.charge, costs.get(entry.plan)):
            raise StorageError(f"the budget's entry {entry.number} is no answer of its plan")
    if any(entry.question["verb"] != PLAN for entry in ledger.entries[: len(plans)]):
        raise StorageError("a plan of the budget was opened after an answer, which this software never does")
    return plans


def _plan(entry: ReleaseEntry, used: int) -> Plan:
    return Plan(entry.number, entry.question["answers"], Fraction(entry.question["epsilon"]), used, entry.charge)


def _is_paid(charge: Charge, by: Charge | None) -> bool:
    return by is not None and charge.delta == 0 and charge.epsilon == by.epsilon


def paying_plan(ledger: ReleaseLedger, charge: Charge) -> Plan | None:
    """Return the first plan that has paid for an answer of this cost and has answers left, or None."""
    return next(
        (each for each in plans_in(ledger) if _is_paid(charge, Charge(each.epsilon)) and each.used < each.answers), None
    )
