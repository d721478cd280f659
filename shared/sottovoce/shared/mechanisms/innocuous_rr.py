"""Designs in which a fact of the person's own hides the answer: the crosswise model and the unrelated question by hand.

The device draws nothing and sends what the person chooses. Randomness is the person's innocuous fact, true of a known
share p of the population and independent of the sensitive statement.

Channel
    crosswise            The person says whether both or neither of two statements are true, or exactly one is:
                         P(exactly one | true) = 1 - p, P(exactly one | not true) = p. The report 1 means "exactly one"
                         if p < 1/2 and "both or neither" if p > 1/2, so that a = max(p, 1 - p) = 1 - b.
    unrelated_question   One throw of a die selects the sensitive statement with probability t and
                         the innocuous one otherwise: a = t + (1 - t) p, b = (1 - t) p.
Epsilon
    Crosswise ln(max(p, 1 - p) / min(p, 1 - p)); unrelated question ln max(a/b, (1-b)/(1-a)). With a standard error s of
    the share, the largest of those at p, p - 2s and p + 2s. It holds as long as no one who sees the report knows the
    fact.
Estimator
    As in ``binary_rr``; the uncertainty of p adds s^2 (d pi / d p)^2 to the variance:
    crosswise d pi / d p = (2 pi - 1) / (1 - 2p), unrelated question d pi / d p = -(1 - t) / t.
Sources
    Yu, Tian and Tang 2008 (crosswise); Greenberg et al. 1969 (unrelated question). The triangular model of the former
    is not offered: its answer "neither" proves that the sensitive statement is not true.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sottovoce.shared.mechanisms.binary_rr import BinaryRR

CROSSWISE, UNRELATED = "crosswise", "unrelated_question"
PROCEDURES = (CROSSWISE, UNRELATED)
SAME, ONE = "crosswise_same", "crosswise_one"
"""Keys of the words for "both or neither is true" and "exactly one is true"."""


@dataclass(frozen=True)
class InnocuousRR(BinaryRR):
    """A yes/no channel that a fact of the person's own realizes.

    Attributes:
        procedure: ``crosswise`` or ``unrelated_question``.
        share: p, of the people of whom the innocuous statement is true.
        std_error: s, of that share; 0 if it is known exactly.
        truth: t, of an unrelated question; 1 in the crosswise model.
        label: the innocuous statement, by language.
        source: of the share, by language.
        fact: name of the fact that the statement is about; "" for none.
    """

    procedure: str
    share: Fraction
    std_error: Fraction = Fraction(0)
    truth: Fraction = Fraction(1)
    label: Mapping[str, str] = field(default_factory=dict, compare=False)
    source: Mapping[str, str] = field(default_factory=dict, compare=False)
    fact: str = field(default="", compare=False)

    @property
    def is_crosswise(self) -> bool:
        """Return True for the crosswise model."""
        return self.procedure == CROSSWISE

    @property
    def answers(self) -> tuple[str, str]:
        """Keys of the words for the values 0 and 1."""
        if not self.is_crosswise:
            return ("no", "yes")
        return (SAME, ONE) if self.share < Fraction(1, 2) else (ONE, SAME)

    @property
    def likelihood_ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one report, at the share and two standard errors away from it."""
        ends = (self.share + times * self.std_error for times in (-2, 0, 2))
        return max(BinaryRR(*channel(self.procedure, end, self.truth)).likelihood_ratio for end in ends)

    def explain(self) -> dict[str, int | Fraction]:
        """Return shares that choose "exactly one", or say yes: where the sensitive statement is true, and where not."""
        return {"yes": 1 - self.share, "no": self.share} if self.is_crosswise else super().explain()

    @property
    def known_as(self) -> str:
        """Textbook name of the design."""
        return "the crosswise model" if self.is_crosswise else "the unrelated question"

    def slope(self, estimate: float) -> float:
        """Return the derivative of the estimated share by the innocuous one, where the estimate is ``estimate``."""
        if self.is_crosswise:
            return (2 * estimate - 1) / float(1 - 2 * self.share)
        return -float((1 - self.truth) / self.truth)

    def dump_keys(self) -> dict[str, Any]:
        """Return the keys ``procedure`` and ``innocuous`` of the question's canonical document."""
        innocuous = {"label": self.label, "share": str(self.share), "source": self.source}
        innocuous |= {"se": str(self.std_error)} if self.std_error else {}
        innocuous |= {"fact": self.fact} if self.fact else {}
        innocuous |= {} if self.is_crosswise else {"truth": str(self.truth)}
        return {"procedure": self.procedure, "innocuous": innocuous}


def channel(procedure: str, share: Fraction, truth: Fraction) -> tuple[Fraction, Fraction]:
    """Return a and b of one of ``PROCEDURES``; of ``share`` of the people the innocuous statement is true.

    ``truth``: probability that the die selects the sensitive statement; not used by the crosswise model.
    """
    if procedure == CROSSWISE:
        return max(share, 1 - share), min(share, 1 - share)
    return truth + (1 - truth) * share, (1 - truth) * share
