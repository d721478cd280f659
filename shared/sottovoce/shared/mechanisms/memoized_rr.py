"""Memoized randomized response: a yes/no answer in several waves, through one draw that the device remembers.

Channel
    In the first wave the device draws, for each of the two possible truths, a permanent answer through the permanent
    layer (A, B), and keeps both: what is kept is the same whatever the truth. In each wave it reports the permanent
    answer of that wave's truth through the instantaneous layer (s, t), drawn anew. One report is binary randomized
    response with a = t + (s - t) A and b = t + (s - t) B.
Epsilon
    ln of the worst ratio P(reports | truths) / P(reports | other truths) over all reports of all waves and all pairs of
    trajectories of the truth. A trajectory with i yes and j no reported while the truth was yes has the probability
    g_yes(i, j) g_no(n_1 - i, n_0 - j), g_x(i, j) = sum over kept answers m of P(m | x) P(1 | m)^i P(0 | m)^j: so counts
    are all that matters, and w waves need some w^3 / 6 exact products. Two coins: .511, 1.022, 1.358, 1.982 for 1 to 4
    waves; it grows without bound, since truths that change show in reports that change. (Where a change of the truth
    draws a new permanent answer each time, instead of going back to the one kept, it is .511, 1.022, 1.532, 2.043.)
    It may grow by more than one report's loss a wave, much more where the instantaneous layer is weak; so all of it is
    charged at once, when the permanent answers are drawn.
Estimator
    p = (x/n - b) / (a - b), wave by wave.
Variance
    lambda (1 - lambda) / (n (a - b)^2) within one wave; reports of one person in two waves are not independent.
Sources
    Erlingsson, Pihur and Korolova 2014 (RAPPOR: permanent and instantaneous response); Warner 1965.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, ClassVar, NoReturn

from sottovoce.shared.answers import Domain
from sottovoce.shared.errors import Sentence, error_message
from sottovoce.shared.mechanisms.base import MECHANISM, Mechanism, Parameter, exact_fields, integer_field, whole
from sottovoce.shared.mechanisms.binary_rr import BinaryRR

MAX_WAVES = 52
"""A year of weeks; beyond that no layers are left that tell anything."""


@dataclass(frozen=True)
class MemoizedRR(Mechanism):
    """A channel for 2 .. 52 waves: ``permanent`` from truth to kept answer, ``instantaneous`` from that to a report."""

    name: ClassVar[str] = "memoized_rr"
    serves: ClassVar[str] = "yes_no"
    report_kind: ClassVar[str] = "waves"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "permanent": MECHANISM,
        "instantaneous": MECHANISM,
        "waves": whole(2, MAX_WAVES),
    }

    permanent: BinaryRR
    instantaneous: BinaryRR
    waves: int

    @classmethod
    def parse(cls, fields: Mapping[str, Any], domain: Domain) -> "MemoizedRR":
        """Parse ``{name: memoized_rr, permanent: {name: coin_flip}, instantaneous: {...}, waves: 4}``."""
        exact_fields(fields, cls.parameters)
        permanent, instantaneous = (_layer(fields, key, domain) for key in ("permanent", "instantaneous"))
        return cls(permanent, instantaneous, integer_field(fields, "waves", 2, MAX_WAVES))

    @classmethod
    def for_epsilon(cls, epsilon: Fraction, domain: Domain) -> NoReturn:  # noqa: ARG003 - the same for all
        """Refuse: how much is remembered and how much drawn anew is the author's choice."""
        raise ValueError("this mechanism needs its two layers and the number of waves, not an epsilon")

    def dump(self) -> dict[str, Any]:
        """Return the canonical parameters, with both layers written out."""
        layers = {"permanent": self.permanent.dump(), "instantaneous": self.instantaneous.dump()}
        return {"name": self.name, **layers, "waves": self.waves}

    @property
    def largest(self) -> int:
        """The largest reported value: 1, for yes."""
        return 1

    @cached_property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(report yes | yes) and P(report yes | no) in one wave."""
        s, t = self.instantaneous.support
        a, b = (t + (s - t) * share for share in self.permanent.support)
        return a, b

    def probability(self, reported: int, value: int) -> Fraction:
        """Return the probability of the report of one wave."""
        yes = self.support[1 - value]
        return yes if reported else 1 - yes

    @cached_property
    def likelihood_ratio(self) -> Fraction:
        """The worst ratio over all waves together: the worst trajectories of the truth."""
        run = cache(self._run)
        return max(self._worst(yes, run) for yes in range(self.waves + 1))

    def explain(self) -> dict[str, int | Fraction]:
        """Return shares that report yes in one wave, by truth (yes, no), and how many waves epsilon covers."""
        a, b = self.support
        return {"yes": a, "no": b, "waves": self.waves}

    def _worst(self, yes: int, run: Callable[[int, int, int], int]) -> Fraction:
        """Return the worst ratio for reports with so many yes."""
        no = self.waves - yes
        likely = [run(1, i, j) * run(0, yes - i, no - j) for i in range(yes + 1) for j in range(no + 1)]
        return Fraction(max(likely), min(likely))

    def _run(self, truth: int, yes: int, no: int) -> int:
        """Return P(so many yes and no in a given order | this truth in all), times a number that depends on w only."""
        layers = zip(self.permanent.weights(truth), map(self.instantaneous.weights, (0, 1)), strict=True)
        return sum(weight * zero**no * one**yes for weight, (zero, one) in layers)


def _layer(fields: Mapping[str, Any], key: str, domain: Domain) -> BinaryRR:
    layer = fields[key]
    try:
        return BinaryRR.parse(layer, domain)
    except (LookupError, TypeError):
        message = "must be a map that names a yes/no mechanism"
        raise ValueError(Sentence("{parameter} {reason}", parameter=key, reason=message)) from None
    except ValueError as error:
        raise ValueError(Sentence("{field}: {reason}", field=key, reason=error_message(error))) from None
