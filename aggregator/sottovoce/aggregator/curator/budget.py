"""The privacy budget of a data set: each question with its charge and answer, recorded before the answer is shown.

The order of steps is fixed: draw the answer, write and sync its ledger entry, write and sync the head (the ledger
anchor) in its separate folder, and only then return the entry. A process that stops in between has at most charged for
an answer that was never shown. Asking the same question again returns the recorded answer without a charge, since a
second look at one draw reveals nothing new.

An incomplete last line was never synced, so its answer was never shown: ``Budget`` removes it. A complete line that the
head does not cover yet was not shown either; it stays, and so does its charge.

Two accounts of the total are kept (sequential composition), and the smaller one counts:
    sum    Basic composition: epsilon and delta add up.
    zCDP   rho adds up, and rho-zCDP implies (rho + 2 sqrt(rho ln(1/d)), d)-differential privacy. A pure
           epsilon-private release has rho = epsilon tanh(epsilon/2) at most; Gaussian noise states its own rho.

Questions may be adaptive, that is, depend on earlier answers, and so does the choice of the smaller account. Each
account alone is a valid privacy filter under adaptive questions. To use both, each gets half of the budget's delta: an
outcome that the sum covers is charged to one half, any other outcome to the other half, so that the whole is
(epsilon, delta)-private. A sum of releases with delta 0 uses none of its half.

Parallel composition is never applied: parts of one data set that are chosen by values depend on those values. Parts
that are fixed without looking at a value, such as two files without a person in common, are two data sets, each with
its own budget.

Sources: Dwork et al. 2006 (basic composition); Bun and Steinke 2016 (zCDP, and its conversion); Harrison and
Manurangsi 2025 (tanh); Rogers et al. 2016, Whitehouse et al. 2023 (privacy filters for adaptive questions).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

from sottovoce.aggregator.curator.ledger.ledger_anchor import LedgerAnchor, LedgerHead, LedgerPlace
from sottovoce.aggregator.curator.ledger.ledger_format import (
    PLAN,
    BudgetTerms,
    ReleaseEntry,
    ReleaseLedger,
    entry_line,
    first_line,
    parse_ledger,
    paying_plan,
    plan_form,
    plan_release,
    plans_in,
)
from sottovoce.aggregator.curator.release import Charge, Release
from sottovoce.shared import canonical
from sottovoce.shared.errors import BudgetExhausted, StorageError

ENDING = ".budget"

_PRECISE = Context(prec=60)
_GRAIN = Decimal(10) ** -15
SUM, ZCDP = "sum", "zCDP"


@dataclass(frozen=True)
class Total:
    """Total privacy cost of several releases.

    Attributes:
        epsilon: exact for ``SUM``; for ``ZCDP`` rounded up at about the 15th decimal.
        account: account that gave it, ``SUM`` or ``ZCDP``.
        delta: for ``SUM`` the sum of the deltas, for ``ZCDP`` the delta of the conversion.
    """

    epsilon: Fraction
    account: str
    delta: Fraction


def total(charges: Iterable[Charge], delta: Fraction) -> Total | None:
    """Return the smaller of both accounts, each with half of the budget's delta; None if neither stays within it."""
    made = list(charges)
    half = delta / 2
    totals = [found for found in (_sum(made, half), _zcdp(made, half)) if found is not None]
    return min(totals, key=lambda each: each.epsilon, default=None)


def _sum(charges: list[Charge], delta: Fraction) -> Total | None:
    spent = sum((charge.delta for charge in charges), Fraction(0))
    return None if spent > delta else Total(sum((charge.epsilon for charge in charges), Fraction(0)), SUM, spent)


def _zcdp(charges: list[Charge], delta: Fraction) -> Total | None:
    found = [rho_of(charge) for charge in charges]
    known = [rho for rho in found if rho is not None]
    if delta == 0 or not known or len(known) < len(found):
        return None
    rho = _decimal(sum(known, Fraction(0)))
    root = _PRECISE.sqrt(_PRECISE.multiply(rho, _PRECISE.ln(_decimal(1 / delta))))
    return Total(_up(_PRECISE.add(rho, _PRECISE.multiply(Decimal(2), root))), ZCDP, delta)


def rho_of(charge: Charge) -> Fraction | None:
    """Return the rho of a release: the stated one, or epsilon tanh(epsilon/2) if delta is 0 and that is smaller.

    None if no rho is stated and delta is above 0.
    """
    if charge.delta > 0:
        return charge.rho
    power = _PRECISE.exp(_decimal(charge.epsilon))
    tanh = _PRECISE.divide(_PRECISE.subtract(power, Decimal(1)), _PRECISE.add(power, Decimal(1)))
    own = _up(_PRECISE.multiply(_decimal(charge.epsilon), tanh))
    return own if charge.rho is None else min(own, charge.rho)


def _decimal(value: Fraction) -> Decimal:
    return _PRECISE.divide(Decimal(value.numerator), Decimal(value.denominator))


