"""
Verdicts that hold for files and not for a survey, kept by the SHA-256 of these files: what was found once for the same
bytes is not run again. Only what passed is kept; what failed is looked at anew each time.

Each language has a fingerprint of its own, so that a change of one client leaves what was found of the other.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from sottovoce.audit.check import PASSED, Check
from sottovoce.client.page import opened

CLIENT = "sottovoce.client"
PACKAGES = (CLIENT, "sottovoce.shared", "sottovoce.audit")
"""Whose files the client's behaviour, and what is looked at, depend on."""

FOREIGN = {"python": ".js", "javascript": ".py"}
"""How the names of those files of the client end that the one language's client never runs."""


def kept_or_found(language: str, what: str, find: Callable[[], Check], folder: Path | None = None) -> Check:
    """
    The verdict that was kept for these very files, else what ``find`` finds, kept if it passed.

    Args:
        language: one of ``FOREIGN``: whose client it is about.
        what: that is asked; another question has another verdict.
        find: does the work.
        folder: where verdicts are kept; the user's cache if none is named.
    """
    kept = kept_verdict(language, what, folder)
    if kept is not None:
        return kept
    found = find()
    if found.outcome == PASSED:
        _write(_path(language, what, folder), found)
    return found


def kept_verdict(language: str, what: str, folder: Path | None = None) -> Check | None:
    """
    What was found before for these very files; None if nothing was, or if it did not pass.

    Args:
        language: one of ``FOREIGN``: whose client it is about.
        what: that is asked.
        folder: where verdicts are kept; the user's cache if none is named.
    """
    path = _path(language, what, folder)
    kept = _read(path)
    told = f"found before for these very files (SHA-256 {path.stem[:12]})"
    return None if kept is None else replace(kept, scope=f"{kept.scope}; {told}")


@cache
def scripts() -> Mapping[str, str]:
    """The browser's scripts as they are opened, put together once for all parts of an audit."""
    return opened()


@cache
def fingerprint(language: str) -> str:
    """
    SHA-256 of all that one language's client, the agreement and the audit consist of, with the names of the files.

    Args:
        language: one of ``FOREIGN``.
    """
    total = hashlib.sha256()
    for name, content in sorted(_consists_of(language)):
        total.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    return total.hexdigest()


def _consists_of(language: str) -> Iterable[tuple[str, bytes]]:
    for package in PACKAGES:
        for name, content in _sources(files(package), package):
            if package != CLIENT or not name.endswith(FOREIGN[language]):
                yield name, content
    if language == "javascript":
        # Python puts the scripts together that run: here they are as it does.
        yield from ((f"opened/{name}", script.encode()) for name, script in scripts().items())


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the system keeps what can be made again."""
    named = environment.get("XDG_CACHE_HOME") or environment.get("LOCALAPPDATA")
    return Path(named or Path.home() / ".cache") / "sottovoce" / "audit"


def _path(language: str, what: str, folder: Path | None) -> Path:
    digest = hashlib.sha256(f"{fingerprint(language)} {language} {what}".encode()).hexdigest()
    return (folder or cache_folder()) / f"{digest}.json"


def _sources(folder: Traversable, name: str) -> Iterable[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _sources(entry, f"{name}/{entry.name}")
        elif not entry.name.endswith(".pyc"):
            yield f"{name}/{entry.name}", entry.read_bytes()


def _read(path: Path) -> Check | None:
    """What was kept and passed; None where nothing was, or what lies there cannot be read."""
    try:
        kept = Check(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RuntimeError):
        return None
    return kept if kept.outcome == PASSED else None


def _write(path: Path, found: Check) -> None:
    # It is only for speed; what cannot be kept is found again.
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(found.as_dict(), file)
        Path(name).replace(path)
