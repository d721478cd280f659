"""Take every branch of a randomizer, in the place of ``Draws``: its exact distribution follows.

``pick`` branches by outcome and ``below`` by value, each branch with its exact probability, so a denominator of 2^32
costs no more than one of 4. What it does not run, the rejection loop of ``Draws.below``, is tested on its own.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from sottovoce.shared.rational import MAX_DENOMINATOR

MAX_BRANCHES = 4096
"""Most outcomes of one draw."""

MAX_DRAWS = 4096
"""Most draws on one way: a client that draws until something comes would else draw for ever."""

_DRAWS = 8
_NO_WEIGHTS = "weights are whole numbers of at least 0"

Distribution = dict[Any, Fraction]
"""The exact probability of each reported value, or of another outcome of the draws."""


class TooManyPaths(Exception):
    """There are more ways through the randomizer than may be tried."""


class BranchingDraws:
    """Draws that follow a script of choices, then always take the first, and remember the choices there were.

    Attributes:
        script: for each draw the index of the choice to take; ``taken`` are those so far.
        choices: number of choices at each draw.
        bounds: of the draws, where they read something.
        part: ``part / whole`` is the probability of the way so far, not in lowest terms.
    """

    def __init__(self, script: Sequence[int]) -> None:
        self.script = script
        self.taken: list[int] = []
        self.choices: list[int] = []
        self.bounds: list[int] = []
        self.part = self.whole = 1

    def below(self, bound: int) -> int:
        """Take one branch for each value."""
        if type(bound) is not int or bound < 1:
            raise ValueError("a draw needs a bound of at least 1")
        if bound > MAX_BRANCHES:
            raise TooManyPaths
        return self._branch(bound, None, range(bound))

    def pick(self, weights: Sequence[int]) -> int:
        """Take one branch for each index that has a weight."""
        if set(map(type, weights)) != {int}:
            raise ValueError(_NO_WEIGHTS)
        return self._branch(*_weighed(tuple(weights)))

    def _branch(self, bound: int, weights: Sequence[int] | None, live: Sequence[int]) -> int:
        index = self._choose(live)
        if bound > 1:  # a bound of 1 reads no byte
            self.bounds.append(bound)
        if weights is not None:
            self.part *= weights[index]
        self.whole *= bound
        return index

    def _choose(self, live: Sequence[int]) -> int:
        step = len(self.taken)
        if step == MAX_DRAWS:
            raise TooManyPaths
        choice = self.script[step] if step < len(self.script) else 0
        self.taken.append(choice)
        self.choices.append(len(live))
        return live[choice]


# The same few rows of weights are drawn from again and again.
@lru_cache(maxsize=1024)
def _weighed(weights: tuple[int, ...]) -> tuple[int, tuple[int, ...], Sequence[int]]:
    """Return the sum of weights, the weights, and the indices that have one."""
    if min(weights) < 0:
        raise ValueError(_NO_WEIGHTS)
    if not 1 <= sum(weights) <= MAX_DENOMINATOR:
        raise ValueError("weights sum to 1 .. 2^32")
    if len(weights) > MAX_BRANCHES:
        raise TooManyPaths
    return sum(weights), weights, tuple(index for index, weight in enumerate(weights) if weight)


def following(run: Callable[[Any], Any], most: int | None = None) -> Iterator[tuple[BranchingDraws, Any]]:
    """Yield the draws of every way through ``run(draws)``, and its outcome.

    Raises TooManyPaths if there are more than ``most`` ways, or they have more than eight draws each, or one of them
    more than ``MAX_DRAWS``, or one draw has more than ``MAX_BRANCHES`` outcomes.
    """
    script: list[int] = []
    count = drawn = 0
    while True:
        count += 1
        if most is not None and (count > most or drawn > most * _DRAWS):
            raise TooManyPaths
        draws = BranchingDraws(script)
        reported = run(draws)
        drawn += len(draws.taken)
        yield draws, reported
        script = next_script(draws.taken, draws.choices)
        if not script:
            return


def next_script(taken: Sequence[int], choices: Sequence[int]) -> list[int]:
    """Return the branches of the next way in order, the last choice first; empty after the last way."""
    script = list(taken)
    while script and script[-1] + 1 == choices[len(script) - 1]:
        script.pop()
    return [*script[:-1], script[-1] + 1] if script else []