def _up(value: Decimal) -> Fraction:
    """Round up to 15 decimals and add one unit, far more than the rounding errors of 60 digits."""
    return Fraction(value.quantize(_GRAIN, ROUND_CEILING, _PRECISE) + _GRAIN)


@dataclass(frozen=True)
class Answered:
    """Answer that may be shown, because it is in the ledger.

    Attributes:
        again: True if the answer was recorded before; then it cost nothing now.
        spent: total cost of all recorded answers.
    """

    entry: ReleaseEntry
    again: bool
    spent: Total


@dataclass(frozen=True)
class Budget:
    """Budget of one data set, by the SHA-256 of the data and the digest of their declaration.

    ``place`` stores its ledger; the folder ``heads`` holds the head of this ledger.
    """

    place: LedgerPlace
    data: str
    declaration: str
    anchor: LedgerAnchor

    def open(self, terms: BudgetTerms) -> None:
        """Start a ledger with these terms.

        Until the first answer, the curator may correct the declaration and bind again; the other terms are fixed.
        Raises StorageError if this data set already has a budget, here or in another copy; it is left unchanged.
        """
        with self._exclusive():
            line = first_line(terms)
            if self.anchor.get(self.data) is not None:
                ledger = self._ledger()
                head = self.anchor.get(self.data)
                used = ledger.entries or head is None or head.number > 0
                if used or replace(ledger.terms, declaration=terms.declaration) != terms:
                    raise StorageError("this data set has a budget already; its terms are fixed for good")
            # A process may have stopped after the first line and before the head was written. Starting over is safe:
            # ``ask`` answers nothing without a head.
            elif not line.startswith(self.place.read() or b""):
                self._parse_stored()
                raise StorageError(f"{self.place.name} is there already, and its head is missing where heads are kept")
            self.place.begin(line)
            self.anchor.note(self.data, parse_ledger(line).head)

    def is_open_with(self, terms: BudgetTerms) -> bool:
        """Return whether exactly these terms are in force, so that nothing needs to be opened.

        Raises StorageError if the ledger was changed, or it has these terms and does not match its head.
        """
        with self._exclusive():
            there = self.place.read() is not None and self.anchor.get(self.data) is not None
            return there and self._ledger().terms == terms and self._checked_ledger().terms == terms

    def read(self) -> ReleaseLedger:
        """Return all entries, checked against each other and against the head.

        Raises:
            StorageError: the ledger is missing, changed, truncated, or belongs to another data set; the message names
                the entry.
        """
        with self._exclusive():
            return self._checked_ledger()

    def ask(self, question: Mapping[str, Any], draw: Callable[[BudgetTerms], Release]) -> Answered:
        """Return the recorded answer to a question, or draw and record one.

        Args:
            question: in canonical form; two questions with the same form share one answer.
            draw: makes the release under the budget's terms; called only if the question was not answered before.

        Raises:
            BudgetExhausted: the answer would cost more than is left; nothing is recorded and the draw is discarded.
            StorageError: the ledger is damaged or cannot be written; nothing may be shown.
        """
        with self._exclusive():
            ledger = self._checked_ledger()
            found = ledger.answer_to(question)
            if found is not None:
                return Answered(found, True, spent(ledger))
            release = draw(ledger.terms)
            plan = paying_plan(ledger, release.charge)
            after = check_affordable(ledger, release.charge) if plan is None else spent(ledger)
            return Answered(self._record(ledger, question, release, None if plan is None else plan.entry), False, after)

    def open_plan(self, answers: int, epsilon: Fraction, delta: Fraction | None = None) -> Answered:
        """Charge a number of answers of equal epsilon whole, by optimal composition; see ``ledger.plans``.

        ``delta`` is for all together; None for all that the plans before it leave.

        Raises:
            BudgetExhausted: the plan costs more than is left; nothing is recorded.
            SpecError: there are too many answers, or none.
            StorageError: the same as of ``ask``, or something was answered already.
        """
        with self._exclusive():
            ledger = self._checked_ledger()
            plans = plans_in(ledger)
            left = ledger.terms.delta - sum((each.charge.delta for each in plans), Fraction(0))
            question = plan_form(answers, epsilon, left if delta is None else delta)
            found = next((each for each in ledger.entries if _is_same_plan(each.question, question, delta)), None)
            if found is not None:
                return Answered(found, True, spent(ledger))
            if len(plans) < len(ledger.entries):
                raise StorageError("a plan is opened before the first answer, and this budget has answered already")
            release = plan_release(answers, epsilon, left if delta is None else delta)
            after = _check_plan(ledger, release.charge)
            return Answered(self._record(ledger, question, release, None), False, after)

    def _record(
        self, ledger: ReleaseLedger, question: Mapping[str, Any], release: Release, plan: int | None
    ) -> ReleaseEntry:
        """Write an entry, and return it as read back from storage, so that what is shown is what was recorded."""
        self.place.add(entry_line(question, release, ledger.head, plan), ledger.head.number + 1)
        whole = self._parse_stored()
        self.anchor.note(self.data, whole.head)
        return whole.entries[-1]

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        try:
            with self.anchor.exclusive_lock(self.data):
                yield
        except OSError:
            raise StorageError("the budget cannot be written or read; nothing is shown") from None

    def _checked_ledger(self) -> ReleaseLedger:
        """Return the ledger after checking it against its head, and move the head to the last entry if it is behind."""
        head = self.anchor.get(self.data)
        ledger = self._parse_stored()
        if head is None:
            raise StorageError("the head of this budget is missing where heads are kept (SOTTOVOCE_LEDGER_ANCHOR_DIR)")
        _check_head(ledger, head)
        if ledger.head != head:
            self.place.sync()
            self.anchor.note(self.data, ledger.head)
        return ledger

    def _parse_stored(self) -> ReleaseLedger:
        ledger = self._ledger()
        if ledger.terms.data != self.data:
            raise StorageError(f"{self.place.name} is the budget of another file, or the data were changed (entry 0)")
        if ledger.terms.declaration != self.declaration:
            raise StorageError("the declaration is not the one that this budget was opened with (entry 0)")
        return ledger

    def _ledger(self) -> ReleaseLedger:
        """Read the ledger, whatever data set it names, and remove an incomplete last line from storage."""
        content = self.place.read()
        if content is None:
            reason = "there is none for this data set; sottovoce curator bind opens one"
            if self.anchor.get(self.data) is not None:
                reason = "it is missing, and its head says that there was one; restore it"
            raise StorageError(f"the budget {self.place.name}: {reason}")
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            self.place.truncate(whole)
        return parse_ledger(content[:whole])


