"""Binary randomized response: a yes/no answer through a 2 x 2 channel.

Channel
    P(report yes | yes) = a,  P(report yes | no) = b,  with 0 < b < a < 1; both with the denominator
    den = lcm(den a, den b). Some ways of choosing a and b have names of their own, the presets:
      coin_flip            toss a coin: heads, tell the truth; tails, toss again and report that: a = 3/4, b = 1/4.
      warner               with probability t answer the question, otherwise its opposite: a = t, b = 1 - t, t > 1/2.
      forced_response      with probability t the truth, otherwise a "yes" or a "no" whatever the truth:
                           a = t + yes, b = yes, t + yes + no = 1.
      unrelated_question   with probability t answer the question, otherwise an innocuous one that a known share
                           answers "yes": a = t + (1 - t) share, b = (1 - t) share.
      crosswise            say only whether the answer equals that to an innocuous question of known share:
                           P(equal | yes) = share, P(equal | no) = 1 - share. The report 1 means "equal" if
                           share > 1/2 and "different" if share < 1/2, so that a = max(share, 1 - share) = 1 - b.
Epsilon
    ln max(a/b, (1-b)/(1-a)); coin flip ln 3, Warner with t = 2/3 ln 2. Both sides count: forced response with
    a = 11/12, b = 1/6 pays ln 10 on its "no" side, not ln 5.5.
Estimator
    lambda = b + (a - b) p is the share of reported yes, so p = (x/n - b) / (a - b).
    Coin flip: P_A = 2 P_B - 1/2. Warner 2/3: p = 3 E[Y] - 1.
Variance
    lambda (1 - lambda) / (n (a - b)^2) for an i.i.d. sample.
Sources
    Warner 1965 (the opposite question); Greenberg et al. 1969 (the unrelated question); Boruch 1971 (forced
    response); Yu, Tian and Tang 2008 (crosswise); Dwork and Roth 2014, section 3.2 (the coin flip).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

from sottovoce.shared import rational
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.base import FRACTION, Parameter, Table, exact_fields, fraction_field


@dataclass(frozen=True)
class BinaryRR(Table):
    """A yes/no channel with P(yes | yes) = a and P(yes | no) = b, 0 < b < a < 1."""

    name: ClassVar[str] = "binary_rr"
    serves: ClassVar[str] = "yes_no"
    report_kind: ClassVar[str] = "yes_no"
    parameters: ClassVar[Mapping[str, Parameter]] = {"a": FRACTION, "b": FRACTION}
    presets: ClassVar[Mapping[str, Mapping[str, Parameter]]] = {
        "coin_flip": {},
        "warner": {"truth": FRACTION},
        "forced_response": {"truth": FRACTION, "yes": FRACTION, "no": FRACTION},
        "unrelated_question": {"truth": FRACTION, "share": FRACTION},
        "crosswise": {"share": FRACTION},
    }

    a: Fraction
    b: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.b < self.a < 1:
            raise ValueError("a and b must satisfy 0 < b < a < 1")
        if self.denominator > rational.MAX_DENOMINATOR:
            raise ValueError("the common denominator of a and b must not exceed 2^32")

    @classmethod
    def parse(cls, fields: Mapping[str, Any], domain: Domain) -> Self:
        """Parse ``{name: binary_rr, a: "3/4", b: "1/4"}``, or one of its presets."""
        if domain.size != 2:
            raise ValueError("this mechanism serves questions with two answers")
        channel = _CHANNELS[fields["name"]]
        exact_fields(fields, cls.presets.get(fields["name"], cls.parameters))
        return cls(*channel(fields))

    @classmethod
    def explicit(cls, fields: Mapping[str, Any]) -> Self:
        """Return the channel that another mechanism's fields ``a`` and ``b`` describe."""
        exact_fields(fields, BinaryRR.parameters)
        return cls(*_explicit(fields))

    @classmethod
    def for_epsilon(cls, epsilon: Fraction, domain: Domain) -> Self:  # noqa: ARG003 - the same for every domain
        """Choose the symmetric channel, a = 1 - b, with the greatest a of denominator 2^32."""
        bound = rational.exp_below(epsilon)
        a = Fraction(math.floor(rational.MAX_DENOMINATOR * bound / (1 + bound)), rational.MAX_DENOMINATOR)
        return cls(a, 1 - a)

    def dump(self) -> dict[str, Any]:
        """Return the parameters, always written with a and b; the presets are shorthand for authors."""
        return {"name": self.name, "a": str(self.a), "b": str(self.b)}

    @property
    def known_as(self) -> str:
        """The name of the two that everybody knows; other channels have several readings, and no one name."""
        if (self.a, self.b) == _coin_flip({}):
            return "the coin flip"
        return f"Warner's design, truth {self.a!s}" if self.a + self.b == 1 else ""

    @property
    def denominator(self) -> int:
        """The sum of each row of weights."""
        return math.lcm(self.a.denominator, self.b.denominator)

    def weights(self, value: int) -> tuple[int, ...]:
        """Return (no, yes) weights when the truth is ``value``: 0 for no, 1 for yes."""
        return self._rows[value]

    @cached_property
    def _rows(self) -> tuple[tuple[int, int], tuple[int, int]]:
        no, yes = int(self.b * self.denominator), int(self.a * self.denominator)
        return (self.denominator - no, no), (self.denominator - yes, yes)

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(report yes | yes) and P(report yes | no)."""
        return self.a, self.b

    @property
    def likelihood_ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one report: max(a/b, (1-b)/(1-a))."""
        return max(self.a / self.b, (1 - self.b) / (1 - self.a))

    def explain(self) -> dict[str, int | Fraction]:
        """Return the shares that report yes, among people whose truth is yes and among those whose truth is no."""
        return {"yes": self.a, "no": self.b}


