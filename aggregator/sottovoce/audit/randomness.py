"""Check where random bytes come from and what becomes of them, as the client is delivered.

No statistic tells a seeded generator from a good one. So the objects are followed as they run: whatever the system's
source gives is what comes out, byte for byte, and nothing is kept between draws, programs or forks. From there on every
byte's draw is compared with the agreed one: ``below`` with its rejections, ``pick``, and the id of a report.
"""

import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial

from sottovoce.audit.check import FAILED, NOT_FOLLOWED, PASSED, Check
from sottovoce.audit.exact_channel import Mismatch
from sottovoce.audit.patch import system_source
from sottovoce.client.draws import Draws

SOURCE = "source of randomness"
DRAWS = "from bytes to draws"

_NEAR_POWERS = (2**bits + step for bits in (7, 8, 16) for step in (-1, 0, 1))
BOUNDS = (*range(1, 36), 64, 100, 200, 1000, *_NEAR_POWERS, 1 << 24, (1 << 32) - 1, 1 << 32)
ROWS = ((1,), (1, 3), (3, 1), (2, 0, 5), (1,) * 7, (255, 1), (200, 100, 100))
"""Bounds and weights for which every byte's draw is compared."""

Programs = tuple["subprocess.Popen[str]", ...]

_PROGRAM = "from sottovoce.client.draws import Draws; print(Draws().identity())"
_SECONDS = 60


def check_source(programs: Programs | None = None) -> list[Check]:
    """Check that the default ``Draws()`` uses the system's bytes unchanged, keeps no state, and draws as agreed.

    ``programs`` were begun before, since they take a while; None begins new ones.
    """
    follow_source = partial(_follow_source, programs or begin_programs())
    return [
        _checked(SOURCE, follow_source, "the system's bytes come out as they are; two programs and a fork share none"),
        _checked(DRAWS, _follow_draws, f"every first byte for {len(BOUNDS)} bounds and {len(ROWS)} rows of weights"),
    ]


def _checked(subject: str, work: Callable[[], None], scope: str) -> Check:
    try:
        work()
    except Mismatch as mismatch:
        return Check("python", subject, FAILED, message=str(mismatch))
    except Exception:  # whatever the client's code does instead
        return Check("python", subject, FAILED, message=NOT_FOLLOWED)
    return Check("python", subject, PASSED, scope=scope)


def _follow_source(programs: Programs) -> None:
    ids = _ids_of(programs)
    given: list[bytes] = []

    def read(count: int) -> bytes:
        given.append(bytes((7 * len(given) + 31 * place + count) % 256 for place in range(count)))
        return given[-1]

    with system_source(read):
        came = [Draws().exactly(count) for count in (1, 2, 4, 16, 1, 16, 3)]
        identity = Draws().identity()
    if came != given[:-1] or identity != given[-1].hex():
        raise Mismatch("what comes out is not what the system's source gave, byte for byte")
    if Draws()._read is not secrets.token_bytes:
        raise Mismatch("the default source is another object than secrets.token_bytes")
    for nothing in (_fails, lambda count: bytes(count - 1)):
        if _still_draws(nothing):
            raise Mismatch("it draws although the system gives no bytes, or too few")
    seen = [*ids, *_of_fork(), Draws().identity()]
    if len(set(seen)) != len(seen):
        raise Mismatch("two programs, or a program and its fork, draw the same")


def _fails(_count: int) -> bytes:
    raise OSError("no random bytes")


def _still_draws(read: Callable[[int], bytes]) -> bool:
    """Return whether any draw succeeds while ``read`` replaces the system's source."""
    for draw in (lambda: Draws().below(7), lambda: Draws().pick((1, 2)), lambda: Draws().identity()):
        try:
            with system_source(read):
                draw()
        except (OSError, ValueError):
            continue
        return True
    return False


def begin_programs() -> Programs:
    """Start two programs that draw an id each, at once."""
    command = [sys.executable, "-c", _PROGRAM]
    return tuple(subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2))  # noqa: S603 - our own


def _ids_of(programs: Programs) -> list[str]:
    return [program.communicate(timeout=_SECONDS)[0].strip() for program in programs]


def _of_fork() -> list[str]:
    """Return an id of a fork, and the next one here."""
    if not hasattr(os, "fork"):
        return []
    receiving, sending = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(sending, Draws().identity().encode())
        finally:
            os._exit(0)
    os.close(sending)
    with os.fdopen(receiving) as file:
        drawn = file.read()
    os.waitpid(child, 0)
    return [drawn, Draws().identity()]


def _follow_draws() -> None:
    for bound in BOUNDS:
        bits = (bound - 1).bit_length()
        for first in range(256) if bits else [0]:
            _compare_draw(bound, bits, first)
    for row in ROWS:
        for drawn in range(sum(row)):
            length = ((sum(row) - 1).bit_length() + 7) // 8
            tape = iter([drawn.to_bytes(length)] if length else [])
            if Draws(lambda _count, tape=tape: next(tape)).pick(row) != _picked(row, drawn):  # type: ignore[misc]
                raise Mismatch("weights are not drawn from as agreed")


def _compare_draw(bound: int, bits: int, first: int) -> None:
    """Compare a first try with this first byte; where it is too large, a second one that is 0."""
    length = (bits + 7) // 8
    reads: list[int] = []

    def read(count: int) -> bytes:
        reads.append(count)
        return (bytes([first]) + b"\xff" * (count - 1)) if len(reads) == 1 else bytes(count)

    value = int.from_bytes(bytes([first]) + b"\xff" * (length - 1)) % (1 << bits) if length else 0
    agreed = (value, [length] * bool(length)) if value < bound else (0, [length, length])
    if (Draws(read).below(bound), reads) != agreed:
        raise Mismatch("a draw is not what its bytes say, or reads more or fewer of them")


def _picked(row: Sequence[int], drawn: int) -> int:
    return next(index for index in range(len(row)) if drawn < sum(row[: index + 1]))
