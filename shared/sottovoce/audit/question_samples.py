"""Draw what chance chooses in one vector of an audit before any answer: the arm, and the questions under ``ask``."""

from typing import NamedTuple, Protocol

from sottovoce.client.draws import Draws
from sottovoce.client.question_sample import draw_arm, draw_asked
from sottovoce.shared.spec import Survey


class Stream(Protocol):
    """Repeatable bytes that remember what was read."""

    def read(self, count: int) -> bytes:
        """Return so many of the next bytes."""

    @property
    def tape(self) -> bytes:
        """Bytes read so far, in order."""


class AskedSample(NamedTuple):
    """
    Questions of one respondent.

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
    """
    Draw what one respondent is asked, as the clients do.

    Args:
        survey: the survey.
        stream: the random bytes.
    """
    draws = Draws(stream.read)
    arm = draw_arm(survey, draws) if survey.arms else 0
    name = survey.arms[arm].name if survey.arms else ""
    of_arm = len(stream.tape)
    return AskedSample(draw_asked(survey, draws, arm), stream.tape, name, of_arm)
