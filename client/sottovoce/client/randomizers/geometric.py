"""Draw a noisy value within the range; the channel is in ``sottovoce.shared.mechanisms.geometric``."""

from sottovoce.client.draws import Draws
from sottovoce.shared.mechanisms.geometric import Geometric

_SIGNS = (0, 1, -1)  # of the three directions


def randomize(mechanism: Geometric, value: int, draws: Draws) -> int:
    """
    A step in 0 .. steps, when the truth is step ``value``.

    Epsilon: ``mechanism.epsilon``. Bytes: those of one pick for the direction and of steps - 1 for the magnitude,
    whatever the truth and whatever the noise.
    """
    sign = _SIGNS[draws.pick(mechanism.direction)]
    onward = mechanism.onward
    magnitude = going = 1
    for _ in range(mechanism.steps - 1):
        going &= draws.pick(onward)
        magnitude += going
    return min(max(value + sign * magnitude, 0), mechanism.steps)
