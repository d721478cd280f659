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

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sottovoce.shared.errors import AnsweredPersonally, BudgetExhausted, DrawnElsewhere

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


class Record(NamedTuple):
    """An entry with what it is for.

    Attributes:
        key: without its token, which a file of the ledger does not hold.
        bound: the report was drawn for a token; to send it needs the link again.
        name: the entry's own name in the ledger.
    """

    key: Key
    entry: Entry
    bound: bool
    name: Any


class Ledger(ABC):
    """A store of entries by key: what stands for a key, whatever it is stored in."""

    @abstractmethod
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
        with self._writing():
            # Checked before anything is stored: a second draw would add its epsilon to the first.
            if self.answered_personally(key):
                raise AnsweredPersonally
            if only_one and self.get(key) is None and self.unaccepted(key) is not None:
                raise DrawnElsewhere
            return self._record(key, entry, text)

    def answered_personally(self, key: Key) -> bool:
        """Return whether, for a key without a token, a report was ever drawn for the same wave with one. An aggregator
        that turns a survey for invited people into one for all would else be given a second draw.
        """
        return not key.token and any(record.bound and record.key == key for record in self._readable())

    @abstractmethod
    def text(self, digest: str) -> bytes | None:
        """Return the canonical bytes of the survey with this digest, if they were kept; they are checked against it."""

    @abstractmethod
    def keep(self, digest: str, text: bytes) -> None:
        """Keep a survey's canonical bytes for an entry that an earlier release recorded without them."""

    def unaccepted(self, key: Key) -> Entry | None:
        """Return the first unacknowledged report for the same wave with another token, or None; what is damaged is
        skipped.
        """
        others = (record for record in self._readable() if record.name != self._name_of(key))
        return first_unaccepted(record.entry for record in others if record.key == key._replace(token=""))

    def bind(self, key: Key, entry: Entry) -> Entry | None:
        """Put the report that ``unaccepted`` gave under ``key`` too, in one durable write.

        Return what stands for ``key`` from now on; None if that report is not the unaccepted one any more.
        """
        with self._writing():
            found = self.unaccepted(key)
            if found is None or found.body != entry.body:
                return None
            return self._record(key, replace(found, epsilon=0.0))

    @abstractmethod
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
        with self._writing():
            is_first = self.read(self._name_of(key)).entry.body == before
            if is_first:
                self._change(self._name_of(key), body=after)
        return is_first

    def mark_due(self, key: Key) -> None:
        """Note, durably, that the moment has come: from now on the report may have been sent."""
        # What cannot be noted is not sent.
        with self._writing():
            self._change_copies(key, send_at=0)

    def mark_sent(self, key: Key) -> None:
        """Note that the aggregator has acknowledged the report, under whichever keys it stands; wipe its signature."""
        # The report has arrived; a note that cannot be written is no reason to say that it has not.
        with suppress(OSError, BudgetExhausted), self._locked():
            self._change_copies(key, sent=True, refused="", signature="", send_at=0)

    def mark_refused(self, key: Key, reason: str) -> None:
        """Note that the aggregator refuses the report for good; an acknowledged or ended one stays what it is."""
        # Without the note it is sent once more at the next visit: the same bytes.
        with suppress(OSError, BudgetExhausted), self._locked():
            if self.read(self._name_of(key)).entry.waiting:
                self._change(self._name_of(key), refused=reason)

    def end(self, key: Key, ended: str) -> None:
        """Wipe the report, durably, this key's copy last, and keep that there was one; ``ended`` says why."""
        self._end(self._name_of(key), ended)

    def end_untried(self, key: Key, ended: str) -> bool:
        """End the report where it waits for its moment, looked for in the same step; return whether it did.

        Of two programs one notes first that the moment has come, or that it never will.
        """
        return self._end(self._name_of(key), ended, is_untried=True)

    def spent(self, origin: str) -> float:
        """Return the total epsilon of all reports drawn for this aggregator."""
        records = (self.read(name) for name in self.names())
        return sum(record.entry.epsilon for record in records if record.key.origin == origin)

    @abstractmethod
    def names(self) -> Sequence[Any]:
        """Return the names of all entries, whether they can be read or not."""

    @abstractmethod
    def read(self, name: Any) -> Record:  # noqa: ANN401 - as the ledger names its entries
        """Return the entry of this name; raises BudgetExhausted if it is damaged or gone."""

    @abstractmethod
    def _name_of(self, key: Key) -> Hashable:
        """Return the name of the entry for a key."""

    @abstractmethod
    def _record(self, key: Key, entry: Entry, text: bytes = b"") -> Entry:
        """Record the entry unless ``key`` has one, and return the stored one."""

    @abstractmethod
    def _change(self, name: Any, **changes: Any) -> None:  # noqa: ANN401 - fields of an entry
        """Change fields of an entry, durably; one that is gone stays so."""

    @abstractmethod
    def _remove_rest(self, names: Iterable[Any]) -> None:
        """Remove the question sets and survey texts that only ended reports needed."""

    def _writing(self) -> AbstractContextManager[object]:
        """Write alone, where the system can; what cannot be written stops everything."""
        return nullcontext()

    def _locked(self) -> AbstractContextManager[object]:
        """Wait for other processes, where the system can."""
        return nullcontext()

    def _readable(self) -> Iterator[Record]:
        for name in self.names():
            with suppress(BudgetExhausted):
                yield self.read(name)

    def _copies(self, name: Any) -> list[Any]:  # noqa: ANN401 - as the ledger names its entries
        """Return the names of other entries with the same report: it was bound to another token."""
        found = {record.name: record for record in self._readable()}
        own = found.pop(name, None)
        if own is None or not own.entry.body:
            return []
        # Of one survey and wave: memos of two surveys may well be alike.
        same = (own.key, own.entry.body)
        return [other for other, record in found.items() if (record.key, record.entry.body) == same]

    def _change_copies(self, key: Key, **changes: Any) -> None:  # noqa: ANN401
        for name in (self._name_of(key), *self._copies(self._name_of(key))):
            self._change(name, **changes)

    def _end(self, name: Any, ended: str, is_untried: bool = False) -> bool:  # noqa: ANN401
        with self._locked():
            # A report past its moment may have arrived; ending it silently would leave it counted.
            if is_untried and not self.read(name).entry.send_at:
                return False
            # Its own entry last: while that holds the report, this can be done again.
            names = [*self._copies(name), name]
            for each in names:
                self._change(each, body="", ended=ended, refused="", signature="", send_at=0)
        self._remove_rest(names)
        return True


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


