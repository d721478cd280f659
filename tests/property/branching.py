"""
A stand-in for ``Draws`` that takes every branch: from it the exact law of the running randomizer follows.

``pick`` branches by outcome and ``below`` by value, each branch with its exact probability, so a denominator of 2^32
costs no more than one of 4. What it does not run, the rejection loop of ``Draws.below``, is tested on its own.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.shared.rational import MAX_DENOMINATOR

MAX_BRANCHES = 64


@dataclass(frozen=True)
class Path:
    """One way through a randomizer: what it reported, how likely the way is, and the bounds of what it read."""

    reported: int
    probability: Fraction
    bounds: tuple[int, ...]


class BranchingDraws:
    """Follows a script of choices, then always the first; remembers the choices there were."""

    def __init__(self, script: Sequence[int]) -> None:
        self.script = script
        self.taken: list[int] = []
        self.choices: list[int] = []
        self.bounds: list[int] = []
        self.probability = Fraction(1)

    def below(self, bound: int) -> int:
        """One branch for each value."""
        assert 1 <= bound <= MAX_BRANCHES, "too many values for a branch each"
        return self._branch([1] * bound)

    def pick(self, weights: Sequence[int]) -> int:
        """One branch for each index that has a weight."""
        assert all(type(weight) is int and weight >= 0 for weight in weights), "weights are whole numbers"
        assert 1 <= sum(weights) <= MAX_DENOMINATOR, "weights sum to 1 .. 2^32"
        return self._branch(weights)

    def _branch(self, weights: Sequence[int]) -> int:
        live = [index for index, weight in enumerate(weights) if weight]
        step = len(self.taken)
        choice = self.script[step] if step < len(self.script) else 0
        self.taken.append(choice)
        self.choices.append(len(live))
        if sum(weights) > 1:  # a bound of 1 reads no byte
            self.bounds.append(sum(weights))
        self.probability *= Fraction(weights[live[choice]], sum(weights))
        return live[choice]


def paths(run: Callable[[Any], int]) -> Iterator[Path]:
    """Every way through ``run(draws)``."""
    script: list[int] = []
    while True:
        draws = BranchingDraws(script)
        reported = run(draws)
        yield Path(reported, draws.probability, tuple(draws.bounds))
        script = draws.taken
        while script and script[-1] + 1 == draws.choices[len(script) - 1]:
            script.pop()
        if not script:
            return
        script[-1] += 1


def law(run: Callable[[Any], int]) -> dict[int, Fraction]:
    """The exact probability of each reported value."""
    result: dict[int, Fraction] = {}
    for path in paths(run):
        result[path.reported] = result.get(path.reported, Fraction(0)) + path.probability
    return result