def spent(ledger: ReleaseLedger) -> Total:
    """Return the total cost of all recorded answers; StorageError if above the budget, which ``ask`` prevents."""
    found = _total(ledger, ())
    if found is None or found.epsilon > ledger.terms.epsilon:
        raise StorageError("the budget's entries cost more than it allows: they were not written by this software")
    return found


def check_affordable(ledger: ReleaseLedger, charge: Charge) -> Total:
    """Return the total cost including one more release; BudgetExhausted if it exceeds the budget."""
    found = _total(ledger, (charge,))
    if found is None:
        raise BudgetExhausted(
            f"this asks for a delta of {float(charge.delta):.3g}, and the budget has not that much left: half of its "
            f"{float(ledger.terms.delta):.3g}, less what plans reserve, is for sums, half for zCDP; nothing was "
            "released or charged"
        )
    if found.epsilon > ledger.terms.epsilon:
        left = max(ledger.terms.epsilon - spent(ledger).epsilon, Fraction(0))
        raise BudgetExhausted(
            f"the budget does not allow this: epsilon {float(charge.epsilon):.6g} is asked for, and "
            f"{float(left):.6g} of {float(ledger.terms.epsilon):.6g} is left; nothing was released or charged"
        )
    return found


def _total(ledger: ReleaseLedger, more: Sequence[Charge]) -> Total | None:
    """Return the cost of plans, each whole, and of all answers outside of them; None if these exceed the delta left."""
    plans = [each.charge for each in plans_in(ledger)]
    reserved = sum((each.delta for each in plans), Fraction(0))
    outside = [each.charge for each in ledger.entries if each.plan is None and each.question["verb"] != PLAN]
    rest = total([*outside, *more], max(ledger.terms.delta - reserved, Fraction(0)))
    if rest is None:
        return None
    return replace(rest, epsilon=sum((each.epsilon for each in plans), rest.epsilon), delta=rest.delta + reserved)


def _check_plan(ledger: ReleaseLedger, charge: Charge) -> Total:
    """Return the total cost with one more plan; raise ``BudgetExhausted`` if it exceeds the budget."""
    before = spent(ledger)
    after = replace(before, epsilon=before.epsilon + charge.epsilon, delta=before.delta + charge.delta)
    if after.epsilon > ledger.terms.epsilon or after.delta > ledger.terms.delta:
        raise BudgetExhausted(
            f"the budget does not allow this plan: it costs epsilon {float(charge.epsilon):.6g} and delta "
            f"{float(charge.delta):.3g}, and {float(ledger.terms.epsilon - before.epsilon):.6g} and "
            f"{float(ledger.terms.delta - before.delta):.3g} are left; nothing was charged"
        )
    return after


def _is_same_plan(recorded: Mapping[str, Any], asked: Mapping[str, Any], delta: Fraction | None) -> bool:
    """Return True for an equal plan; without a delta, whatever the recorded one took."""
    wanted = asked if delta is not None else {**asked, "delta": recorded.get("delta")}
    return canonical.dump(recorded) == canonical.dump(wanted)


def _check_head(ledger: ReleaseLedger, head: LedgerHead) -> None:
    if head.number > ledger.head.number:
        raise StorageError(
            f"the budget is behind its head: it ends with entry {ledger.head.number}, and entry {head.number} was "
            "answered; put the newer ledger back"
        )
    if ledger.heads[head.number] != head:
        raise StorageError(f"the budget's entry {head.number} is not the one that its head names")
