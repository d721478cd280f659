"""Draw the report of a block of questions; the channel is in ``sottovoce.shared.mechanisms.joint_rr``."""

from collections.abc import Sequence

from sottovoce.client.draws import Draws
from sottovoce.shared.mechanisms.joint_rr import JointRR


def randomize(block: JointRR, values: Sequence[int], draws: Draws) -> tuple[int, ...]:
    """
    A category for each question of the block, drawn together.

    Epsilon: ``block.epsilon``, for all of them together and for each. Bytes: those of one pick of how many answers
    differ, then for each question those of a pick of whether it does and of below(k - 1); none depends on the truth.

    Args:
        block: the mechanism.
        values: the true category of each question.
        draws: the source of randomness.
    """
    left = draws.pick([count * weight for count, weight in zip(block.counts, block.weights, strict=True)])
    reported = []
    for size, value, after in zip(block.sizes, values, block.counts_after, strict=True):
        # Combinations of the questions after this one that differ in what is left: if this one is true, or if not.
        same, other = after[left], (size - 1) * after[left - 1] if left else 0
        differs = draws.pick((same, other))
        moved = 1 + draws.below(size - 1)
        reported.append((value + differs * moved) % size)
        left -= differs
    return tuple(reported)
