"""Draw a memoized randomized response; the channel is in ``sottovoce.shared.mechanisms.memoized_rr``."""

from collections.abc import Sequence

from sottovoce.client.draws import Draws
from sottovoce.shared.mechanisms.memoized_rr import MemoizedRR


def memorize(mechanism: MemoizedRR, draws: Draws) -> tuple[int, int]:
    """Draw the permanent answers for a truth of no and of yes: both, so that the memo reveals nothing of the truth."""
    # Both truths, so that the number of bytes read and the memo's size say nothing about the answer.
    no, yes = (draws.pick(mechanism.permanent.weights(truth)) for truth in (0, 1))
    return no, yes


def recall(mechanism: MemoizedRR, memo: Sequence[int], value: int, draws: Draws) -> int:
    """
    One wave's report: the permanent answer for ``value`` through the instantaneous layer.

    Args:
        mechanism: both layers.
        memo: the permanent answers for a truth of no and of yes, from ``memorize``.
        value: the truth in this wave, 0 or 1.
        draws: the source of randomness, read alike whatever the truth.
    """
    # The second layer hides a change of the answer from one wave to the next (RAPPOR, Erlingsson et al. 2014).
    return draws.pick(mechanism.instantaneous.weights(memo[value]))


def randomize(mechanism: MemoizedRR, value: int, draws: Draws) -> int:
    """
    0 or 1, the report for a single wave with a memo of its own.

    Epsilon: ``mechanism.epsilon`` covers all waves under one memo. Bytes: two picks of the permanent layer and one of
    the instantaneous, whatever the truth.
    """
    return recall(mechanism, memorize(mechanism, draws), value, draws)
