"""
What the device remembers: which report was drawn for which survey, and what it cost. Never an answer.
Beside it lie sets of questions drawn under ``ask`` and memos of ``memoized_rr``, which tell nothing of a truth.

A second attempt, another process or a restart finds the stored report and sends the same bytes: a second draw would
be a second look at the truth. Erasing the ledger, or another device, starts afresh; respondents are told so.
``file_ledger`` is the one that outlives a process.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from sottovoce.shared.errors import BudgetExhausted

MEMO = -1
"""
In the place of the wave in a key: what is remembered for all of them. No wave has this number, so a memo is an entry
like any other, charged and kept by the same code, and never taken for a report of some wave.
"""


class Key(NamedTuple):
    """What one draw is for: one aggregator, one survey (whatever its revision), one wave, one token."""

    origin: str
    survey: str
    wave: int = 0
    token: str = ""


@dataclass(frozen=True)
class Entry:
    """
    One drawn report, or the memo of all waves: what it costs is charged once, and its body, a digit for each permanent
    answer, is never sent.

    Attributes:
        digest: the survey's digest when the report was drawn.
        epsilon: what the report costs.
        body: the exact bytes to send; "" once the report has ended.
        sent: the aggregator has acknowledged them.
        ended: "withdrawn" or "forgotten"; then the entry only keeps a second report from being drawn.
    """

    digest: str
    epsilon: float
    body: str
    sent: bool = False
    ended: str = ""

    @property
    def waiting(self) -> bool:
        """There is a report that the aggregator has not acknowledged."""
        return bool(self.body) and not self.sent


class Ledger(Protocol):
    """Remembers entries by key."""

    def get(self, key: Key) -> Entry | None:
        """What was recorded for ``key``, whether it was sent or has ended; None if nothing ever was."""

    def record(self, key: Key, entry: Entry) -> Entry:
        """The entry that stands for ``key`` from now on: an earlier one if there is one, else ``entry``, durably."""

    def prepare(self, key: Key, digest: str, drawn: tuple[int, ...]) -> tuple[int, ...]:
        """
        The set of questions drawn for ``key`` and this text of the survey: an earlier one if there is one, else
        ``drawn``, durably. It costs nothing, and goes when the report ends.

        Args:
            key: what is answered.
            digest: of the survey's text; another text is another set.
            drawn: indices of questions, which count only if nothing was drawn before.
        """

    def mark_sent(self, key: Key) -> None:
        """Note that the aggregator has acknowledged the report."""

    def end(self, key: Key, ended: str) -> None:
        """Wipe the report, durably, and keep that there was one; ``ended`` says why."""

    def spent(self, origin: str) -> float:
        """Total epsilon of all reports drawn for this aggregator."""


def recorded(ledger: Ledger, key: Key, digest: str) -> Entry | None:
    """
    The report drawn earlier for ``key``, or None.

    Args:
        ledger: where to look.
        key: what is answered.
        digest: of the survey's text as it is now.

    Raises:
        BudgetExhausted: one was drawn for another text of the survey; a revision buys no second draw.
    """
    entry = ledger.get(key)
    if entry is not None and entry.digest != digest:
        raise BudgetExhausted("this survey was already answered in another version, and a second draw is refused")
    return entry


class MemoryLedger:
    """Remembers as long as the process lives: for simulated respondents."""

    def __init__(self) -> None:
        self._entries: dict[Key, Entry] = {}
        self._drawn: dict[tuple[Key, str], tuple[int, ...]] = {}

    def get(self, key: Key) -> Entry | None:
        """What was recorded for ``key``; None if nothing was."""
        return self._entries.get(key)

    def record(self, key: Key, entry: Entry) -> Entry:
        """The entry that stands for ``key`` from now on."""
        return self._entries.setdefault(key, entry)

    def prepare(self, key: Key, digest: str, drawn: tuple[int, ...]) -> tuple[int, ...]:
        """
        The set of questions from now on.

        Args:
            key: what is answered.
            digest: of the survey's text; another text is another set.
            drawn: indices of questions, which count only if nothing was drawn before.
        """
        return self._drawn.setdefault((key, digest), drawn)

    def mark_sent(self, key: Key) -> None:
        """Note that the aggregator has acknowledged the report."""
        self._entries[key] = replace(self._entries[key], sent=True)

    def end(self, key: Key, ended: str) -> None:
        """Wipe the report and keep that there was one."""
        self._entries[key] = replace(self._entries[key], body="", ended=ended)

    def spent(self, origin: str) -> float:
        """Total epsilon of all reports drawn for this aggregator."""
        return sum(entry.epsilon for key, entry in self._entries.items() if key.origin == origin)
