"""Draw the report of a block of questions; the channel is in ``sottovoce.shared.mechanisms.joint_rr``."""

from collections.abc import Sequence

from sottovoce.client.draws import Draws
from sottovoce.shared.mechanisms.joint_rr import JointRR


def randomize(block: JointRR, values: Sequence[int], draws: Draws) -> tuple[int, ...]:
    """
    A category for each question of the block that is asked, drawn together.

    Epsilon: ``block.epsilon``, for all of them together and for each. Bytes: those of one ``pick`` from weights that
    sum to ``total``, whatever the truth and the report.

    Args:
        block: the mechanism.
        values: the true category of each of them, in order.
        draws: the source of randomness.
    """
    place = draws.pick(block.offset_weights)
    reported = []
    for size, value in zip(reversed(block.asked_sizes), reversed(values), strict=True):
        place, moved = divmod(place, size)
        reported.append((value + moved) % size)
    return tuple(reversed(reported))