def _explicit(fields: Mapping[str, Any]) -> tuple[Fraction, Fraction]:
    return fraction_field(fields, "a"), fraction_field(fields, "b")


def _coin_flip(_fields: Mapping[str, Any]) -> tuple[Fraction, Fraction]:
    return Fraction(3, 4), Fraction(1, 4)


def _warner(fields: Mapping[str, Any]) -> tuple[Fraction, Fraction]:
    truth = fraction_field(fields, "truth")
    if not Fraction(1, 2) < truth < 1:
        raise ValueError("truth must lie between 1/2 and 1")
    return truth, 1 - truth


def _forced_response(fields: Mapping[str, Any]) -> tuple[Fraction, Fraction]:
    truth, yes, no = (fraction_field(fields, name) for name in ("truth", "yes", "no"))
    if truth + yes + no != 1:
        raise ValueError("truth, yes and no must sum to 1")
    return truth + yes, yes


def _unrelated_question(fields: Mapping[str, Any]) -> tuple[Fraction, Fraction]:
    truth, share = fraction_field(fields, "truth"), fraction_field(fields, "share")
    if not (0 < truth < 1 and 0 < share < 1):
        raise ValueError("truth and share must lie between 0 and 1")
    return truth + (1 - truth) * share, (1 - truth) * share


def _crosswise(fields: Mapping[str, Any]) -> tuple[Fraction, Fraction]:
    share = fraction_field(fields, "share")
    if not 0 < share < 1 or share == Fraction(1, 2):
        raise ValueError("share must lie between 0 and 1 and not be 1/2")
    return max(share, 1 - share), min(share, 1 - share)


_CHANNELS: dict[str, Callable[[Mapping[str, Any]], tuple[Fraction, Fraction]]] = {
    "binary_rr": _explicit,
    "coin_flip": _coin_flip,
    "warner": _warner,
    "forced_response": _forced_response,
    "unrelated_question": _unrelated_question,
    "crosswise": _crosswise,
}
