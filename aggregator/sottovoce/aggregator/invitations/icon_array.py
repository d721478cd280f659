"""A hundred people and what they send: the picture of a question's odds."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor

from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.spec import Question, Survey

_ROW = 20


@dataclass(frozen=True)
class IconArray:
    """
    One picture.

    Attributes:
        truth: ``yes`` or ``no``: what is true of these hundred.
        share: of them who send yes.
    """

    truth: str
    share: Fraction

    @property
    def filled(self) -> int:
        """How many dots are filled; 0 and 100 are never shown, since no channel is certain."""
        return min(99, max(1, floor(100 * self.share + Fraction(1, 2))))

    @property
    def is_exact(self) -> bool:
        """Whether that is the share itself."""
        return Fraction(self.filled, 100) == self.share


def pictures(question: Question) -> list[IconArray]:
    """Those with each true answer, for a question with yes and no alone; none for another one."""
    channel = question.mechanism
    if not isinstance(channel, BinaryRR) or question.kind.truth != "yes_no":
        return []
    return [IconArray("yes", channel.a), IconArray("no", channel.b)]


def least_protected(survey: Survey) -> Question | None:
    """The private question whose answer costs most, the first of several; None if all are public."""
    private = [survey.questions[index] for index in survey.private]
    return max(private, key=lambda question: question.epsilon, default=None)


def dots(filled: int) -> str:
    """The drawing, without words: it stands beside a sentence that says the same."""
    circles = "".join(_dot(index, index < filled) for index in range(100))
    return f'<svg class="people" viewBox="0 0 200 50" aria-hidden="true" focusable="false">{circles}</svg>'


def _dot(index: int, is_full: bool) -> str:
    row, column = divmod(index, _ROW)
    return f'<circle class="{"full" if is_full else "off"}" cx="{10 * column + 5}" cy="{10 * row + 5}" r="3.6"/>'
