"""Keep the private keys for blind signatures in a file: a key for each wave of a survey, made once, never changed.

The file is stored outside the database and its backups, is readable only by the aggregator, and is the same on all
nodes. A thief of the file can sign ids; without the file no invitation can be redeemed. Keys never change, so that
publishing the same survey again finds the same moduli.

The public keys (moduli) are filled into a survey with ``access: blind`` when it is published. A node that lacks the
keys of an open survey refuses its invitations but serves all else.
"""

import json
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sottovoce.aggregator.invitations.rsa_blind_signer import SigningKey, make_key
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.surveys.lifecycle import survey_of
from sottovoce.shared.durable import opened, replace_file
from sottovoce.shared.errors import Problem, SpecError, StorageError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.redemption import spell_modulus
from sottovoce.shared.spec import Survey

if sys.platform != "win32":
    import fcntl

SETTING = "SOTTOVOCE_BLIND_KEYS_FILE"
FORMAT = "sottovoce-blind-keys/1"

Keys = dict[str, tuple[SigningKey, ...]]
"""Keys by name of the survey, one for each wave."""

_NO_FILE = "this server has no file for the keys of blind links: its operator must name one (SOTTOVOCE_BLIND_KEYS_FILE)"


def put(path: Path, text: str) -> None:
    """Replace a file in an existing folder by ASCII text, atomically and durably; raise OSError as ``replace_file``.

    If root runs this, the file gets the owner of its folder, so that a node that runs as another user can read it.
    """
    replace_file(path, [text.encode("ascii")], lambda handle: hand_over(handle, path.parent))


def hand_over(handle: int, folder: Path) -> None:
    """Give an open file to the owner of its folder; do nothing unless root runs it."""
    if os.geteuid() == 0:
        owner = folder.stat()
        os.fchown(handle, owner.st_uid, owner.st_gid)


class KeysFile:
    """File with the signing keys of this aggregator, at the path ``SOTTOVOCE_BLIND_KEYS_FILE``; "" for none."""

    def __init__(self, path: str) -> None:
        self._named = path
        self._path = Path(path)
        self._read: tuple[tuple[int, ...], Keys] = ((), {})

    def make(self, name: str, waves: int, bits: int, published: tuple[int, ...] = ()) -> tuple[int, ...]:
        """Return the moduli of a survey's waves; make and durably store the keys that are missing, of ``bits`` bits.

        ``published`` are moduli whose keys the file must have; they are never replaced. Raises StorageError if no file
        is configured, it lacks published keys, or it is unusable.
        """
        with self._lock():
            self.check(name, published)
            keys = self._keys() if self._path.exists() else {}
            known = keys.get(name, ())
            if len(known) < waves:
                known += tuple(make_key(bits) for _ in range(waves - len(known)))
                self._write(keys | {name: known})
        return tuple(key.modulus for key in known[:waves])

    def check(self, name: str, published: tuple[int, ...] = ()) -> None:
        """Check, without making keys, that the file is usable and has the published keys; else raise StorageError."""
        if published:
            self.of(name, published)
        elif self._path.exists():
            self._keys()

    def holds(self, name: str) -> bool:
        """Return True if the file has a key of this survey; raise StorageError if it exists but is unusable."""
        return self._path.exists() and name in self._keys()

    def of(self, name: str, moduli: tuple[int, ...]) -> tuple[SigningKey, ...]:
        """Return the keys that belong to the moduli of a published survey.

        Raises StorageError if the file lacks a key, or is unusable.
        """
        if not self._named:
            raise _unusable("is not set")
        found = self._keys().get(name, ())[: len(moduli)]
        if tuple(key.modulus for key in found) != moduli:
            raise _unusable("does not hold this survey's keys; all nodes need the file that it was published with")
        return found

    def _keys(self) -> Keys:
        """Load the keys; parse the file only if inode, time or size changed since the last call."""
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
        document = {
            "format": FORMAT,
            "surveys": {name: [[f"{key.p:x}", f"{key.q:x}"] for key in each] for name, each in keys.items()},
        }
        put(self._path, json.dumps(document))

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Lock the file against other processes on this machine: two writers could lose a new key."""
        if not self._named:
            raise _unusable("must name a file for the keys of surveys with access: blind, outside data and backups")
        if sys.platform == "win32":
            raise _unusable("needs locks on files, which this system does not have")
        with ExitStack() as stack:
            try:
                handle = stack.enter_context(opened(Path(f"{self._path}.lock"), os.O_RDWR | os.O_CREAT))
                hand_over(handle, self._path.parent)
            except OSError:
                raise _unusable("names a file in a folder that does not exist or cannot be written to") from None
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield


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


def missing_keys(storage: Storage, keys: KeysFile) -> dict[str, str]:
    """Map the names of open surveys without usable keys to the reason."""
    newest = {stored.name: stored for stored in storage.surveys()}
    found = {}
    for name, stored in newest.items():
        survey = survey_of(stored.document)
        if survey.is_blind and not stored.closed:
            try:
                keys.of(name, survey.moduli)
            except StorageError as error:
                found[name] = str(error)
    return found


def with_moduli(storage: Storage, survey: Survey, settings: Settings) -> Survey:
    """Return the survey with the moduli of its waves; a survey without blind access is returned unchanged.

    A correction keeps the keys of the previous revision; only new waves get new keys.

    Raises:
        SpecError: no key file is configured, or the survey lists the keys of another survey.
        StorageError: keys cannot be made, or published or listed keys are missing in the file.
    """
    if not survey.is_blind:
        return survey
    keys, published = _checked(storage, survey, settings)
    if survey.moduli:
        if not published and not keys.holds(survey.name):
            raise SpecError([Problem("/access", "lists the keys of another survey; write blind")])
        keys.of(survey.name, survey.moduli)
        return survey
    return _with_keys(survey, keys.make(survey.name, len(survey.waves), settings.blind_key_bits, published))


def with_known_moduli(storage: Storage, survey: Survey, settings: Settings) -> Survey:
    """Return the survey with the moduli of the previous revision, if they cover all waves; never make keys.

    Raises SpecError if no key file is configured, StorageError if it is unusable or lacks published keys.
    """
    if not survey.is_blind:
        return survey
    _, published = _checked(storage, survey, settings)
    return survey if survey.moduli or len(published) < len(survey.waves) else _with_keys(survey, published)


def _with_keys(survey: Survey, moduli: Sequence[int]) -> Survey:
    spelled = [spell_modulus(modulus) for modulus in moduli[: len(survey.waves)]]
    return parse_survey({**survey.document, "access": {"blind": spelled}})


def _checked(storage: Storage, survey: Survey, settings: Settings) -> tuple[KeysFile, tuple[int, ...]]:
    """Return the key file and the moduli of the newest revision, after checking that the file has their keys."""
    if not settings.blind_keys_file:
        raise SpecError([Problem("/access", _NO_FILE)])
    keys, revisions = KeysFile(settings.blind_keys_file), storage.revisions(survey.name)
    published = survey_of(revisions[-1].document).moduli if revisions else ()
    keys.check(survey.name, published)
    return keys, published
