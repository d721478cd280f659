"""
The budget of a data set: what was asked, what it cost and what was answered, before anybody sees an answer.

An answer is drawn, its entry is written and synced, the head is written and synced apart from it, and only then is the
entry given to whoever shows it. A process that ends anywhere between has at most charged for an answer that nobody saw;
whoever asks the same again gets it from the ledger, for nothing, since a second look at one draw tells nothing new.

A line that was cut off in the middle was never synced, so its answer was never shown: it is removed. A whole line that
the head does not know yet is one whose answer was not shown either; it stays, and its charge with it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sottovoce.aggregator.curator.composition import Total, total
from sottovoce.aggregator.curator.ledger.ledger_anchor import Heads, LedgerHead
from sottovoce.aggregator.curator.ledger.ledger_format import (
    BudgetTerms,
    ReleaseEntry,
    ReleaseLedger,
    entry_line,
    first_line,
    parse_ledger,
)
from sottovoce.aggregator.curator.ledger.ledger_storage import LedgerPlace
from sottovoce.aggregator.curator.privacy_cost import Charge
from sottovoce.aggregator.curator.release import Release
from sottovoce.shared import canonical
from sottovoce.shared.errors import BudgetExhausted, StorageError

ENDING = ".budget"


@dataclass(frozen=True)
class Answered:
    """
    An answer that may be shown: it is in the ledger.

    Attributes:
        entry: as it was recorded.
        again: it was recorded before, and cost nothing now.
        spent: what all answers have cost together.
    """

    entry: ReleaseEntry
    again: bool
    spent: Total


@dataclass(frozen=True)
class Budget:
    """
    The budget of one data set.

    Attributes:
        place: of its ledger.
        data: SHA-256 of the data.
        declaration: digest of what is declared of them.
        heads: where its head is kept.
    """

    place: LedgerPlace
    data: str
    declaration: str
    heads: Heads

    def open(self, terms: BudgetTerms) -> None:
        """
        Begin a ledger with these terms.

        As long as nothing was answered, whoever binds again may have mended the declaration; the rest stays.

        Raises:
            StorageError: there is a budget of this data set, here or elsewhere, and it stays what it is.
        """
        with self._alone():
            line = first_line(terms)
            if self.heads.get(self.data) is not None:
                self._check_unused(terms)
            # Whoever began it may have been killed before the head was noted; nothing is answered without a head.
            elif not line.startswith(self.place.read() or b""):
                raise StorageError(f"{self.place.name} is there already, and its head is missing where heads are kept")
            self.place.begin(line)
            self.heads.note(self.data, parse_ledger(line).head)

    def has(self, terms: BudgetTerms) -> bool:
        """
        Whether just these terms are in force, and there is nothing to open.

        Raises:
            StorageError: they are, and the ledger or its head is not as it should be.
        """
        with self._alone():
            there = self.place.read() is not None and self.heads.get(self.data) is not None
            return there and self._ledger().terms == terms and self._checked().terms == terms

    def _check_unused(self, terms: BudgetTerms) -> None:
        """Of a budget that is there: nothing was drawn under it, and it has these terms but for the declaration."""
        ledger = self._ledger()
        head = self.heads.get(self.data)
        used = ledger.entries or head is None or head.number > 0
        if used or replace(ledger.terms, declaration=terms.declaration) != terms:
            raise StorageError("this data set has a budget already; its terms are fixed for good")

    def read(self) -> ReleaseLedger:
        """
        All entries, checked against each other and against the head.

        Raises:
            StorageError: the ledger is missing, changed, cut off, or another data set's; says which entry.
        """
        with self._alone():
            return self._checked()

    def ask(self, question: Mapping[str, Any], draw: Callable[[BudgetTerms], Release]) -> Answered:
        """
        The answer to a question: the recorded one, or one that is drawn and recorded now.

        Args:
            question: in canonical form: two questions with one form have one answer.
            draw: makes the release under the budget's terms; called only if the question was not answered before.

        Raises:
            BudgetExhausted: it would cost more than is left; nothing is recorded, and what was drawn is dropped.
            StorageError: the ledger is not as it should be, or cannot be written; nothing may be shown.
        """
        with self._alone():
            ledger = self._checked()
            found = next((entry for entry in ledger.entries if _same(entry.question, question)), None)
            if found is not None:
                return Answered(found, True, spent(ledger))
            release = draw(ledger.terms)
            after = check_affordable(ledger, release.charge)
            line = entry_line(question, release, ledger.head)
            self.place.add(line, ledger.head.number + 1)
            # What is shown is what the ledger says.
            whole = self._parsed()
            self.heads.note(self.data, whole.head)
            return Answered(whole.entries[-1], False, after)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            with self.heads.alone(self.data):
                yield
        except OSError:
            raise StorageError("the budget cannot be written or read; nothing is shown") from None

    def _checked(self) -> ReleaseLedger:
        """The ledger, with a head that knows all of it."""
        head = self.heads.get(self.data)
        ledger = self._parsed()
        if head is None:
            raise StorageError("the head of this budget is missing where heads are kept (SOTTOVOCE_LEDGER_ANCHOR_DIR)")
        _check_head(ledger, head)
        if ledger.head != head:
            self.place.sync()
            self.heads.note(self.data, ledger.head)
        return ledger

    def _parsed(self) -> ReleaseLedger:
        ledger = self._ledger()
        if ledger.terms.data != self.data:
            raise StorageError(f"{self.place.name} is the budget of another file, or the data were changed (entry 0)")
        if ledger.terms.declaration != self.declaration:
            raise StorageError("the declaration is not the one that this budget was opened with (entry 0)")
        return ledger

    def _ledger(self) -> ReleaseLedger:
        """What the file says, whatever it is about; without a last line that was cut off."""
        content = self.place.read()
        if content is None:
            told = "there is none for this data set; sottovoce curator bind opens one"
            if self.heads.get(self.data) is not None:
                told = "it is missing, and its head says that there was one; restore it"
            raise StorageError(f"the budget {self.place.name}: {told}")
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            self.place.cut(whole)
        return parse_ledger(content[:whole])


def spent(ledger: ReleaseLedger) -> Total:
    """What all answers have cost together."""
    found = total([entry.charge for entry in ledger.entries], ledger.terms.delta)
    if found is None or found.epsilon > ledger.terms.epsilon:
        raise StorageError("the budget's entries cost more than it allows: they were not written by this software")
    return found


def check_affordable(ledger: ReleaseLedger, charge: Charge) -> Total:
    """
    What everything would cost with one more release.

    Raises:
        BudgetExhausted: more than the budget allows.
    """
    found = total([*(entry.charge for entry in ledger.entries), charge], ledger.terms.delta)
    if found is None:
        raise BudgetExhausted(
            f"this asks for a delta of {float(charge.delta):.3g}, and the budget has not that much left: half of its "
            f"{float(ledger.terms.delta):.3g} is for sums, half for zCDP; nothing was released or charged"
        )
    if found.epsilon > ledger.terms.epsilon:
        left = max(ledger.terms.epsilon - spent(ledger).epsilon, Fraction(0))
        raise BudgetExhausted(
            f"the budget does not allow this: epsilon {float(charge.epsilon):.6g} is asked for, and "
            f"{float(left):.6g} of {float(ledger.terms.epsilon):.6g} is left; nothing was released or charged"
        )
    return found


def _check_head(ledger: ReleaseLedger, head: LedgerHead) -> None:
    if head.number > ledger.head.number:
        raise StorageError(
            f"the budget is behind its head: it ends with entry {ledger.head.number}, and entry {head.number} was "
            "answered; put the newer ledger back"
        )
    if ledger.heads[head.number] != head:
        raise StorageError(f"the budget's entry {head.number} is not the one that its head names")


def _same(recorded: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    return canonical.dump(recorded) == canonical.dump(asked)
