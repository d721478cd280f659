"""Draw one option's bit; the channel is in ``sottovoce.shared.mechanisms.sampled_option``."""

from sottovoce.client.draws import Draws
from sottovoce.shared.mechanisms.sampled_option import SampledOption


def randomize(mechanism: SampledOption, value: int, draws: Draws) -> int:
    """
    ``2 * option + bit`` for one of the options, when the mask of the chosen ones is ``value``.

    Epsilon: ``mechanism.epsilon``. Bytes: those of below(k) and of the bit's pick, whatever the truth.
    """
    # Drawn before the answer is used, so the choice of the option costs no epsilon.
    option = draws.below(mechanism.options)
    return 2 * option + draws.pick(mechanism.bit.weights(value >> option & 1))
