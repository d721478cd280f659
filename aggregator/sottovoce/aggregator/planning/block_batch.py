"""Randomize many respondents' answers to the questions of a block together: the batch client for blocks.

The offset of a report from the truth, (y - x) mod k in each question, has one law for every truth: each combination of
offsets has the weight of its number of offsets that are not 0. So one draw below the total picks the combination.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from sottovoce.aggregator.planning.vectorized_randomizers import BLOCK, BatchDraws, Values, simulate
from sottovoce.shared.mechanisms.joint_rr import JointMember, JointRR
from sottovoce.shared.spec import Survey

_SMALL = 1 << 16
"""Largest total that is looked up in a table; above it a draw needs a search."""


def simulate_survey(survey: Survey, truths: Sequence[Values], asked: Sequence[Any], draws: BatchDraws) -> list[Values]:
    """Return the reported values of each question, from the respondents who are asked it, as ``ask_batch`` selects.

    Questions that respondents randomize by hand are simulated through the same channel.
    """
    reported: list[Values] = []
    for index, (question, truth) in enumerate(zip(survey.questions, truths, strict=True)):
        mechanism = question.mechanism
        if mechanism is None:
            reported.append(truth[asked[index]])
        elif not isinstance(mechanism, JointMember):
            reported.append(simulate(mechanism, truth[asked[index]], draws))
        elif mechanism.position == 0:
            places = slice(index, index + len(mechanism.block.sizes))
            reported += _simulate_asked(mechanism.block, truths[places], asked[places], draws)
    return reported


def _simulate_asked(block: JointRR, truths: Sequence[Values], asked: Sequence[Any], draws: BatchDraws) -> list[Values]:
    if block.ask is None:
        # They are asked together.
        return simulate_block(block, [truth[asked[0]] for truth in truths], draws)
    held = np.zeros((len(asked), len(truths[0])), dtype=bool)
    for row, chosen in zip(held, asked, strict=True):
        row[chosen] = True
    reported = [np.zeros_like(truth) for truth in truths]
    sets, of_each = np.unique(held, axis=1, return_inverse=True)
    for number, drawn in enumerate(sets.T):
        people, positions = np.flatnonzero(of_each == number), np.flatnonzero(drawn).tolist()
        if len(positions):
            moved = simulate_block(block, [truths[each][people] for each in positions], draws)
            for position, values in zip(positions, moved, strict=True):
                reported[position][people] = values
    return [values[chosen] for values, chosen in zip(reported, held, strict=True)]


def simulate_block(block: JointRR, truths: Sequence[Values], draws: BatchDraws) -> list[Values]:
    """Randomize the true categories, shape (n,), of a block's questions that are asked; return the reported."""
    starts = range(0, len(truths[0]), BLOCK)
    parts = [_draw(block, [truth[start : start + BLOCK] for truth in truths], draws) for start in starts]
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)] if parts else [*truths]


def _draw(block: JointRR, truths: Sequence[Values], draws: BatchDraws) -> list[Values]:
    places, offsets = _offsets(block)
    drawn = draws.below(block.total, len(truths[0]))
    way = places[drawn] if block.total <= _SMALL else np.searchsorted(places, drawn, side="right")
    moved = [truth.astype(offset.dtype) + offset[way] for truth, offset in zip(truths, offsets, strict=True)]
    return [np.where(value < size, value, value - size) for value, size in zip(moved, block.asked_sizes, strict=True)]


@lru_cache(maxsize=16)
def _offsets(block: JointRR) -> tuple[Values, tuple[Values, ...]]:
    """Return what tells a draw's combination of offsets, and the offsets of each question by combination.

    The first is a table of combinations by draw where the total is small, else the cumulative weights.
    """
    offsets = np.indices(block.asked_sizes).reshape(block.asked, -1)
    weights = np.array(block.offset_weights, dtype=np.int64)
    places = np.repeat(np.arange(len(weights), dtype=np.uint16), weights) if block.total <= _SMALL else weights.cumsum()
    kinds = [np.min_scalar_type(2 * size) for size in block.asked_sizes]
    return places, tuple(row.astype(kind) for row, kind in zip(offsets, kinds, strict=True))
