"""The ledger that outlives a process: a folder with one small JSON file per entry, which appears whole or not at all.

A file is synced before it gets its name and its folder is synced after, so that a report which was sent is always one
that is remembered, whatever ends the program or the machine in between.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from fnmatch import filter as matching
from pathlib import Path
from typing import Any

from sottovoce.client.ledger import Entry, Key, Ledger, Record
from sottovoce.client.ledger_entry import StoredEntries, dump_drawn, dump_record, parse_drawn, unreadable, unwritable
from sottovoce.shared.durable import opened, sync
from sottovoce.shared.errors import BudgetExhausted

if sys.platform != "win32":
    import fcntl

_ENTRY = ".json"
_PART = ".part"
_DRAWN = ".drawn"
_TEXT = ".survey"


def ledger_folder(platform: str, environ: Mapping[str, str], home: Path) -> Path:
    """Return the folder of the ledger; ``platform`` is as in ``sys.platform``.

    ``SOTTOVOCE_LEDGER`` names it outright. Else it is where the platform keeps an application's own data: on Windows
    ``%LOCALAPPDATA%`` (not the roaming profile: the ledger belongs to this device), on macOS ``~/Library/Application
    Support``, elsewhere ``$XDG_DATA_HOME`` or ``~/.local/share``.
    """
    named = environ.get("SOTTOVOCE_LEDGER")
    return Path(named) if named else _data(platform, environ, home) / "sottovoce" / "ledger"


def _data(platform: str, environ: Mapping[str, str], home: Path) -> Path:
    if platform == "win32":
        local = environ.get("LOCALAPPDATA")
        return Path(local) if local else home / "AppData" / "Local"
    if platform == "darwin":
        return home / "Library" / "Application Support"
    # The XDG specification asks that a path that is not absolute be ignored.
    data = Path(environ.get("XDG_DATA_HOME", ""))
    return data if data.is_absolute() else home / ".local" / "share"


class FileLedger(Ledger):
    """A ledger in a folder, one small JSON file per entry, readable by its owner only; sets of questions have files of
    their own, which end in ``.drawn``, and so have the surveys that reports were drawn for, which end in
    ``.survey``.

    A file appears whole or not at all: it is written and synced under another name and then linked to its own, which
    the file system lets only one of several processes do. Where the system has locks, processes also wait for each
    other, so that what one forgets another does not write back.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()
        self._records = StoredEntries()

    def get(self, key: Key) -> Entry | None:
        """Return the entry; raises BudgetExhausted if its file is damaged or unreadable: what it held may have been
        sent.
        """
        try:
            entry = self._parsed(self._name_of(key)).entry
            if entry.waiting:
                # The process that recorded it may have been killed before the folder was synced; now it will be sent.
                sync(self.folder)
        except FileNotFoundError:
            return None
        except OSError:
            raise unreadable(self._place(self._name_of(key))) from None
        return entry

    def text(self, digest: str) -> bytes | None:
        """Return a survey's canonical bytes; None if they were not kept, or are damaged."""
        try:
            text = self._text_path(digest).read_bytes()
        except OSError:
            return None
        return text if hashlib.sha256(text).hexdigest() == digest else None

    def keep(self, digest: str, text: bytes) -> None:
        """Keep a survey's canonical bytes for an entry that an earlier release recorded without them."""
        # It is only for words; what cannot be written now is asked for again.
        with suppress(BudgetExhausted), self._writing():
            self._write(text).replace(self._text_path(digest))

    def prepare(self, key: Key, pool: str, draw: Callable[[], tuple[int, ...]]) -> tuple[int, ...]:
        """Return the kept set of questions; draw and keep one if there is none."""
        path = self.folder / f"{self._name_of(key)}-{pool}{_DRAWN}"
        with self._writing():
            if not path.exists():
                self._create(path, dump_drawn(draw()))
            sync(self.folder)
        return parse_drawn(path)

    def names(self) -> list[str]:
        """Return the names of all entries, whether they can be read or not."""
        try:
            return sorted(name[: -len(_ENTRY)] for name in self._found(f"?*{_ENTRY}"))
        except FileNotFoundError:
            return []
        except OSError:
            raise unreadable(self.folder) from None

    def read(self, name: str) -> Record:
        """Return the entry of this name; raises BudgetExhausted if it is damaged or gone."""
        try:
            return self._parsed(name)
        except OSError:
            raise unreadable(self._place(name)) from None

    def forget(self, name: str) -> None:
        """End the report of this name: its charge stays, and no other is drawn for what it was drawn for."""
        if self.read(name).entry.ended:
            # The process that ended it may have been killed before it removed everything.
            self._remove_rest([name])
        else:
            self._end(name, "forgotten")

    def erase(self, name: str) -> None:
        """Remove the entry, ``*`` for all, and its charge: this device no longer knows, and would draw again."""
        try:
            with self._locked():
                for pattern in (f"{name}{_ENTRY}", f"{name}-*{_DRAWN}", f"*{_PART}"):
                    self._remove(pattern)
                self._remove_texts()
                sync(self.folder)
        except OSError:
            raise unwritable("not everything was erased") from None

    def _name_of(self, key: Key) -> str:
        return self._records.name_of(key)

    def _parsed(self, name: str) -> Record:
        return self._records.read(self._place(name), name)

    def _place(self, name: str) -> str:
        return f"{self.folder}{os.sep}{name}{_ENTRY}"

    def _path(self, name: str) -> Path:
        return Path(self._place(name))

    def _text_path(self, digest: str) -> Path:
        return self.folder / f"{digest}{_TEXT}"

    def _end(self, name: str, ended: str, is_untried: bool = False) -> bool:
        try:
            return super()._end(name, ended, is_untried)
        except OSError:
            raise unwritable(f"it does not know that the report was {ended}") from None

    def _remove_rest(self, names: Iterable[str]) -> None:
        """Remove the question sets and survey texts that only ended reports needed."""
        try:
            with self._locked() as alone:
                if alone:
                    self._remove(f"*{_PART}")
                for name in names:
                    self._remove(f"{name}-*{_DRAWN}")
                self._remove_texts()
                sync(self.folder)
        except OSError:
            raise unwritable("which survey it was for can still be read there") from None

    def _remove_texts(self) -> None:
        """Remove the texts of surveys that no remaining report was drawn for."""
        left = {record.entry.digest for record in self._readable() if record.entry.body}
        for path in map(self.folder.joinpath, self._found(f"*{_TEXT}")):
            if path.stem not in left:
                path.unlink(missing_ok=True)

    def _change(self, name: str, **changes: Any) -> None:  # noqa: ANN401 - fields of an entry
        try:
            record = self._parsed(name)
        except FileNotFoundError:
            return
        self._write(dump_record(record.key, replace(record.entry, **changes))).replace(self._place(name))
        sync(self.folder)

    def _record(self, key: Key, entry: Entry, text: bytes = b"") -> Entry:
        path = self._path(self._name_of(key))
        if text and not path.exists():
            # Before the entry, so that the receipt of a sent report can always be shown in words.
            self._write(text).replace(self._text_path(entry.digest))
        self._create(path, dump_record(key, entry))
        stored = self.get(key)
        if stored is None:
            raise unreadable(path)
        return stored

    def _create(self, path: Path, content: bytes) -> None:
        """Write a file durably, unless it is there already."""
        temporary = self._write(content)
        try:
            with suppress(FileExistsError):
                os.link(temporary, path)
        finally:
            temporary.unlink()
        sync(self.folder)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Write alone, where the system can, in a folder that is there; what cannot be written stops everything."""
        try:
            self._make_folder()
            with self._locked() as alone:
                if alone:
                    # What a killed process left: a report drawn but never recorded, and so never sent.
                    self._remove(f"*{_PART}")
                yield
        except OSError:
            raise unwritable("nothing was sent") from None

    def _make_folder(self) -> None:
        if self.folder.is_dir():
            return
        missing = [folder for folder in (self.folder, *self.folder.parents) if not folder.exists()]
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in missing:
            sync(folder.parent)

    def _write(self, content: bytes) -> Path:
        # mkstemp makes the file readable by its owner only.
        handle, name = tempfile.mkstemp(suffix=_PART, dir=self.folder)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        return Path(name)

    def _remove(self, pattern: str) -> None:
        for name in self._found(pattern):
            self.folder.joinpath(name).unlink(missing_ok=True)

    def _found(self, pattern: str) -> list[str]:
        return matching(os.listdir(self.folder), pattern)  # noqa: PTH208 - names alone, which is quicker

    @contextmanager
    def _locked(self) -> Iterator[bool]:
        """Wait for other processes, where the system can; yield whether it could."""
        if sys.platform == "win32":
            yield False
            return
        with opened(self.folder) as handle:
            alone = False
            # Some network file systems have no locks; the link above still lets one process only record.
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX)
                alone = True
            yield alone


def default_folder() -> Path:
    """Return the folder in which this device keeps the ledger."""
    try:
        home = Path.home()
    except RuntimeError:
        raise unwritable("this device names no home folder; set SOTTOVOCE_LEDGER to a folder") from None
    return ledger_folder(sys.platform, os.environ, home)
