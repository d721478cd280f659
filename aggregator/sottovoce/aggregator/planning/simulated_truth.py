"""How true values of invented respondents are drawn, once their shares and means are known."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.planning.vectorized_randomizers import Values
from sottovoce.shared.answers import Domain

Inventor = Callable[[int], Values]
"""True values of the next so many respondents."""

Shares = NDArray[np.float64]

STEADINESS = 7.0
"""How closely numbers lie around their mean: the sum of a beta distribution's two parameters."""


@dataclass(frozen=True)
class SetShares:
    """
    What was set for one question.

    Attributes:
        shares: of each option, 0 to 1; of one option of several they sum to 1. None of a number.
        places: where the mean of a number, or of each coordinate, lies from the least value (0) to the largest (1).
    """

    shares: tuple[float, ...] = ()
    places: tuple[float, ...] = ()


def set_inventor(domain: Domain, truth: str, wanted: SetShares, generator: np.random.Generator) -> Inventor:
    """
    Draws true values with the shares that were set, each respondent apart from the others.

    Args:
        domain: of the question.
        truth: the kind of its true values.
        wanted: its shares or means.
        generator: of chance.
    """
    if truth == "options":
        return masks(domain, np.array(wanted.shares), generator)
    if truth == "number":
        return _around(domain, wanted.places, generator, lambda drawn: drawn[:, 0])
    if truth == "numbers":
        return _around(domain, wanted.places, generator, lambda drawn: drawn)
    return options(domain, np.array(wanted.shares), generator)


def options(domain: Domain, shares: Shares, generator: np.random.Generator) -> Inventor:
    """
    One option each.

    Args:
        domain: of the question.
        shares: of the options, summing to 1.
        generator: of chance.
    """
    return lambda count: generator.choice(domain.size, size=count, p=shares).astype(np.int64)


def masks(domain: Domain, shares: Shares, generator: np.random.Generator) -> Inventor:
    """
    A set of options each, every option by itself.

    Args:
        domain: of the question.
        shares: of those who would choose each option.
        generator: of chance.
    """

    def drawn(count: int) -> Values:
        chosen = generator.random((count, domain.size)) < shares
        # Whoever chose too many keeps the first ones.
        chosen &= chosen.cumsum(axis=1) <= domain.max_choices
        found: Values = (chosen.astype(np.int64) << np.arange(domain.size)).sum(axis=1)
        return found

    return drawn


def _around(
    domain: Domain, places: Sequence[float], generator: np.random.Generator, shape: Callable[[Any], Any]
) -> Inventor:
    """Numbers around their means, on the grid; a mean at the end of the range leaves nothing but that end."""

    def column(place: float, count: int) -> Any:  # noqa: ANN401 - an array of numbers
        if not 0 < place < 1:
            return np.full(count, place)
        return generator.beta(STEADINESS * place, STEADINESS * (1 - place), size=count)

    def drawn(count: int) -> Values:
        exact = np.column_stack([column(place, count) for place in places]) * domain.steps
        # Rounded by chance, so that the mean stays what was set however coarse the grid is.
        found: Values = shape(np.floor(exact + generator.random(exact.shape)).astype(np.int64).clip(0, domain.steps))
        return found

    return drawn
