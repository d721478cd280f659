"""Blocks of a survey: questions whose answers are randomized together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.mechanisms.joint_rr import JointMember, JointRR


@dataclass(frozen=True)
class Block:
    """Questions whose answers are randomized together.

    Attributes:
        name: unique among the names of the survey's items.
        questions: their indices in the survey, one after the other.
        mechanism: how a combination of their answers is randomized; each question has the part that concerns it.
    """

    name: str
    questions: tuple[int, ...]
    mechanism: JointRR


def flat_items(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the entries of a valid survey's document, each block followed by its items."""
    return [part for entry in document["questions"] for part in (entry, *entry.get("items", ()))]


def blocks_of(mechanisms: Sequence[Mechanism | None]) -> tuple[Block, ...]:
    """Return the blocks of questions with these mechanisms, in order; None stands for a public question."""
    found: dict[str, Block] = {}
    for index, member in enumerate(mechanisms):
        if isinstance(member, JointMember):
            before = found[member.block_name].questions if member.position else ()
            found[member.block_name] = Block(member.block_name, (*before, index), member.block)
    return tuple(found.values())