class MemoryLedger(Ledger):
    """A ledger that lasts as long as the process: for simulated respondents."""

    def __init__(self) -> None:
        self._entries: dict[Key, Entry] = {}
        self._drawn: dict[tuple[Key, str], tuple[int, ...]] = {}
        self._texts: dict[str, bytes] = {}

    def get(self, key: Key) -> Entry | None:
        """Return the entry recorded for ``key``, or None."""
        return self._entries.get(key)

    def text(self, digest: str) -> bytes | None:
        """Return the canonical bytes of the survey with this digest, if they were kept."""
        return self._texts.get(digest)

    def keep(self, digest: str, text: bytes) -> None:
        """Keep a survey's canonical bytes."""
        self._texts[digest] = text

    def prepare(self, key: Key, pool: str, draw: Callable[[], tuple[int, ...]]) -> tuple[int, ...]:
        """Return the kept set of questions; draw and keep one if there is none."""
        if (key, pool) not in self._drawn:
            self._drawn[key, pool] = draw()
        return self._drawn[key, pool]

    def names(self) -> Sequence[Key]:
        """Return the keys of all entries."""
        return sorted(self._entries)

    def read(self, name: Key) -> Record:
        """Return the entry of this key."""
        return Record(name._replace(token=""), self._entries[name], bool(name.token), name)

    def _name_of(self, key: Key) -> Key:
        return key

    def _record(self, key: Key, entry: Entry, text: bytes = b"") -> Entry:
        if key not in self._entries and text:
            self._texts[entry.digest] = text
        # The first report wins; later draws are dropped unseen, so that retries cannot choose an outcome.
        return self._entries.setdefault(key, entry)

    def _change(self, name: Key, **changes: Any) -> None:  # noqa: ANN401 - fields of an entry
        self._entries[name] = replace(self._entries[name], **changes)

    def _remove_rest(self, _names: Iterable[Key]) -> None:
        # A survey's text is kept only while a report needs it to be shown.
        left = {entry.digest for entry in self._entries.values() if entry.body}
        self._texts = {digest: text for digest, text in self._texts.items() if digest in left}
