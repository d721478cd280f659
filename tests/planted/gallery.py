"""
Dishonest clients, and honest ones that look different: what the audit must say of each was written down beforehand.

``gallery_python.yaml`` and ``gallery_javascript.yaml`` hold the clients, as edits of the sources, and
``gallery_surveys.yaml`` the surveys that they are audited on. Where sources have moved or changed, write an edit's code
as it is now; what the client does, and the verdict that it must get, stay.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from sottovoce.audit.wire_runs import IDENTITY

FAILED = "failed"
PASSED = "passed"
NOT_SEEN = "not seen"

HONEST = "honest"
"""The class of what must not alarm."""

CLASSES = (
    "between answer and randomizer",
    "after the randomizer",
    "not a value",
    "source of randomness",
    "reads and output together",
    "life of a device",
    "promise about the client",
)
"""Where a client is dishonest."""

PROMISES = (
    "only the randomizer sees the truth",
    "nothing beside the values tells anything",
    "the moment tells nothing",
    "one draw for a person",
    "only the system's randomness",
    "exact odds",
    "nothing above what a person allows",
    "the survey that the link names",
    "two reports share nothing",
    "the device keeps no answer",
    "a refusal buys no second draw",
    "a retry sends the same bytes",
)
"""What is promised about the client, and what a dishonest one breaks."""

LIFE = "life of a device"
LAW = "law of an answer"
SERVED = "the served form"

SEEN_BY = (
    "source of randomness",
    "from bytes to draws",
    "what a person allows",
    "the survey of the link",
    "what it must refuse",
    "law of the id",
    LAW,
    "answers to those asked",
    "in two waves",
    "whole runs",
    "the form's own steps",
    LIFE,
    SERVED,
)
"""The parts of an audit that enumerate, from the one that tells most of what is wrong."""

UNSEEN = (
    "three or more answers together",
    "certain ids or other rare random bytes",
    "by date",
    "by machine",
    "when it is not audited",
    "how long the processor takes",
)
"""What no audit of this kind sees, in the words of its report."""


@dataclass(frozen=True)
class Edit:
    """
    One change of a source.

    Attributes:
        file: the source, from the top of the repository.
        code: stands in it just once.
        planted: is put in its place.
    """

    file: str
    code: str
    planted: str


@dataclass(frozen=True)
class PlantedClient:
    """
    One client.

    Attributes:
        name: what it does.
        language: ``python`` or ``javascript``.
        kind: one of ``CLASSES``, or ``HONEST``.
        promise: the one of ``PROMISES`` that it breaks; "" for an honest one.
        survey: the name of the survey on which it shows.
        verdict: what an audit on that survey must come to; ``NOT_SEEN`` where none of this kind can see it.
        reason: why none can; "" where one can.
        unseen: the one of ``UNSEEN`` that it is an example of; "" where one can see it.
        seen_by: the one of ``SEEN_BY`` that sees it; "" where none has to, or it does not matter which.
        served: only an audit of the served form, with ``--client``, can see it.
        edits: what is changed.
    """

    name: str
    language: str
    kind: str
    promise: str
    survey: str
    verdict: str
    reason: str
    unseen: str
    seen_by: str
    served: bool
    edits: tuple[Edit, ...]


def _read(name: str) -> Any:
    return yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def _clients(language: str) -> list[PlantedClient]:
    return [_client(language, entry) for entry in _read(f"gallery_{language}.yaml")]


def _client(language: str, entry: dict[str, Any]) -> PlantedClient:
    edits = tuple(Edit(**edit) for edit in entry.pop("edits"))
    given = {"promise": "", "reason": "", "unseen": "", "seen_by": "", "served": False, **entry}
    return PlantedClient(language=language, edits=edits, **given)


def room_of(part: str, subject: str) -> str:
    """
    The one of ``SEEN_BY`` that a check of an audit belongs to; "" for those that sample.

    Args:
        part: of the check.
        subject: of the check.
    """
    if part in {"files", "script", "page"}:
        return SERVED
    if part not in {"python", "javascript"}:
        return ""
    known = [room for room in SEEN_BY if subject.startswith(room) or subject.endswith(room)]
    return known[0] if known else "whole runs" if subject == IDENTITY else LAW


SURVEYS: dict[str, dict[str, Any]] = _read("gallery_surveys.yaml")
"""Survey files by name."""

CLIENTS = [*_clients("python"), *_clients("javascript")]
