"""Draw true values of simulated respondents with given shares and means."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.planning.vectorized_randomizers import Values
from sottovoce.shared.answers import Domain

Inventor = Callable[[int], Values]
"""Function from a number of respondents to their true values; each call continues the stream."""

TrueShares = NDArray[np.float64]

STEADINESS = 7.0
"""Concentration of numbers around their mean: the sum of the two parameters of the beta distribution."""


@dataclass(frozen=True)
class SetShares:
    """Shares or means that the researcher set for a question.

    Attributes:
        shares: share of each option, 0 to 1; they sum to 1 if respondents choose one option. Empty for a number.
        places: mean of a number, or of each coordinate, rescaled to 0 (smallest value) .. 1 (largest value).
    """

    shares: tuple[float, ...] = ()
    places: tuple[float, ...] = ()


def set_inventor(domain: Domain, truth: str, wanted: SetShares, generator: np.random.Generator) -> Inventor:
    """Return a sampler of true values of the kind ``truth`` with given shares or means, independently."""
    if truth == "options":
        return masks(domain, np.array(wanted.shares), generator)
    if truth == "number":
        return _around(domain, wanted.places, generator, lambda drawn: drawn[:, 0])
    if truth == "numbers":
        return _around(domain, wanted.places, generator, lambda drawn: drawn)
    return options(domain, np.array(wanted.shares), generator)


def options(domain: Domain, shares: TrueShares, generator: np.random.Generator) -> Inventor:
    """Return a sampler of one option per respondent; ``shares`` sum to 1."""
    return lambda count: generator.choice(domain.size, size=count, p=shares).astype(np.int64)


def masks(domain: Domain, shares: TrueShares, generator: np.random.Generator) -> Inventor:
    """Return a sampler of a set of options per respondent, as bit masks; options are independent.

    ``shares`` are probabilities to choose, before the limit on the number of choices.
    """

    def drawn(count: int) -> Values:
        choices = generator.random((count, domain.size)) < shares
        # Respondents with too many choices keep the first ones.
        choices &= choices.cumsum(axis=1) <= domain.max_choices
        found: Values = (choices.astype(np.int64) << np.arange(domain.size)).sum(axis=1)
        return found

    return drawn


def _around(
    domain: Domain, places: Sequence[float], generator: np.random.Generator, shape: Callable[[Any], Any]
) -> Inventor:
    """Return a sampler of beta-distributed numbers on the grid; a mean at an end of the range gives only that end."""

    def column(place: float, count: int) -> Any:  # noqa: ANN401 - an array of numbers
        if not 0 < place < 1:
            return np.full(count, place)
        return generator.beta(STEADINESS * place, STEADINESS * (1 - place), size=count)

    def drawn(count: int) -> Values:
        exact = np.column_stack([column(place, count) for place in places]) * domain.steps
        # Randomized rounding keeps the mean exact on a grid of any coarseness.
        found: Values = shape(np.floor(exact + generator.random(exact.shape)).astype(np.int64).clip(0, domain.steps))
        return found

    return drawn
