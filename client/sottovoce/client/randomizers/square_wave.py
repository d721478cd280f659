"""Draw a bin near the true one; the channel is in ``sottovoce.shared.mechanisms.square_wave``."""

from sottovoce.client.draws import Draws
from sottovoce.shared.mechanisms.square_wave import SquareWave


def randomize(mechanism: SquareWave, value: int, draws: Draws) -> int:
    """
    An output in 0 .. bins + 2 width - 1, when the truth is step ``value``.

    Epsilon: ``mechanism.epsilon``. Bytes: those of below(sum of a row), whatever the truth.
    """
    return draws.pick(mechanism.weights(value))
