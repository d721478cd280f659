"""Draw a binary randomized response; the channel is in ``sottovoce.shared.mechanisms.binary_rr``."""

from sottovoce.client.draws import Draws
from sottovoce.shared.mechanisms.binary_rr import BinaryRR


def randomize(mechanism: BinaryRR, value: int, draws: Draws) -> int:
    """
    0 or 1, with the channel's weights for ``value``.

    Epsilon: ``mechanism.epsilon``. Bytes: those of ``below(denominator)``, whatever the truth; coin flip 1.
    """
    return draws.pick(mechanism.weights(value))
