"""Choose the channel of a plan: from a question of a survey, or from the default mechanism for an epsilon."""

import math
from dataclasses import dataclass
from fractions import Fraction

from sottovoce.aggregator.planning.estimand import Measure
from sottovoce.aggregator.planning.question_channels import best_share, drawn_from, measure_of, over_epsilon
from sottovoce.shared.arms.arms import share_asked
from sottovoce.shared.spec import Question, Survey

EPSILONS = (0.5, math.log(2), 1.0, math.log(3), 1.5, 2.0, 3.0)
"""Epsilons of the points of the curve."""

SAME = 0.005
"""Distance in epsilon within which a point of the curve is left out in favour of the plan's own."""


@dataclass(frozen=True)
class ChosenChannel:
    """Channel of a plan: a question's, or of ``options`` options with the default mechanism for ``epsilon``."""

    question: Question | None
    epsilon: float
    options: int

    @property
    def measure(self) -> Measure:
        """Estimand of the plan, with this channel."""
        return best_share(self.epsilon, self.options) if self.question is None else measure_of(self.question)

    @property
    def spent(self) -> float | None:
        """Epsilon of the channel; None for a public question."""
        if self.question is None:
            return self.epsilon
        return None if self.question.mechanism is None else self.question.epsilon

    @property
    def others(self) -> list[tuple[float, Measure]]:
        """Estimand with the channels for other epsilons, as (epsilon, measure)."""
        epsilons = [epsilon for epsilon in EPSILONS if self.spent is None or abs(epsilon - self.spent) > SAME]
        if self.question is not None:
            return over_epsilon(self.question, epsilons)
        return [(epsilon, best_share(epsilon, self.options)) for epsilon in epsilons]


def asked_times(file: Survey | None, asked: Question | None, ask: tuple[int, int] | None) -> tuple[int, int]:
    """Return (M, Q): M of Q reports carry this question, or a given option or coordinate of it; ``ask`` overrides."""
    share = Fraction(1) if file is None or asked is None else share_asked(file, file.questions.index(asked))
    m, q = ask or (share.numerator, share.denominator)
    return m, q * (1 if asked is None else drawn_from(asked))
