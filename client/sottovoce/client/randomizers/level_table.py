"""Draw an output of a level's row; the channel is in ``sottovoce.shared.mechanisms.level_table``."""

from sottovoce.client.draws import Draws
from sottovoce.shared.mechanisms.level_table import LevelTable


def randomize(mechanism: LevelTable, value: int, draws: Draws) -> int:
    """
    The index of an output, when the truth is step ``value``.

    Epsilon: ``mechanism.epsilon``. Bytes: those of below(steps), also where the truth is a level, and of one pick
    from a row, whatever the truth.
    """
    # Rounding at random between two levels keeps the estimate of a mean unbiased.
    below, ends = mechanism.neighbours(value)
    return draws.pick(mechanism.rows[below + draws.pick(ends)])
