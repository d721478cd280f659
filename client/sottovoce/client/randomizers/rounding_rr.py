"""Draw an end of the range; the channel is in ``sottovoce.shared.mechanisms.rounding_rr``."""

from sottovoce.client.draws import Draws
from sottovoce.shared.mechanisms.rounding_rr import RoundingRR


def randomize(mechanism: RoundingRR, value: int, draws: Draws) -> int:
    """
    0 or 1, for the least or the largest value, when the truth is step ``value``.

    Epsilon: ``mechanism.epsilon``. Bytes: those of below(steps), also where nothing is to be rounded, and of the
    bit's pick, whatever the truth.
    """
    # Unbiased rounding to an end of the range; it needs no epsilon, because only the next draw is reported.
    end = draws.pick(mechanism.ends(value))
    return draws.pick(mechanism.bit.weights(end))
