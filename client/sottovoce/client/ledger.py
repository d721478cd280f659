"""
What the device remembers: which report was drawn for which survey, and what it cost. Never an answer.
Beside it lies what was drawn before anything was asked, such as the set of questions under ``ask``.

A second attempt, another process or a restart finds the stored report and sends the same bytes: a second draw would
be a second look at the truth. Erasing the ledger, or another device, starts afresh; respondents are told so.
"""

import hashlib
import json
import math
import os
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from sottovoce.shared.errors import BudgetExhausted


class Key(NamedTuple):
    """What one draw is for: one aggregator, one survey (whatever its revision), one wave, one token."""

    origin: str
    survey: str
    wave: int = 0
    token: str = ""


@dataclass(frozen=True)
class Entry:
    """
    One drawn report.

    Attributes:
        digest: the survey's digest when the report was drawn.
        epsilon: what the report costs.
        body: the exact bytes to send.
        sent: the aggregator has acknowledged them.
    """

    digest: str
    epsilon: float
    body: str
    sent: bool = False


class Ledger(Protocol):
    """Remembers entries by key."""

    def get(self, key: Key) -> Entry | None:
        """The entry, or None."""

    def record(self, key: Key, entry: Entry) -> Entry:
        """The entry that stands for ``key`` from now on: an earlier one if there is one, else ``entry``, durably."""

    def prepare(self, key: Key, digest: str, drawn: tuple[int, ...], epsilon: float = 0.0) -> tuple[int, ...]:
        """
        What was drawn beforehand for ``key`` and this text of the survey: an earlier draw if there is one, else
        ``drawn``, durably. It costs ``epsilon`` by itself: what is remembered is charged for all waves at once.
        """

    def mark_sent(self, key: Key) -> None:
        """Note that the aggregator has acknowledged the report."""

    def spent(self, origin: str) -> float:
        """Total epsilon of all reports drawn for this aggregator."""


def recorded(ledger: Ledger, key: Key, digest: str) -> Entry | None:
    """
    The report drawn earlier for ``key``, or None.

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
        self._drawn: dict[tuple[Key, str], tuple[tuple[int, ...], float]] = {}

    def get(self, key: Key) -> Entry | None:
        """The entry, or None."""
        return self._entries.get(key)

    def record(self, key: Key, entry: Entry) -> Entry:
        """The entry that stands for ``key`` from now on."""
        return self._entries.setdefault(key, entry)

    def prepare(self, key: Key, digest: str, drawn: tuple[int, ...], epsilon: float = 0.0) -> tuple[int, ...]:
        """What was drawn beforehand from now on."""
        return self._drawn.setdefault((key, digest), (drawn, epsilon))[0]

    def mark_sent(self, key: Key) -> None:
        """Note that the aggregator has acknowledged the report."""
        self._entries[key] = replace(self._entries[key], sent=True)

    def spent(self, origin: str) -> float:
        """Total epsilon of all reports drawn for this aggregator."""
        reports = sum(entry.epsilon for key, entry in self._entries.items() if key.origin == origin)
        return reports + sum(epsilon for (key, _), (_, epsilon) in self._drawn.items() if key.origin == origin)


class FileLedger:
    """
    Remembers in a folder, one small JSON file per entry, readable by its owner only; draws made beforehand have files
    of their own, which end in ``.drawn``.

    A file appears whole or not at all: it is written and synced under another name and then linked to its own,
    which the file system lets only one of several processes do.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or default_folder()

    def get(self, key: Key) -> Entry | None:
        """The entry, or None."""
        try:
            return _entry(_read(self._path(key)))
        except FileNotFoundError:
            return None

    def record(self, key: Key, entry: Entry) -> Entry:
        """The entry that stands for ``key`` from now on."""
        return _entry(self._create(self._path(key), key, asdict(entry)))

    def prepare(self, key: Key, digest: str, drawn: tuple[int, ...], epsilon: float = 0.0) -> tuple[int, ...]:
        """What was drawn beforehand from now on."""
        name = hashlib.sha256(json.dumps([*key, digest]).encode()).hexdigest()
        fields = {"digest": digest, "epsilon": epsilon, "drawn": drawn}
        return _drawn(self._create(self._folder / f"{name}.drawn", key, fields))

    def mark_sent(self, key: Key) -> None:
        """Note that the aggregator has acknowledged the report."""
        entry = self.get(key)
        if entry is not None:
            # The report has arrived; a note that cannot be written is no reason to say that it has not.
            with suppress(OSError):
                self._write(key, asdict(replace(entry, sent=True))).replace(self._path(key))
                self._sync_folder()

    def spent(self, origin: str) -> float:
        """Total epsilon of all reports drawn for this aggregator."""
        try:
            paths = [path for kind in ("*.json", "*.drawn") for path in sorted(self._folder.glob(kind))]
            documents = [json.loads(path.read_bytes()) for path in paths]
            return math.fsum(float(document["epsilon"]) for document in documents if document["origin"] == origin)
        except (ValueError, LookupError, TypeError):
            raise _unreadable() from None

    def _path(self, key: Key) -> Path:
        name = hashlib.sha256(json.dumps(key).encode()).hexdigest()
        return self._folder / f"{name}.json"

    def _create(self, path: Path, key: Key, fields: dict[str, Any]) -> object:
        """The document in this file from now on: what stands there already, else these fields."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            temporary = self._write(key, fields)
            try:
                os.link(temporary, path)
            except FileExistsError:
                pass
            finally:
                temporary.unlink()
            self._sync_folder()
        except OSError:
            raise BudgetExhausted("the ledger cannot be written; nothing was sent") from None
        try:
            return _read(path)
        except FileNotFoundError:
            raise _unreadable() from None

    def _write(self, key: Key, fields: dict[str, Any]) -> Path:
        # mkstemp makes the file readable by its owner only.
        handle, name = tempfile.mkstemp(suffix=".part", dir=self._folder)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"origin": key.origin, "survey": key.survey, "wave": key.wave, **fields}, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        return Path(name)

    def _sync_folder(self) -> None:
        if os.name == "posix":
            handle = os.open(self._folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def default_folder(platform: str = sys.platform) -> Path:
    """Where this platform keeps an application's own data; ``SOTTOVOCE_LEDGER`` names another folder."""
    named = os.environ.get("SOTTOVOCE_LEDGER")
    if named:
        return Path(named)
    if platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "sottovoce" / "ledger"


def _read(path: Path) -> object:
    """The document in a file; ``FileNotFoundError`` if there is no such file."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise
    except (OSError, ValueError):
        raise _unreadable() from None


def _entry(document: object) -> Entry:
    try:
        fields = {name: document[name] for name in ("digest", "epsilon", "body", "sent")}  # type: ignore[index]
    except (LookupError, TypeError):
        raise _unreadable() from None
    return Entry(**fields)


def _drawn(document: object) -> tuple[int, ...]:
    drawn = document.get("drawn") if isinstance(document, dict) else None
    if not isinstance(drawn, list) or not all(type(number) is int for number in drawn):
        raise _unreadable()
    return tuple(drawn)


def _unreadable() -> BudgetExhausted:
    # A damaged entry may stand for a report already sent, so it is not a reason to draw again.
    return BudgetExhausted("the ledger cannot be read; nothing was drawn and nothing was sent")
