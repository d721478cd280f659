"""
The budget of data in trusted hands under power cuts: nothing was shown that its ledger does not hold.

The budget is the running one, on files. The power is cut before and after each of its steps on the disk, and after an
answer was shown; what was written to the ledger and not yet synced is lost then, as a disk may lose it.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from sottovoce.aggregator.curator.budget import Budget
from sottovoce.aggregator.curator.ledger.ledger_anchor import LedgerAnchor
from sottovoce.aggregator.curator.ledger.ledger_format import BudgetTerms
from sottovoce.aggregator.curator.ledger.ledger_storage import LedgerFile
from sottovoce.aggregator.curator.neighbouring_relation import Neighbours
from sottovoce.aggregator.curator.privacy_cost import Charge
from sottovoce.aggregator.curator.release import Release
from sottovoce.audit.check import FAILED, PASSED, Check
from sottovoce.audit.patch import patch
from sottovoce.shared.errors import StorageError

QUESTION = {"verb": "count"}
RELEASE = Release({}, {"count": 7}, Charge(Fraction(1)), "sensitivity 1", {"t": 3}, ())

_TERMS = BudgetTerms("d" * 64, "e" * 64, Fraction(2), Fraction(0), Neighbours.REPLACE, 100)
_STEPS = ("write", "fsync", "replace")
_DAMAGED = "an answer was shown that is in no ledger after a power cut"

Show = Callable[[Mapping[str, Any]], None]
Ask = Callable[[Budget, Show], None]
"""``ask(budget, show)``: asks ``QUESTION``, and shows the values of the answer."""


class _Cut(BaseException):
    """The power is cut: nothing that the program does about it happens."""


@dataclass
class _Disk:
    """
    Counts steps, and ends them at one.

    Attributes:
        ledger: its file.
        cut: the step that the power is cut before if it is even, or after; its half is the step's number.
        synced: how many bytes of the ledger are durable.
        steps: how many there were.
        shown: answers that were shown.
    """

    ledger: Path
    cut: int | None
    synced: int = 0
    steps: int = 0
    shown: list[Mapping[str, Any]] = field(default_factory=list)

    @contextmanager
    def step(self) -> Iterator[None]:
        """Count one step of the disk or the screen, and cut the power before or after it."""
        at = 2 * self.steps
        self.steps += 1
        if self.cut == at:
            raise _Cut
        yield
        if self.cut == at + 1:
            raise _Cut

    def show(self, values: Mapping[str, Any]) -> None:
        """Record that a person saw an answer."""
        with self.step():
            self.shown.append(values)

    def watched(self, name: str) -> Callable[..., Any]:
        """One of the system's calls, as a step."""
        real = getattr(os, name)

        def call(*words: Any, **more: Any) -> Any:  # noqa: ANN401 - the signature of os
            with self.step():
                done = real(*words, **more)
                if name == "fsync" and os.path.samestat(os.fstat(words[0]), self.ledger.stat()):
                    self.synced = self.ledger.stat().st_size
                return done

        return call


def ask_and_show(budget: Budget, show: Show) -> None:
    """Ask once and show the answer, in the order of the commands: ledger first."""
    show(budget.ask(QUESTION, lambda _: RELEASE).entry.answer["values"])


def check_ledger(ask: Ask = ask_and_show) -> Check:
    """
    Check that no power cut leaves an answer that was shown but is missing from the ledger.

    Args:
        ask: asks once; a faulty replacement shows that this check can fail.
    """
    _, steps, shown = _cut_at(ask, None)
    states = [_cut_at(ask, cut)[0] for cut in range(2 * steps)]
    message = "" if all(states) and shown else _DAMAGED
    scope = f"the power cut before and after each of {steps} steps"
    return Check("python", "ledger of a budget", FAILED if message else PASSED, scope=scope, message=message)


def _cut_at(ask: Ask, cut: int | None) -> tuple[bool, int, bool]:
    """Cut the power at one step. Return whether the ledger has every shown answer, steps, and whether any was shown."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "data.budget"
        budget = Budget(LedgerFile(path), _TERMS.data, _TERMS.declaration, LedgerAnchor(folder))
        budget.open(_TERMS)
        disk = _Disk(path, cut, synced=path.stat().st_size)
        with ExitStack() as stack, suppress(_Cut):
            for step in _STEPS:
                stack.enter_context(patch(os, step, disk.watched(step)))
            ask(budget, disk.show)
        os.truncate(path, disk.synced)
        recorded = _recorded(budget)
        return all(values in recorded for values in disk.shown), disk.steps, bool(disk.shown)


def _recorded(budget: Budget) -> list[object]:
    """The values of all answers that the ledger holds; none where it is damaged."""
    try:
        return [entry.answer["values"] for entry in budget.read().entries]
    except StorageError:
        return []
