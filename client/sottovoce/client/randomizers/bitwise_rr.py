"""Draw a bit for every option; the channel is in ``sottovoce.shared.mechanisms.bitwise_rr``."""

from sottovoce.client.draws import Draws
from sottovoce.shared.mechanisms.bits import Bits
from sottovoce.shared.mechanisms.bitwise_rr import BitwiseRR


def randomize(mechanism: BitwiseRR, value: int, draws: Draws) -> int:
    """
    A mask of all options, when the mask of the chosen ones is ``value``.

    Epsilon: ``mechanism.epsilon``, which counts on at most max_choices options chosen.
    Bytes: those of k picks, from option 0 on, whatever the truth.
    """
    return draw_bits(mechanism, value, draws)


def draw_bits(mechanism: Bits, value: int, draws: Draws) -> int:
    """A mask with a bit for each option, from option 0 on, each with the weights of its own truth."""
    bits = mechanism.selected_bits(value)
    # Every bit is drawn, also for options not chosen, so that reads and time do not depend on the answer.
    return sum(draws.pick(mechanism.bit.weights(bits >> option & 1)) << option for option in range(mechanism.options))
