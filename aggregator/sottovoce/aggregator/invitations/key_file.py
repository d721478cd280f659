"""
The file of private keys: one for each survey's name and wave, made once and then the same for ever.

It lies outside the database and outside backups, readable by nobody but the aggregator, and is the same on all nodes:
whoever has it can sign ids for himself, and whoever loses it can let nobody redeem an invitation any more. A line is
never changed, so that publishing the same file again finds the same moduli.
"""

import json
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sottovoce.aggregator.invitations.atomic_file import hand_over, put
from sottovoce.aggregator.invitations.rsa_blind_signer import SigningKey, make_key
from sottovoce.shared.errors import StorageError

if sys.platform != "win32":
    import fcntl

SETTING = "SOTTOVOCE_BLIND_KEYS_FILE"
FORMAT = "sottovoce-blind-keys/1"

Keys = dict[str, tuple[SigningKey, ...]]
"""By the survey's name, one for each wave."""


class KeysFile:
    """
    The keys that this aggregator signs with.

    Args:
        path: of the file, as ``SOTTOVOCE_BLIND_KEYS_FILE`` names it; "" for none.
    """

    def __init__(self, path: str) -> None:
        self._named = path
        self._path = Path(path)
        self._read: tuple[tuple[int, ...], Keys] = ((), {})

    def make(self, name: str, waves: int, bits: int, published: tuple[int, ...] = ()) -> tuple[int, ...]:
        """
        The moduli of a survey's waves; a wave that has no key yet gets one, durably before this returns.

        Args:
            name: the survey's.
            waves: how many it has.
            bits: of the keys that are made now.
            published: those that people were invited under already; others are never made in their place.

        Raises:
            StorageError: no file is named, it does not hold what was published, or it cannot be used.
        """
        with self._alone():
            self.check(name, published)
            keys = self._keys() if self._path.exists() else {}
            known = keys.get(name, ())
            if len(known) < waves:
                known += tuple(make_key(bits) for _ in range(waves - len(known)))
                self._write(keys | {name: known})
        return tuple(key.modulus for key in known[:waves])

    def check(self, name: str, published: tuple[int, ...] = ()) -> None:
        """
        That keys can be made for a survey, as far as can be seen without making any.

        Args:
            name: the survey's.
            published: the moduli under which people were invited to it already.

        Raises:
            StorageError: the file is there and cannot be used, or does not hold what was published.
        """
        if published:
            self.of(name, published)
        elif self._path.exists():
            self._keys()

    def holds(self, name: str) -> bool:
        """
        Whether there is a key of this survey.

        Raises:
            StorageError: the file is there and cannot be used.
        """
        return self._path.exists() and name in self._keys()

    def of(self, name: str, moduli: tuple[int, ...]) -> tuple[SigningKey, ...]:
        """
        The keys that a survey's moduli belong to.

        Args:
            name: the survey's.
            moduli: as its published form lists them.

        Raises:
            StorageError: the file does not hold them, or cannot be used.
        """
        if not self._named:
            raise _unusable("is not set")
        found = self._keys().get(name, ())[: len(moduli)]
        if tuple(key.modulus for key in found) != moduli:
            raise _unusable("does not hold this survey's keys; all nodes need the file that it was published with")
        return found

    def _keys(self) -> Keys:
        """Read anew only if the file is another one than it was."""
        try:
            status = self._path.stat()
        except OSError:
            raise _unusable("names a file that is not there") from None
        if stat.S_IMODE(status.st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
            raise _unusable("names a file that others than its owner may read; its mode must be 0600")
        version = (status.st_ino, status.st_mtime_ns, status.st_size)
        if self._read[0] != version:
            self._read = (version, _parse(self._path))
        return self._read[1]

    def _write(self, keys: Keys) -> None:
        """Put a whole new file in the place of the old one, durably."""
        document = {
            "format": FORMAT,
            "surveys": {name: [[f"{key.p:x}", f"{key.q:x}"] for key in each] for name, each in keys.items()},
        }
        put(self._path, json.dumps(document))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until nobody else on this machine makes keys: a key that was lost is lost for all who redeemed."""
        if not self._named:
            raise _unusable("must name a file for the keys of surveys with access: blind, outside data and backups")
        if sys.platform == "win32":
            raise _unusable("needs locks on files, which this system does not have")
        try:
            handle = os.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
            hand_over(handle, self._path.parent)
        except OSError:
            raise _unusable("names a file in a folder that cannot be written to") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def _parse(path: Path) -> Keys:
    try:
        document: Any = json.loads(path.read_text(encoding="ascii"))
        if document["format"] != FORMAT:
            raise ValueError
        return {
            name: tuple(SigningKey(int(p, 16), int(q, 16)) for p, q in each)
            for name, each in document["surveys"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise _unusable("names a file that holds no such keys") from None


def _unusable(why: str) -> StorageError:
    return StorageError(f"{SETTING} {why}")
