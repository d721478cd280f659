"""Draw a bit for every option; the channel is in ``sottovoce.shared.mechanisms.optimal_unary``."""

from sottovoce.client.draws import Draws
from sottovoce.client.randomizers.bitwise_rr import draw_bits
from sottovoce.shared.mechanisms.optimal_unary import OptimalUnary


def randomize(mechanism: OptimalUnary, value: int, draws: Draws) -> int:
    """
    A mask of all options, when option ``value`` is true.

    Epsilon: ``mechanism.epsilon``. Bytes: those of k picks, from option 0 on, whatever the truth.
    """
    return draw_bits(mechanism, value, draws)
