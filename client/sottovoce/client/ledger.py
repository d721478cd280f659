"""Keep the device's ledger: the report drawn for each survey, and its epsilon. It never holds an answer. It also keeps
the sets of questions drawn under ``ask``, the arm, and the memos of ``memoized_rr``; all are independent of the
truth.

A second attempt, another process or a restart finds the stored report and sends the same bytes: a second draw would
reveal more of the truth (its epsilon adds up). An erased ledger or another device starts afresh; the form tells
respondents so. ``file_ledger`` stores the ledger on disk.

A refused report keeps its key: otherwise an aggregator that lies about a token would get a second draw. Only the
receipt for exactly these bytes marks it as sent. The same bytes may be sent again with another token if the person
confirms that the report is theirs: it is then kept under both keys, and its cost under the first alone.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from sottovoce.shared.errors import AnsweredPersonally, DrawnElsewhere

MEMO = -1
"""
Wave number of memos, which are kept for all waves. No wave has this number, so a memo is an entry like any other,
charged and kept by the same code, and never mistaken for a report.
"""
REDEMPTION = -2
"""Wave number of the signatures that an invitation was, or will be, redeemed for: no epsilon, never sent."""
SIGNERS = -3
"""Wave number, without a token, of the signing keys that this device has used, for all waves of the survey."""
ARMS = -4
"""Wave number, without a token, of the arm that this device has drawn, for all waves of the survey."""


class Key(NamedTuple):
    """Key of one draw: aggregator, survey (in any revision), wave and token."""

    origin: str
    survey: str
    wave: int = 0
    token: str = ""


@dataclass(frozen=True)
class Entry:
    """A drawn report, or the memo of all waves: what it costs is charged once, and its body is never sent.

    Attributes:
        digest: the survey's digest when the report was drawn.
        epsilon: the report's epsilon; 0 if it is also kept under another key, which has the cost.
        body: the exact bytes to send; "" once the report has ended.
        sent: the aggregator has acknowledged them.
        ended: "withdrawn" or "forgotten"; then the entry only keeps a second report from being drawn.
        refused: why the aggregator refused them for good, by its own code; then they go again only when asked for.
        signature: of the report's id, in the place of a token; "" where there is none, and once it has arrived.
        send_at: earliest time to send, in seconds since 1970; 0 once it may have been sent.
    """

    digest: str
    epsilon: float
    body: str
    sent: bool = False
    ended: str = ""
    refused: str = ""
    signature: str = ""
    send_at: int = 0

    @property
    def waiting(self) -> bool:
        """Say whether there is a report that the aggregator has not acknowledged."""
        return bool(self.body) and not self.sent


class Ledger(Protocol):
    """A store of entries by key."""

    def get(self, key: Key) -> Entry | None:
        """Return the entry recorded for ``key``, sent and ended ones too; None if there never was one."""

    def record(self, key: Key, entry: Entry, text: bytes = b"", only_one: bool = False) -> Entry:
        """Return the entry that stands for ``key`` from now on: an earlier one if there is one, else ``entry``,
        durably.

        ``text``, the canonical bytes of the survey that it was drawn for, is kept as long as a report of that text is.
        ``only_one`` refuses where ``unaccepted`` gives a report, looked for in the same step.

        Raises:
            DrawnElsewhere: it does, and nothing was recorded.
            AnsweredPersonally: ``answered_personally``, looked for in the same step; nothing was recorded.
        """

    def answered_personally(self, key: Key) -> bool:
        """Return whether, for a key without a token, a report was ever drawn for the same wave with one. An aggregator
        that turns a survey for invited people into one for all would else be given a second draw.
        """

    def text(self, digest: str) -> bytes | None:
        """Return the canonical bytes of the survey with this digest, if they were kept; they are checked against it."""

    def keep(self, digest: str, text: bytes) -> None:
        """Keep a survey's canonical bytes for an entry that an earlier release recorded without them."""

    def unaccepted(self, key: Key) -> Entry | None:
        """Return the first unacknowledged report for the same wave with another token, or None."""

    def bind(self, key: Key, entry: Entry) -> Entry | None:
        """Put the report that ``unaccepted`` gave under ``key`` too, in one durable write.

        Return what stands for ``key`` from now on; None if that report is not the unaccepted one any more.
        """

    def prepare(self, key: Key, pool: str, draw: Callable[[], tuple[int, ...]]) -> tuple[int, ...]:
        """Return the set of questions drawn for ``key`` from this pool: an earlier one, else what ``draw`` gives,
        durably.

        It costs nothing, and goes when the report ends. ``pool`` is a digest of what the set is drawn from; from other
        questions it is another set. ``draw`` gives places in the pool and is only asked if nothing is kept.
        """

    def revise(self, key: Key, before: str, after: str) -> bool:
        """Put another body, durably, in the place of one that is never sent, and return whether it was ``before``.

        If it was not, another program was faster.
        """

    def mark_due(self, key: Key) -> None:
        """Note, durably, that the moment has come: from now on the report may have been sent."""

    def mark_sent(self, key: Key) -> None:
        """Note that the aggregator has acknowledged the report, under whichever keys it stands; wipe its signature."""

    def mark_refused(self, key: Key, reason: str) -> None:
        """Note that the aggregator refuses the report for good; an acknowledged or ended one stays what it is."""

    def end(self, key: Key, ended: str) -> None:
        """Wipe the report, durably, this key's copy last, and keep that there was one; ``ended`` says why."""

    def end_untried(self, key: Key, ended: str) -> bool:
        """End the report where it waits for its moment, looked for in the same step; return whether it did.

        Of two programs one notes first that the moment has come, or that it never will.
        """

    def spent(self, origin: str) -> float:
        """Return the total epsilon of all reports drawn for this aggregator."""


