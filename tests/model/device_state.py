"""What there is between two events of a device's life, and what one of them did."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_ID = re.compile(rb'id[\\"]+:[\\" ]*([0-9a-f]{32})')


@dataclass(frozen=True)
class State:
    """A device and its aggregator between two events: all that what comes next can depend on.

    Attributes:
        files: the ledger's, by name.
        stored: the report that the aggregator holds for each id; "" once it is withdrawn.
        spent: the tokens that were taken, with the id of their report.
        revised: the aggregator shows a second version.
        token: which of the person's links is used now.
        named: the last number that was the id of a report which left: no other report gets it.
    """

    files: tuple[tuple[str, bytes], ...] = ()
    stored: tuple[tuple[str, bytes], ...] = ()
    spent: tuple[tuple[str, str], ...] = ()
    revised: bool = False
    token: int = 0
    named: int = 0


@dataclass(frozen=True)
class Happened:
    """What one event did, beside its end.

    Attributes:
        state: at its end.
        wire: what passed, in order: ("sent", token, body), ("told", id, b"") of a receipt that reached the device,
            ("ended", "", b"") once the person has given a report up, ("asked", link, questions) that are shown,
            ("redeemed", link, numbers) that are to be signed.
        killed: the event was ended by a kill.
    """

    state: State
    wire: tuple[tuple[str, str, bytes], ...]
    killed: bool = False


@dataclass(frozen=True)
class Way:
    """One event along one way of the coins.

    Attributes:
        happened: what it did.
        kills: of ``ANSWERED``, what it would have done, had a kill ended it before each of its steps on the disk and on
            the wire.
        looked: the client looked at the answers; else they could have been any.
        timed: it looked at the clock; else that could have shown any time.
    """

    happened: Happened
    kills: tuple[Happened, ...]
    looked: bool
    timed: bool


def names_of(state: State) -> int:
    """The last number that is an id in anything that lies here, or that was one of a report which left."""
    return max(state.named, _last_id(content for _, content in state.files))


def last_named(before: State, wire: Iterable[tuple[str, str, bytes]]) -> int:
    """The last number that was the id of a report which left, until now."""
    return max(before.named, _last_id(body for kind, _, body in wire if kind == "sent"))


def _last_id(texts: Iterable[bytes]) -> int:
    return max((int(found, 16) for text in texts for found in _ID.findall(text)), default=0)
