"""Format of a budget's ledger (a hash chain of lines, one JSON object each) and of the plans in it.

Line 0 has the terms of the budget; each further line is an entry with question, charge and answer. Every line has the
hash of the line before it and its own: the SHA-256 of its canonical JSON without that hash.

Plans are numbers of answers of equal epsilon that are charged whole, by exact optimal composition:

Cost        k answers of epsilon each cost the least E such that they are (E, delta)-private together, see
            ``shared.accounting``: 26 answers of .05 cost 1 at delta 1e-6, where their sum allows 20. Answers that are
            never asked for are paid all the same, because the bound holds for the whole plan only.
Opening     Before the first answer: what a plan reserves, epsilon and delta, must not depend on an answer. Everything
            outside of plans shares what they leave and is added up, see ``budget.total``.
Answers     A release with delta 0 and a plan's epsilon belongs to the first such plan that has answers left. Plans and
            other answers may alternate: private mechanisms compose concurrently as they do one after the other.
Sources     Kairouz, Oh and Viswanath 2017 (optimal composition); Vadhan and Zhang 2023 (concurrent composition).
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.aggregator.curator.ledger.ledger_anchor import LedgerHead
from sottovoce.aggregator.curator.release import Charge, Neighbours, Release
from sottovoce.shared import canonical
from sottovoce.shared.accounting import MAX_RELEASES, optimal_epsilon
from sottovoce.shared.errors import SpecError, StorageError

FORMAT = "sottovoce-budget/1"
FIRST = "0" * 64
"""Value of ``previous`` in line 0."""


@dataclass(frozen=True)
class BudgetTerms:
    """Terms of a budget, fixed when it is opened; only the declaration may be corrected, until the first answer.

    Attributes:
        epsilon, delta: limits for the total cost of all answers.
        records: number of records if it is public, that is, under replace-one; else None.
        data: SHA-256 of the data.
        declaration: digest of the declaration.
    """

    epsilon: Fraction
    delta: Fraction
    neighbours: Neighbours
    records: int | None
    data: str
    declaration: str

    def document(self) -> dict[str, Any]:
        """Return the terms as JSON."""
        written = {"epsilon": str(self.epsilon), "delta": str(self.delta), "neighbours": self.neighbours.value}
        return vars(self) | written


@dataclass(frozen=True)
class ReleaseEntry:
    """An answered question.

    Attributes:
        number: from 1.
        question: in canonical form.
        answer: ``values``, ``sensitivity``, ``error`` and ``notes`` of the release.
        plan: number of the entry of the plan that has paid for the answer; None if the budget pays.
    """

    number: int
    question: Mapping[str, Any]
    charge: Charge
    answer: Mapping[str, Any]
    plan: int | None = None


@dataclass(frozen=True)
class ReleaseLedger:
    """A ledger whose hash chain was checked; ``heads`` has number and hash of each line, by its number."""

    terms: BudgetTerms
    entries: Sequence[ReleaseEntry]
    heads: Sequence[LedgerHead]

    @property
    def head(self) -> LedgerHead:
        """Number and hash of the last line."""
        return self.heads[-1]

    def answer_to(self, question: Mapping[str, Any]) -> ReleaseEntry | None:
        """Return the entry that answered this question, or None."""
        asked = canonical.dump(question)
        return next((entry for entry in self.entries if canonical.dump(entry.question) == asked), None)


def first_line(terms: BudgetTerms) -> bytes:
    """Return line 0 of a ledger."""
    return _line({"format": FORMAT, **terms.document()}, 0, FIRST)


def entry_line(question: Mapping[str, Any], release: Release, before: LedgerHead, plan: int | None = None) -> bytes:
    """Return the line of an entry; ``question`` is in canonical form, ``before`` is the line before it.

    ``plan`` is the number of the entry of the plan that has paid for it, or None.
    """
    rho = release.charge.rho
    content = {
        "question": question,
        "charge": {**release.charge.document(), "rho": None if rho is None else str(rho)},
        "answer": {name: part for name, part in vars(release).items() if name != "charge"},
        **({} if plan is None else {"plan": plan}),
    }
    return _line(content, before.number + 1, before.hash)


def _line(content: Mapping[str, Any], number: int, previous: str) -> bytes:
    whole = {"number": number, "previous": previous, **content}
    return canonical.dump({**whole, "hash": _hash(whole)}) + b"\n"


def _hash(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical.dump(content)).hexdigest()


def parse_ledger(content: bytes) -> ReleaseLedger:
    """Parse a ledger of complete lines and check its hash chain.

    Raises StorageError, which names the line, if one was changed, dropped, swapped or added.
    """
    found: list[dict[str, Any]] = []
    heads = [LedgerHead(-1, FIRST)]
    for number, line in enumerate(content.split(b"\n")[:-1]):
        fields = _parse_line(line, number)
        if fields["number"] != number or fields["previous"] != heads[-1].hash:
            raise StorageError(f"the budget's entry {number} does not follow from the one before it")
        heads.append(LedgerHead(number, fields["hash"]))
        found.append(fields)
    if not found:
        raise StorageError("the budget's ledger is empty")
    return ReleaseLedger(_terms(found[0]), [_entry(fields) for fields in found[1:]], heads[1:])


def _parse_line(line: bytes, number: int) -> dict[str, Any]:
    try:
        content = json.loads(line)
        spelled = canonical.dump(content) == line
        written = content.pop("hash")
        if spelled and written == _hash(content):
            return {"number": content["number"], "previous": content["previous"], **content, "hash": written}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise StorageError(f"the budget's entry {number} is not what was written")


def _terms(content: Mapping[str, Any]) -> BudgetTerms:
    try:
        return BudgetTerms(
            Fraction(content["epsilon"]),
            Fraction(content["delta"]),
            Neighbours(content["neighbours"]),
            content["records"],
            content["data"],
            content["declaration"],
        )
    except (KeyError, ValueError, TypeError):
        raise StorageError("the budget's entry 0 does not say what it is about; is this file a budget?") from None


def _entry(content: Mapping[str, Any]) -> ReleaseEntry:
    try:
        rho = content["charge"]["rho"]
        charge = Charge(
            Fraction(content["charge"]["epsilon"]),
            Fraction(content["charge"]["delta"]),
            None if rho is None else Fraction(rho),
        )
        return ReleaseEntry(content["number"], content["question"], charge, content["answer"], content.get("plan"))
    except (KeyError, ValueError, TypeError):
        raise StorageError(f"the budget's entry {content['number']} has no question, charge and answer") from None


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
        used: number of answers that were given.
        epsilon: of each answer.
        charge: of all answers together.
    """

    entry: int
    answers: int
    used: int
    epsilon: Fraction
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
    return Release({}, charge, "", {}, (note,))


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
    return Plan(entry.number, entry.question["answers"], used, Fraction(entry.question["epsilon"]), entry.charge)


def _is_paid(charge: Charge, by: Charge | None) -> bool:
    return by is not None and charge.delta == 0 and charge.epsilon == by.epsilon


def paying_plan(ledger: ReleaseLedger, charge: Charge) -> Plan | None:
    """Return the first plan that has paid for an answer of this cost and has answers left, or None."""
    return next(
        (each for each in plans_in(ledger) if _is_paid(charge, Charge(each.epsilon)) and each.used < each.answers), None
    )
