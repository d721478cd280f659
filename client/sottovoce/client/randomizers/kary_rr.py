"""Draw a k-ary randomized response; the channel is in ``sottovoce.shared.mechanisms.kary_rr``."""

from sottovoce.client.draws import Draws
from sottovoce.shared.mechanisms.kary_rr import KaryRR


def randomize(mechanism: KaryRR, value: int, draws: Draws) -> int:
    """
    A category in 0 .. k - 1, with the channel's weights for ``value``.

    Epsilon: ``mechanism.epsilon``. Bytes: those of ``below(denominator)``, whatever the truth.
    """
    return draws.pick(mechanism.weights(value))
