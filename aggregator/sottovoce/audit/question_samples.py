"""Draw what chance chooses in one vector of an audit before any answer: the arm, and the questions under ``ask``."""

import hashlib
from typing import NamedTuple

from sottovoce.client.draws import Draws
from sottovoce.client.question_sample import draw_arm, draw_asked
from sottovoce.shared.spec import Survey


class Stream:
    """A stream of bytes that follow from a seed, without an end; it counts those that are read."""

    def __init__(self, seed: str) -> None:
        self._seed = seed.encode()
        self._given = b""
        self.used = 0

    def read(self, count: int) -> bytes:
        """Return so many of the next bytes."""
        self.used += count
        while self.used > len(self._given):
            self._given = hashlib.shake_256(self._seed).digest(max(64, 2 * self.used))
        return self._given[self.used - count : self.used]

    @property
    def tape(self) -> bytes:
        """Return the random bytes read so far."""
        return self._given[: self.used]


class AskedSample(NamedTuple):
    """The questions of one respondent.

    Attributes:
        places: indices of what has values.
        tape: the bytes drawn for it.
        arm: name of the arm; "" without arms.
        of_arm: number of those bytes that drew the arm, the first ones.
    """

    places: tuple[int, ...]
    tape: bytes
    arm: str
    of_arm: int


def draw_sample(survey: Survey, stream: Stream) -> AskedSample:
    """Draw what one respondent is asked, as the clients do."""
    draws = Draws(stream.read)
    arm = draw_arm(survey, draws) if survey.arms else 0
    name = survey.arms[arm].name if survey.arms else ""
    of_arm = len(stream.tape)
    return AskedSample(draw_asked(survey, draws, arm), stream.tape, name, of_arm)
