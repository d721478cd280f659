"""Draw a Hadamard response; the channel is in ``sottovoce.shared.mechanisms.hadamard_response``."""

from sottovoce.client.draws import Draws
from sottovoce.shared.mechanisms.hadamard_response import HadamardResponse


def randomize(mechanism: HadamardResponse, value: int, draws: Draws) -> int:
    """
    A column in 0 .. K - 1, likelier one of option ``value``.

    Epsilon: ``mechanism.epsilon``. Bytes: those of one pick and of below(K / 2), whatever the truth.
    """
    # The side first, then one of its K/2 columns: two draws of fixed size in place of K weights (Acharya et al. 2019).
    own = draws.pick(mechanism.inclusion)
    return mechanism.column(value, own, draws.below(mechanism.columns // 2))