def recorded(ledger: Ledger, key: Key) -> tuple[Key, Entry] | None:
    """Return the key and the entry drawn for ``key`` or, failing that, for ``key`` without its token; else None.

    Without a token too: a survey that is open to all ignores the one in a link. The survey's revision is not looked
    at: whichever link is opened, the entry's own digest says what was answered.
    """
    # The link's own entry first: a token says better whose report it is than a report without one.
    for each in dict.fromkeys((key, key._replace(token=""))):
        entry = ledger.get(each)
        if entry is not None:
            return each, entry
    return None


def first_unaccepted(entries: Iterable[Entry]) -> Entry | None:
    """Return the first entry of one wave that waits, unless the same bytes were acknowledged under another key."""
    found = list(entries)
    # By bytes and not by key, because ``bind`` keeps one report under two keys.
    arrived = {entry.body for entry in found if entry.sent}
    return next((entry for entry in found if entry.waiting and entry.body not in arrived), None)


ARRIVED: Mapping[str, Any] = {"sent": True, "refused": "", "signature": "", "send_at": 0}
"""Changes in an entry once its report has been acknowledged."""


def over(ended: str) -> dict[str, Any]:
    """Return the changed fields of an entry whose report ends; ``ended`` is the reason."""
    return {"body": "", "ended": ended, "refused": "", "signature": "", "send_at": 0}


class MemoryLedger:
    """A ledger that lasts as long as the process: for simulated respondents."""

    def __init__(self) -> None:
        self._entries: dict[Key, Entry] = {}
        self._drawn: dict[tuple[Key, str], tuple[int, ...]] = {}
        self._texts: dict[str, bytes] = {}

    def get(self, key: Key) -> Entry | None:
        """Return the entry recorded for ``key``, or None."""
        return self._entries.get(key)

    def record(self, key: Key, entry: Entry, text: bytes = b"", only_one: bool = False) -> Entry:
        """Record the entry unless ``key`` has one, and return the stored one."""
        # Checked before anything is stored: a second draw would add its epsilon to the first.
        if self.answered_personally(key):
            raise AnsweredPersonally
        if only_one and key not in self._entries and self.unaccepted(key) is not None:
            raise DrawnElsewhere
        if key not in self._entries and text:
            self._texts[entry.digest] = text
        # The first report wins; later draws are dropped unseen, so that retries cannot choose an outcome.
        return self._entries.setdefault(key, entry)

    def answered_personally(self, key: Key) -> bool:
        """Return whether ``key`` has no token and a report for the same wave was ever drawn with one."""
        return not key.token and any(each.token and each[:3] == key[:3] for each in self._entries)

    def text(self, digest: str) -> bytes | None:
        """Return the canonical bytes of the survey with this digest, if they were kept."""
        return self._texts.get(digest)

    def keep(self, digest: str, text: bytes) -> None:
        """Keep a survey's canonical bytes."""
        self._texts[digest] = text

    def unaccepted(self, key: Key) -> Entry | None:
        """Return the first unacknowledged report for the same wave with another token, or None."""
        others = sorted(each for each in self._entries if each[:3] == key[:3] and each != key)
        return first_unaccepted(self._entries[each] for each in others)

    def bind(self, key: Key, entry: Entry) -> Entry | None:
        """Put the unaccepted report under ``key`` too."""
        found = self.unaccepted(key)
        return self.record(key, replace(found, epsilon=0.0)) if found is not None and found.body == entry.body else None

    def prepare(self, key: Key, pool: str, draw: Callable[[], tuple[int, ...]]) -> tuple[int, ...]:
        """Return the kept set of questions; draw and keep one if there is none."""
        if (key, pool) not in self._drawn:
            self._drawn[key, pool] = draw()
        return self._drawn[key, pool]

    def revise(self, key: Key, before: str, after: str) -> bool:
        """Put another body in the place of one that is never sent."""
        if self._entries[key].body != before:
            return False
        self._entries[key] = replace(self._entries[key], body=after)
        return True

    def mark_due(self, key: Key) -> None:
        """Note that the moment has come."""
        self._change(key, send_at=0)

    def mark_sent(self, key: Key) -> None:
        """Note that the aggregator has acknowledged the report."""
        self._change(key, **ARRIVED)

    def mark_refused(self, key: Key, reason: str) -> None:
        """Note that the aggregator refuses the report for good."""
        if self._entries[key].waiting:
            self._entries[key] = replace(self._entries[key], refused=reason)

    def end(self, key: Key, ended: str) -> None:
        """Wipe the report and keep that there was one."""
        self._change(key, **over(ended))
        # A survey's text is kept only while a report needs it to be shown.
        left = {entry.digest for entry in self._entries.values() if entry.body}
        self._texts = {digest: text for digest, text in self._texts.items() if digest in left}

    def end_untried(self, key: Key, ended: str) -> bool:
        """End the report where it waits for its moment."""
        # A report past its moment may have arrived; ending it silently would leave it counted.
        is_untried = self._entries[key].send_at > 0
        if is_untried:
            self.end(key, ended)
        return is_untried

    def _change(self, key: Key, **changes: Any) -> None:  # noqa: ANN401 - fields of an entry
        for each in self._copies(key):
            self._entries[each] = replace(self._entries[each], **changes)

    def _copies(self, key: Key) -> list[Key]:
        """Return the keys that the same report stands under."""
        same = (key[:3], self._entries[key].body)
        return [
            each
            for each, entry in self._entries.items()
            if each == key or (entry.body and (each[:3], entry.body) == same)
        ]

    def spent(self, origin: str) -> float:
        """Return the total epsilon of all reports drawn for this aggregator."""
        return sum(entry.epsilon for key, entry in self._entries.items() if key.origin == origin)
