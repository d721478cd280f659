"""Channel of a set of variables: a product, but for variables of one block, whose reports depend on each other.

Likelihood  Of several reported values the product over blocks of the chance w(m), m the pattern in which they match the
            true categories; any other variable has its own likelihood.
Pair        An unbiased score of the cell (i, j) is both z_i z_j + first z_i + second z_j + rest, z the scores of each
            variable alone: (1, 0, 0, 0) for variables that are reported apart, see ``block_channel`` for a block.
Identified  Variables of one block whose channel has a condition number above 1,000 are refused together.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from sottovoce.aggregator.estimators.blocks.block_channel import BlockChannel, BlockPlace, block_channel
from sottovoce.aggregator.estimators.variable import Floats, Reported, Truths, Variable
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.mechanisms.joint_rr import JointRR

NOT_IDENTIFIED = (
    "{variables} are reported together, and such reports do not tell how these answers go together; analyse fewer of "
    "them at once"
)

Four = tuple[float, float, float, float]
"""Figures of both matching, of the first only, of the second only and of neither."""


class PairScore(NamedTuple):
    """Coefficients of the score of a cell, see the module docstring."""

    both: float = 1.0
    first: float = 0.0
    second: float = 0.0
    rest: float = 0.0

    def of(self, one: Any, other: Any, sizes: tuple[int, int] = (1, 1)) -> Any:  # noqa: ANN401 - arrays or numbers
        """Return scores of pairs of answers.

        Args:
            one: score of a category of the first variable, or sum of the scores of several.
            other: likewise of the second variable.
            sizes: number of categories in each sum.
        """
        return (
            self.both * one * other
            + self.first * one * sizes[1]
            + self.second * sizes[0] * other
            + (self.rest * sizes[0] * sizes[1])
        )


class BlockPair(NamedTuple):
    """Chances and scores of a cell of two questions of a block."""

    chances: Four
    scores: Four


APART = PairScore()


def block_pair(first: Variable, second: Variable) -> BlockPair | None:
    """Return chances and scores of two variables; None if they are reported apart."""
    one, other = first.block, second.block
    return None if one is None or other is None or one[:2] != other[:2] else _block_pair(*_key([one, other]))


@lru_cache(maxsize=256)
def _block_pair(mechanism: JointRR, positions: tuple[int, int]) -> BlockPair:
    channel = block_channel(mechanism, positions)
    return BlockPair(_four(channel.chances), _four(channel.scores))


def pair_score(first: Variable, second: Variable) -> PairScore:
    """Return the coefficients of the score of a cell of two variables."""
    pair = block_pair(first, second)
    if pair is None or first.block is None or second.block is None:
        return APART
    (a, b), (a2, b2) = (each.mechanism.marginal(each.position) for each in (first.block, second.block))
    gap, low, gap2, low2 = float(a - b), float(b), float(a2 - b2), float(b2)
    both, only, other, none = pair.scores
    # z(s, s') = bend s s' + row s + column s' + none, with s = b + (a - b) z.
    bend, row, column = both - only - other + none, only - none, other - none
    return PairScore(
        bend * gap * gap2,
        gap * (bend * low2 + row),
        gap2 * (bend * low + column),
        bend * low * low2 + row * low + column * low2 + none,
    )


def joint_likelihood(variables: Sequence[Variable], reported: Sequence[Reported]) -> Floats:
    """Return c P(reported | truth) over the true categories of several variables, (u, k_1, .., k_r).

    ``reported`` has the reported values of each variable, (u,), all of them observed.
    """
    found: Floats = np.ones((len(reported[0]), *(1 for _ in variables)))
    for places in blocks_of(variables):
        shape = [len(found), *(len(each.categories) if at in places else 1 for at, each in enumerate(variables))]
        if len(places) == 1:
            own = variables[places[0]].likelihood(reported[places[0]])
        else:
            own = _by_matches(variables, reported, places, "chances")
        found = found * own.reshape(shape)
    return found


def _by_matches(variables: Sequence[Variable], reported: Sequence[Reported], places: Sequence[int], of: str) -> Floats:
    """Return the chance or the score of each combination of categories of one block's variables, (u, k_1, .., k_r)."""
    channel = channel_of([variables[place] for place in places])
    index = []
    for axis, place in enumerate(places):
        size = len(variables[place].categories)
        matches = np.asarray(reported[place])[:, None] == np.arange(size)
        index.append(matches.astype(np.intp).reshape(-1, *(size if at == axis else 1 for at in range(len(places)))))
    table: Floats = np.array(getattr(channel, of), dtype=float)
    found: Floats = table[tuple(index)]
    return found


def joint_scores(variables: Sequence[Variable], categories: Sequence[int], reported: Sequence[Reported]) -> Floats:
    """Return unbiased scores of having all of these categories, one of each variable, (u,).

    ``reported`` as in ``joint_likelihood``.
    """
    found: Floats = np.ones(len(reported[0]))
    for places in blocks_of(variables):
        if len(places) == 1:
            [place] = places
            found = found * variables[place].scores(reported[place])[:, categories[place]]
            continue
        channel = channel_of([variables[place] for place in places])
        matches: tuple[Truths, ...] = tuple(np.asarray(reported[each]) == categories[each] for each in places)
        found = found * np.array(channel.scores, dtype=float)[tuple(each.astype(np.intp) for each in matches)]
    return found


def blocks_of(variables: Sequence[Variable]) -> list[list[int]]:
    """Return the indices of the variables, those of one block together."""
    groups: dict[Any, list[int]] = {}
    for place, each in enumerate(variables):
        groups.setdefault(place if each.block is None else each.block[:2], []).append(place)
    return list(groups.values())


def channel_of(variables: Sequence[Variable]) -> BlockChannel:
    """Return the channel of variables of one block."""
    return block_channel(*_key([each.block for each in variables]))


def is_identified(variables: Sequence[Variable]) -> bool:
    """Say whether reports tell how these variables go together."""
    groups = ([variables[place] for place in places] for places in blocks_of(variables))
    return all(len(group) == 1 or channel_of(group).identifies for group in groups)


def check_identified(variables: Sequence[Variable]) -> None:
    """Check that variables of one block can be analysed together.

    Raises EstimateError if their channel has a condition number above 1,000.
    """
    for places in blocks_of(variables):
        together = [variables[place] for place in places]
        if len(together) > 1 and not channel_of(together).identifies:
            raise EstimateError(NOT_IDENTIFIED, variables=tuple(each.full_name for each in together))


def _key(places: Iterable[BlockPlace | None]) -> tuple[JointRR, tuple[Any, ...]]:
    known = [each for each in places if each is not None]
    return known[0].mechanism, tuple(each.position for each in known)


def _four(patterns: Any) -> Four:  # noqa: ANN401 - fractions by pattern
    return float(patterns[1, 1]), float(patterns[1, 0]), float(patterns[0, 1]), float(patterns[0, 0])
