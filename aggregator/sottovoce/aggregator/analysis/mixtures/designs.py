"""Designs whose reports are a mixture of latent classes of people, with a known channel in each group.

Reports     P(r | group g) = sum_c w_c K_g(r | c). w_c is the share of class c, the same in all groups, because people
            are in a group by chance; K_g follows from the group's p.
Classes     unrelated_unknown: the four pairs of true answers to both questions; only pi and q are identified.
            cheater_detection: carriers, honest noncarriers (beta), and people who always say no (gamma).
            lie_detector: truthful carriers, lying carriers, noncarriers. mangat, kuk: noncarriers, carriers.
Shares      A share s is fixed by mixing two segments between classes: (1 - s) "zero" + s "one". So pi, q, beta, gamma
            and t are all limits of a two-dimensional likelihood, and none needs a formula of its own.
Source      Greenberg et al. 1969; Clark and Desharnais 1998; Ostapczuk et al. 2009 (symmetric); Moshagen et al. 2012
            (lie detector); Mangat 1994; Kuk 1990.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sottovoce.shared.errors import Sentence
from sottovoce.shared.rational import show_epsilon

P = tuple[float, ...]
ChannelRows = tuple[tuple[float, ...], ...]
Found = dict[str, float]


@dataclass(frozen=True)
class MixtureShare:
    """A share of people: 0 on the segment between two classes, and 1 on the one between two others."""

    name: str
    label: str
    zero: tuple[int, int]
    one: tuple[int, int]

    @property
    def ends(self) -> tuple[list[int], list[int]]:
        """Classes at the end of 1 alone, and at the end of 0 alone: their part in both together is the share."""
        return [*({*self.one} - {*self.zero})], [*({*self.zero} - {*self.one})]


@dataclass(frozen=True)
class MixtureDesign:
    """A design as a mixture.

    Attributes:
        shares: shares to estimate.
        origin, solved: class and classes whose mean reports give the closed form, as many as unknown shares.
        mean: P(yes) of each class in a group with this p; of several draws, the chance of a red card.
        numbers: how many numbers the p of a group has.
        edges: sets of classes without people at an edge of the region of mean reports; None for each class by itself.
        same: why groups with equal p do not identify the shares.
        privacy: sentences on epsilon, from the p of all groups and the estimated shares.
        disobedience: sentences on a self-protective no.
    """

    shares: tuple[MixtureShare, ...]
    origin: int
    solved: tuple[int, ...]
    mean: Callable[[P], tuple[float, ...]]
    privacy: Callable[[Sequence[P], Found, int], Iterator[str]]
    disobedience: str
    numbers: int = 1
    same: str = "both groups have the same p ({p}), so reports cannot tell the shares apart: choose different ones"
    edges: tuple[tuple[int, ...], ...] | None = None

    def not_identified(self, groups: Sequence[P]) -> Sentence:
        """Return why these groups do not identify the shares."""
        return Sentence(SAME_OF_ALL if self.numbers == 1 and len(groups) > 2 else self.same, p=f"{groups[0][0]:.6g}")

    def channel(self, p: P, draws: int) -> ChannelRows:
        """Return P(report | class), one row for each class, reports 0 .. ``draws``."""
        return tuple(
            tuple(math.comb(draws, red) * chance**red * (1 - chance) ** (draws - red) for red in range(draws + 1))
            for chance in self.mean(p)
        )


def _log(*ratios: float) -> str:
    return show_epsilon(math.log(max(ratios))) if math.isfinite(max(ratios)) else "∞"


def _ratio(one: float, other: float) -> float:
    return one / other if other > 0 else math.inf


def _unrelated(groups: Sequence[P], found: Found, draws: int) -> Iterator[str]:  # noqa: ARG001
    q = found["q"]
    yes = [_ratio(p + (1 - p) * q, (1 - p) * q) for (p,) in groups]
    no = [_ratio(1 - (1 - p) * q, (1 - p) * (1 - q)) for (p,) in groups]
    yield "Epsilon is infinite for a reader who knows a person's answer to the unrelated question"
    yield Sentence(
        "For other readers epsilon rests on the share q of yes to it; the estimated q would give {epsilon} in "
        "the worse group, which is an estimate and no guarantee",
        epsilon=_log(*yes, *no),
    )


def _one_sided(*ratios: float) -> str:
    return Sentence(
        "Epsilon is one-sided: a yes costs at most {epsilon} in the worse group; a no is impossible for "
        "carriers who do as instructed, so epsilon as usually defined is infinite",
        epsilon=_log(*ratios),
    )


def _cheaters(groups: Sequence[P], found: Found, draws: int) -> Iterator[str]:  # noqa: ARG001
    yield _one_sided(*(1 / p for (p,) in groups))


def _symmetric(groups: Sequence[P], found: Found, draws: int) -> Iterator[str]:  # noqa: ARG001
    worst = _log(*(max(_ratio(1 - b, a), _ratio(1 - a, b)) for a, b in groups))
    yield Sentence("Epsilon of people who do as instructed is {epsilon}, in the worse group", epsilon=worst)


def _liars(groups: Sequence[P], found: Found, draws: int) -> Iterator[str]:  # noqa: ARG001
    yield _one_sided(*(1 / (1 - p) for (p,) in groups))
    lying = 1 - found.get("t", 1.0)
    if lying > 0:
        worst = _log(*(max(p / lying, lying / p) for (p,) in groups))
        lie = "If {share}% of carriers lie, as estimated, a no costs {epsilon}: that is by behaviour and no guarantee"
        yield Sentence(lie, share=f"{100 * lying:.1f}", epsilon=worst)


def _kuk(groups: Sequence[P], found: Found, draws: int) -> Iterator[str]:  # noqa: ARG001
    [(one, other)] = groups
    worst = draws * max(abs(math.log(one / other)), abs(math.log((1 - one) / (1 - other))))
    yield Sentence("Epsilon of a person's draws ({draws}) is {epsilon}", draws=draws, epsilon=show_epsilon(worst))


_CARRIERS = (MixtureShare("pi", "carriers", (0, 0), (1, 1)),)
CHEATING = (
    MixtureShare("pi", "carriers who do as instructed", (1, 2), (0, 0)),
    MixtureShare("beta", "noncarriers who do as instructed", (0, 2), (1, 1)),
    MixtureShare("gamma", "people who always say no", (0, 1), (2, 2)),
)
_TWO_QUESTIONS = (
    MixtureShare("pi", "yes to the sensitive question", (0, 1), (2, 3)),
    MixtureShare("q", "yes to the unrelated question", (0, 2), (1, 3)),
)
_LYING = (
    MixtureShare("pi", "carriers", (2, 2), (0, 1)),
    MixtureShare("t", "truthful ones among carriers", (1, 2), (0, 2)),
)
_NO = "If a share c of people always says no, pi "
_GAMMA = (
    "People who say no to protect themselves are in gamma, carriers or not: carriers are at least pi and at most "
    "pi + gamma"
)
SAME_OF_ALL = "all groups have the same p ({p}), so reports cannot tell the shares apart: choose different ones"
SYMMETRIC, KUK = "cheater_detection_symmetric", "kuk"
DESIGNS = {
    "unrelated_unknown": MixtureDesign(
        _TWO_QUESTIONS, 0, (2, 1), lambda p: (0.0, 1 - p[0], p[0], 1.0), _unrelated,
        f"{_NO}and q are both too low by the factor 1 - c, and nothing in the fit shows it",
        edges=((0, 1), (0, 2), (1, 3), (2, 3)),
    ),
    "cheater_detection": MixtureDesign(CHEATING, 2, (0, 1), lambda p: (1.0, p[0], 0.0), _cheaters, _GAMMA),
    SYMMETRIC: MixtureDesign(
        CHEATING, 2, (0, 1), lambda p: (1 - p[1], p[0], 0.0), _symmetric, _GAMMA, 2,
        "the groups have the same ratio of a to 1 - b, so reports cannot tell the shares apart: choose different ones",
    ),
    "lie_detector": MixtureDesign(
        _LYING, 1, (0, 2), lambda p: (1.0, 0.0, 1 - p[0]), _liars,
        "Carriers who say no to protect themselves are in 1 - t; a share c of noncarriers who do so makes pi too high, "
        "1 - (1 - pi)(1 - c)",
    ),
    "mangat": MixtureDesign(
        _CARRIERS, 0, (1,), lambda p: (1 - p[0], 1.0), _liars, f"{_NO}is too low: (1 - c) pi - c (1 - p) / p",
    ),
    KUK: MixtureDesign(
        _CARRIERS, 0, (1,), lambda p: (p[1], p[0]), _kuk,
        "People who say 0 to protect themselves bias pi; they show as a misfit at 0 red cards", 2,
        "both decks have the same p ({p}), so reports cannot tell the shares apart: choose different ones",
    ),
}  # fmt: skip
