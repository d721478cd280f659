"""Draw icon arrays: 100 dots that show how many people with a given true answer send "yes"."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor

from sottovoce.shared.spec import Question, Survey

_ROW = 20


@dataclass(frozen=True)
class IconArray:
    """Icon array for 100 people with one true answer, ``yes`` or ``no``, who send "yes" with probability ``share``."""

    truth: str
    share: Fraction

    @property
    def filled(self) -> int:
        """Number of filled dots, from 1 to 99: a rounded 0 or 100 would claim certainty that no channel has."""
        return min(99, max(1, floor(100 * self.share + Fraction(1, 2))))

    @property
    def is_exact(self) -> bool:
        """Return True if the number of filled dots is the exact share."""
        return Fraction(self.filled, 100) == self.share


def pictures(question: Question) -> list[IconArray]:
    """Return the icon arrays for both true answers of a yes/no question; empty for any other question."""
    channel = question.binary
    if channel is None or question.by_fact:
        return []
    return [IconArray("yes", channel.a), IconArray("no", channel.b)]


def least_protected(survey: Survey) -> Question | None:
    """Return the private question with the largest epsilon, the first of several; None if all are public."""
    private = [survey.questions[index] for index in survey.private]
    return max(private, key=lambda question: question.epsilon, default=None)


def dots(filled: int) -> str:
    """Draw the dots as SVG, hidden from screen readers because the caption says the same."""
    circles = "".join(_dot(index, index < filled) for index in range(100))
    return f'<svg class="people" viewBox="0 0 200 50" aria-hidden="true" focusable="false">{circles}</svg>'


def _dot(index: int, is_full: bool) -> str:
    row, column = divmod(index, _ROW)
    return f'<circle class="{"full" if is_full else "off"}" cx="{10 * column + 5}" cy="{10 * row + 5}" r="3.6"/>'
