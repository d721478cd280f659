"""
The ledger that outlives a process: a folder with one small JSON file per entry, which appears whole or not at all.

A file is synced before it gets its name and its folder is synced after, so that a report which was sent is always one
that is remembered, whatever ends the program or the machine in between.
"""

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import MISSING, asdict, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from sottovoce.client.ledger import Entry, Key
from sottovoce.client.ledger_location import ledger_folder
from sottovoce.shared.errors import BudgetExhausted

if sys.platform != "win32":
    import fcntl

_PART = ".part"
_DRAWN = ".drawn"


class Record(NamedTuple):
    """
    One entry with what it is for.

    Attributes:
        key: without its token, which the ledger does not hold.
        bound: the report was drawn for a token; to send it needs the link again.
        name: the entry's own name in the ledger.
    """

    key: Key
    entry: Entry
    bound: bool
    name: str


class FileLedger:
    """
    Remembers in a folder, one small JSON file per entry, readable by its owner only; sets of questions have files of
    their own, which end in ``.drawn``.

    A file appears whole or not at all: it is written and synced under another name and then linked to its own,
    which the file system lets only one of several processes do. Where the system has locks, processes also wait for
    each other, so that what one forgets another does not write back.

    Attributes:
        folder: where the files are.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()

    def get(self, key: Key) -> Entry | None:
        """
        What was recorded for ``key``; None if nothing was.

        Raises:
            BudgetExhausted: its file is damaged, or cannot be read; what it held may have been sent.
        """
        path = self._path(name_of(key))
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError:
            raise _unreadable(path) from None
        return _parse(path, content).entry

    def record(self, key: Key, entry: Entry) -> Entry:
        """The entry that stands for ``key`` from now on."""
        path = self._path(name_of(key))
        self._create(path, {**_about(key), **asdict(entry)})
        stored = self.get(key)
        if stored is None:
            raise _unreadable(path)
        return stored

    def prepare(self, key: Key, digest: str, drawn: tuple[int, ...]) -> tuple[int, ...]:
        """
        The set of questions from now on.

        Args:
            key: what is answered.
            digest: of the survey's text; another text is another set.
            drawn: indices of questions, which count only if nothing was drawn before.
        """
        path = self.folder / f"{name_of(key)}-{digest}{_DRAWN}"
        self._create(path, {"drawn": drawn})
        return _drawn(path)

    def mark_sent(self, key: Key) -> None:
        """Note that the aggregator has acknowledged the report."""
        # The report has arrived; a note that cannot be written is no reason to say that it has not.
        with suppress(OSError):
            self._change(name_of(key), sent=True)

    def end(self, key: Key, ended: str) -> None:
        """Wipe the report, durably, and keep that there was one; ``ended`` says why."""
        self._end(name_of(key), ended)

    def spent(self, origin: str) -> float:
        """Total epsilon of all reports drawn for this aggregator."""
        records = (self.read(name) for name in self.names())
        return sum(record.entry.epsilon for record in records if record.key.origin == origin)

    def names(self) -> list[str]:
        """The names of all entries, whether they can be read or not."""
        try:
            return sorted(path.stem for path in self.folder.iterdir() if path.suffix == ".json")
        except FileNotFoundError:
            return []
        except OSError:
            raise _unreadable(self.folder) from None

    def read(self, name: str) -> Record:
        """
        The entry of this name.

        Raises:
            BudgetExhausted: it is damaged or gone.
        """
        path = self._path(name)
        try:
            return _parse(path, path.read_bytes())
        except OSError:
            raise _unreadable(path) from None

    def forget(self, name: str) -> None:
        """End the report of this name: its charge stays, and no other is drawn for what it was drawn for."""
        if not self.read(name).entry.ended:
            self._end(name, "forgotten")

    def erase(self, name: str) -> None:
        """Remove the entry, ``*`` for all, and its charge: this device no longer knows, and would draw again."""
        try:
            with self._locked():
                self._remove(f"{name}.json")
                self._remove(f"{name}-*{_DRAWN}")
                self._remove(f"*{_PART}")
                _sync(self.folder)
        except OSError:
            raise _unwritable("not everything was erased") from None

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def _end(self, name: str, ended: str) -> None:
        try:
            self._change(name, body="", ended=ended)
            self._remove(f"{name}-*{_DRAWN}")
        except OSError:
            raise _unwritable(f"it does not know that the report was {ended}") from None

    def _change(self, name: str, **changes: Any) -> None:  # noqa: ANN401 - fields of an entry
        path = self._path(name)
        with self._locked():
            try:
                document = json.loads(path.read_bytes())
            except FileNotFoundError:
                return
            except ValueError:
                raise _unreadable(path) from None
            entry = replace(_entry(path, document), **changes)
            about = {key: document[key] for key in ("origin", "survey", "wave")}
            self._write({**about, **asdict(entry)}).replace(path)
            _sync(self.folder)

    def _create(self, path: Path, document: dict[str, Any]) -> None:
        """Write a file durably, unless it is there already."""
        try:
            self._make_folder()
            with self._locked() as alone:
                if alone:
                    # What a killed process left: a report drawn but never recorded, and so never sent.
                    self._remove(f"*{_PART}")
                temporary = self._write(document)
                try:
                    os.link(temporary, path)
                except FileExistsError:
                    pass
                finally:
                    temporary.unlink()
                _sync(self.folder)
        except OSError:
            raise _unwritable("nothing was sent") from None

    def _make_folder(self) -> None:
        missing = [folder for folder in (self.folder, *self.folder.parents) if not folder.exists()]
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in missing:
            _sync(folder.parent)

    def _write(self, document: dict[str, Any]) -> Path:
        # mkstemp makes the file readable by its owner only.
        handle, name = tempfile.mkstemp(suffix=_PART, dir=self.folder)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        return Path(name)

    def _remove(self, pattern: str) -> None:
        for path in self.folder.glob(pattern):
            path.unlink(missing_ok=True)

    @contextmanager
    def _locked(self) -> Iterator[bool]:
        """Wait for other processes, where the system can; tells whether it could."""
        if sys.platform == "win32":
            yield False
            return
        handle = os.open(self.folder, os.O_RDONLY)
        alone = False
        try:
            # Some network file systems have no locks; the link above still lets one process only record.
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX)
                alone = True
            yield alone
        finally:
            os.close(handle)


def _sync(folder: Path) -> None:
    """Make what was done in a folder durable."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def name_of(key: Key) -> str:
    """An entry's name: a digest, since a token names a person."""
    return hashlib.sha256(json.dumps(key).encode()).hexdigest()


