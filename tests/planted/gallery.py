"""Dishonest clients, and honest ones that look different: what audit and whole runs must say was written beforehand.

``gallery_python.yaml`` and ``gallery_javascript.yaml`` hold the clients, as edits of the sources, and
``gallery_surveys.yaml`` the surveys that they are audited on. Where sources have moved or changed, write an edit's code
as it is now; what the client does, and the verdict that it must get, stay.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FAILED = "failed"
PASSED = "passed"
NOT_SEEN = "not seen"


@dataclass(frozen=True)
class Edit:
    """One change of a source, whose ``code`` occurs in it once."""

    file: str
    code: str
    planted: str


@dataclass(frozen=True)
class PlantedClient:
    """One client, and its verdict: ``FAILED``, ``PASSED`` for an honest one, or ``NOT_SEEN`` for the ``reason`` given.

    ``seen_by`` is the subject of the check that must fail. Only visits with a browser see what is ``served``; ``alone``
    audits the survey's first question as one for pages of other systems.
    """

    name: str
    language: str
    survey: str
    verdict: str
    edits: tuple[Edit, ...]
    seen_by: str = ""
    reason: str = ""
    served: bool = False
    alone: bool = False


def _read(name: str) -> Any:
    return yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def _clients(language: str) -> list[PlantedClient]:
    return [_client(language, entry) for entry in _read(f"gallery_{language}.yaml")]


def _client(language: str, entry: dict[str, Any]) -> PlantedClient:
    edits = tuple(Edit(**edit) for edit in entry.pop("edits"))
    return PlantedClient(language=language, edits=edits, **entry)


SURVEYS: dict[str, dict[str, Any]] = _read("gallery_surveys.yaml")
"""Survey files by name."""

CLIENTS = [*_clients("python"), *_clients("javascript")]
