"""The closed list of mechanisms. Adding one is a line here and in each of its three twins' registries."""

from collections.abc import Callable
from fractions import Fraction

from sottovoce.shared import rational
from sottovoce.shared.answers import MAX_MASK_OPTIONS, Domain
from sottovoce.shared.mechanisms.base import Mechanism, Table
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.bitwise_rr import BitwiseRR
from sottovoce.shared.mechanisms.geometric import Geometric
from sottovoce.shared.mechanisms.hadamard_response import HadamardResponse
from sottovoce.shared.mechanisms.kary_rr import KaryRR
from sottovoce.shared.mechanisms.level_table import LevelTable
from sottovoce.shared.mechanisms.memoized_rr import MemoizedRR
from sottovoce.shared.mechanisms.optimal_unary import OptimalUnary
from sottovoce.shared.mechanisms.rounding_rr import RoundingRR
from sottovoce.shared.mechanisms.sampled_coordinate import SampledCoordinate
from sottovoce.shared.mechanisms.sampled_option import SampledOption
from sottovoce.shared.mechanisms.square_wave import SquareWave
from sottovoce.shared.mechanisms.subset_selection import SubsetSelection

MECHANISMS: dict[str, type[Mechanism]] = {
    "binary_rr": BinaryRR,
    "kary_rr": KaryRR,
    "memoized_rr": MemoizedRR,
    "subset_selection": SubsetSelection,
    "hadamard_response": HadamardResponse,
    "optimal_unary": OptimalUnary,
    "sampled_option": SampledOption,
    "bitwise_rr": BitwiseRR,
    "rounding_rr": RoundingRR,
    "level_table": LevelTable,
    "square_wave": SquareWave,
    "geometric": Geometric,
    "sampled_coordinate": SampledCoordinate,
}
"""Every mechanism by the name that the canonical survey carries."""

PRESETS: dict[str, str] = {preset: name for name, made in MECHANISMS.items() for preset in made.presets}
"""Names for authors: each is a choice of parameters of one mechanism, and publishing expands it."""

ALIASES = tuple(
    preset for made in MECHANISMS.values() for preset, keys in made.presets.items() if keys == made.parameters
)
"""Presets that are a second name of a mechanism, with its parameters; a survey may give an epsilon with them too."""

MIN_EPSILON, MAX_EPSILON = Fraction(1, 100), Fraction(10)
"""What an author may ask for; below and above, 32 bits of weight no longer come near it."""


def for_epsilon(epsilon: Fraction, domain: Domain, kind: str, name: str = "") -> Mechanism:
    """Return the mechanism with the best integers that cost at most ``epsilon``, 0.01 .. 10, in one report.

    ``kind``, one of ``answers.TRUTHS``, chooses it, unless ``name`` does: one of ``ALIASES``, or "" for the best one.
    Raises ValueError if epsilon is out of range, or there are no such integers.
    """
    if not MIN_EPSILON <= epsilon <= MAX_EPSILON:
        raise ValueError("epsilon must lie between 0.01 and 10")
    mechanism_class = MECHANISMS[PRESETS.get(name, name)] if name else DEFAULTS[kind](epsilon, domain)
    mechanism = mechanism_class.for_epsilon(epsilon, domain)
    if mechanism.likelihood_ratio > rational.exp_below(epsilon):
        raise AssertionError("a mechanism costs more than was asked for")
    return mechanism


def _choice(epsilon: Fraction, domain: Domain) -> type[Mechanism]:
    """Choose subsets from k = e^epsilon + 3 on, where they pay; beyond the 52 options of a mask perhaps columns."""
    odds = rational.exp_below(epsilon)
    if domain.size <= MAX_MASK_OPTIONS:
        return KaryRR if domain.size <= odds + 3 else SubsetSelection
    # Variances of a rare option: (g + k - 2) / (g - 1)^2 against ((g + 1) / (g - 1))^2.
    return KaryRR if odds + domain.size - 2 <= (odds + 1) ** 2 else HadamardResponse


def _mean(epsilon: Fraction, _domain: Domain) -> type[Mechanism]:
    return RoundingRR if epsilon < Fraction("1.4") else LevelTable


DEFAULTS: dict[str, Callable[[Fraction, Domain], type[Mechanism]]] = {
    "yes_no": lambda *_: BinaryRR,
    "option": _choice,
    "options": lambda *_: SampledOption,
    "number": _mean,
    "numbers": lambda *_: SampledCoordinate,
}
"""``default(epsilon, domain) -> mechanism`` by the kind of true values."""

__all__ = ["ALIASES", "DEFAULTS", "MECHANISMS", "PRESETS", "Mechanism", "Table", "for_epsilon"]
