"""Keep files uploaded for analysis in the memory of this node, for a while, each for the account that sent it."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from threading import Lock, Timer
from time import monotonic

from sottovoce.aggregator.accounts.authentication import VISITOR
from sottovoce.aggregator.analysis.data_file.file_analysis import UploadedFile

IDLE = 15 * 60
"""Seconds from the last use until a file is dropped."""

MOST_BYTES = 500 << 20
"""Bytes of all files of a node."""

VISITORS_AT_ONCE = 4
"""Files of visitors without an account that a node keeps at once."""

_DROP_SECONDS = 60


@dataclass(frozen=True)
class KeptFile:
    """File with its channels, its sender's account id in hexadecimal, and the monotonic time of its last use."""

    account: str
    file: UploadedFile
    used: float


class UploadedFiles:
    """Files of one node; ``dropped`` is called with each dropped file's id, ``seconds`` is a monotonic clock."""

    def __init__(self, dropped: Callable[[str], None], seconds: Callable[[], float] = monotonic) -> None:
        self._dropped = dropped
        self._seconds = seconds
        self._lock = Lock()
        self._files: dict[str, KeptFile] = {}
        self._timer: Timer | None = None

    def add(self, account: str, name: str, data: bytes, links: tuple[str, ...] = ()) -> str | None:
        """Keep a file of an account and return its id; None if there is no room. ``links`` as in ``UploadedFile``."""
        self.drop_idle()
        with self._lock:
            if sum(len(kept.file.data) for kept in self._files.values()) + len(data) > MOST_BYTES:
                return None
            id = os.urandom(16).hex()
            self._files[id] = KeptFile(account, UploadedFile(name, data, {}, links), self._seconds())
        self._schedule()
        return id

    def add_of_visitor(self, visitor: str, name: str, data: bytes, links: tuple[str, ...] = ()) -> str | None:
        """Keep a file of a visitor in the place of the one before, and return its id; None if there is no room."""
        with self._lock:
            mine = [id for id, kept in self._files.items() if kept.account == visitor]
        for id in mine:
            self.drop(visitor, id)
        self.drop_idle()
        with self._lock:
            others = sum(kept.account.startswith(VISITOR) for kept in self._files.values())
        return None if others >= VISITORS_AT_ONCE else self.add(visitor, name, data, links)

    def find(self, account: str, id: str) -> UploadedFile | None:
        """Return a file of an account, and keep it on; None if it is not here."""
        self.drop_idle()
        with self._lock:
            kept = self._files.get(id)
            if kept is None or kept.account != account:
                return None
            self._files[id] = replace(kept, used=self._seconds())
            return kept.file

    def set_channels(self, account: str, id: str, channels: Mapping[str, str]) -> bool:
        """Set the channels of a file's columns, by name; return False if the file is not here."""
        with self._lock:
            kept = self._files.get(id)
            if kept is None or kept.account != account:
                return False
            self._files[id] = replace(kept, file=replace(kept.file, channels=dict(channels)), used=self._seconds())
            return True

    def drop(self, account: str, id: str) -> None:
        """Drop a file of an account."""
        with self._lock:
            kept = self._files.get(id)
            mine = kept is not None and kept.account == account
            if mine:
                del self._files[id]
        if mine:
            self._dropped(id)

    def drop_idle(self) -> None:
        """Drop the files that were not used for long."""
        last = self._seconds() - IDLE
        with self._lock:
            idle = [id for id, kept in self._files.items() if kept.used <= last]
            for id in idle:
                del self._files[id]
        for id in idle:
            self._dropped(id)

    def _schedule(self) -> None:
        """Drop idle files also if no one asks for any."""
        if self._timer is None or not self._timer.is_alive():
            self._timer = Timer(_DROP_SECONDS, self._drop_in_turn)
            self._timer.daemon = True
            self._timer.start()

    def _drop_in_turn(self) -> None:
        self._timer = None
        self.drop_idle()
        if self._files:
            self._schedule()
