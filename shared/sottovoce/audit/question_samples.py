"""Draw what chance chooses in one vector of an audit before any answer: the arm, or the questions under ``ask``."""

from typing import NamedTuple, Protocol

from sottovoce.client.arm_draw import draw_arm
from sottovoce.client.draws import Draws
from sottovoce.client.question_sample import draw_asked
from sottovoce.shared.spec import Survey


class Stream(Protocol):
    """Repeatable bytes that remember what was read."""

    def read(self, count: int) -> bytes:
        """Return so many of the next bytes."""

    @property
    def tape(self) -> bytes:
        """Bytes read so far, in order."""


class AskedSample(NamedTuple):
    """Indices of what has values, the bytes drawn for it, and the name of the arm; "" without arms."""

    places: tuple[int, ...]
    tape: bytes
    arm: str


def draw_sample(survey: Survey, stream: Stream) -> AskedSample:
    """
    Draw what one respondent is asked, as the clients do.

    Args:
        survey: the survey.
        stream: the random bytes.
    """
    if not survey.arms:
        return AskedSample(draw_asked(survey, Draws(stream.read)), stream.tape, "")
    arm = draw_arm(survey, Draws(stream.read))
    return AskedSample(survey.places_by_arm[arm], stream.tape, survey.arms[arm].name)
