"""What a plan is of: a question of a survey, or what publishing would choose for an epsilon."""

import math
from dataclasses import dataclass

from sottovoce.aggregator.planning.estimand import Measure
from sottovoce.aggregator.planning.question_channels import best_share, drawn_from, measure_of, over_epsilon
from sottovoce.shared.spec import Question, Survey

EPSILONS = (0.5, math.log(2), 1.0, math.log(3), 1.5, 2.0, 3.0)
"""Where the curve is shown."""

SAME = 0.005
"""A point of the curve so near to the plan's own is not shown beside it."""


@dataclass(frozen=True)
class ChosenChannel:
    """
    The channel of a plan.

    Attributes:
        question: of a survey; None for one of ``options`` options through what publishing chooses for ``epsilon``.
        epsilon, options: without a question.
    """

    question: Question | None
    epsilon: float
    options: int

    @property
    def measure(self) -> Measure:
        """What is estimated, through this channel."""
        return best_share(self.epsilon, self.options) if self.question is None else measure_of(self.question)

    @property
    def spent(self) -> float | None:
        """Epsilon of the channel; None for a public question."""
        if self.question is None:
            return self.epsilon
        return None if self.question.mechanism is None else self.question.epsilon

    @property
    def others(self) -> list[tuple[float, Measure]]:
        """The measure through what there would be at other epsilons."""
        epsilons = [epsilon for epsilon in EPSILONS if self.spent is None or abs(epsilon - self.spent) > SAME]
        if self.question is not None:
            return over_epsilon(self.question, epsilons)
        return [(epsilon, best_share(epsilon, self.options)) for epsilon in epsilons]


def asked_times(file: Survey | None, asked: Question | None, ask: tuple[int, int] | None) -> tuple[int, int]:
    """
    M of Q: a report speaks of this question, or of one option or coordinate of it, M times in Q.

    Args:
        file: the survey, if there is one.
        asked: its question.
        ask: M and Q where they are given, in place of the survey's.
    """
    by_file = (1, 1)
    # Public questions are asked of everybody.
    if file is not None and file.ask is not None and asked is not None and asked.mechanism is not None:
        by_file = (file.ask, len(file.private))
    m, q = ask or by_file
    return m, q * (1 if asked is None else drawn_from(asked))