def _about(key: Key) -> dict[str, str | int]:
    return {"origin": key.origin, "survey": key.survey, "wave": key.wave}


def default_folder() -> Path:
    """Where this device keeps the ledger."""
    try:
        home = Path.home()
    except RuntimeError:
        raise _unwritable("this device names no home folder; set SOTTOVOCE_LEDGER to a folder") from None
    return ledger_folder(sys.platform, os.environ, home)


def _parse(path: Path, content: bytes) -> Record:
    try:
        document = json.loads(content)
        key = Key(str(document["origin"]), str(document["survey"]), int(document["wave"]))
    except (ValueError, LookupError, TypeError, RecursionError):
        raise _unreadable(path) from None
    return Record(key, _entry(path, document), bound=path.stem != name_of(key), name=path.stem)


def _entry(path: Path, document: Any) -> Entry:  # noqa: ANN401 - what JSON reads
    """The entry in a file; fields with a default may be missing, as in a file of an earlier version."""
    try:
        known = {field.name: document[field.name] for field in fields(Entry) if field.name in document}
        needed = {field.name for field in fields(Entry) if field.default is MISSING}
        right = needed <= set(known) and known["epsilon"] >= 0
        right = right and isinstance(known["body"], str) and isinstance(known["digest"], str)
    except (LookupError, TypeError):
        right = False
    if not right:
        raise _unreadable(path)
    return Entry(**known)


def _drawn(path: Path) -> tuple[int, ...]:
    try:
        drawn = json.loads(path.read_bytes())["drawn"]
        if not isinstance(drawn, list) or not all(type(number) is int for number in drawn):
            raise _unreadable(path)
        return tuple(drawn)
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        raise _unreadable(path) from None


def _unreadable(path: Path) -> BudgetExhausted:
    # A damaged entry may stand for a report already sent, so it is not a reason to draw again.
    return BudgetExhausted(f"the ledger cannot be read; nothing was drawn and nothing was sent. Damaged: {path}")


def _unwritable(consequence: str) -> BudgetExhausted:
    return BudgetExhausted(f"the ledger cannot be written; {consequence}")
