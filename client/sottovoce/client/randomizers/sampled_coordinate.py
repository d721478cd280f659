"""Draw one coordinate of several numbers; the channel is in ``sottovoce.shared.mechanisms.sampled_coordinate``."""

from sottovoce.client.draws import Draws
from sottovoce.client.randomizers import rounding_rr
from sottovoce.shared.mechanisms.sampled_coordinate import SampledCoordinate


def randomize(mechanism: SampledCoordinate, value: tuple[int, ...], draws: Draws) -> int:
    """
    ``2 * coordinate + end`` for one of the coordinates, when their true steps are ``value``.

    Epsilon: ``mechanism.epsilon``. Bytes: those of below(d) and of ``rounding_rr``, whatever the truth.
    """
    # Drawn before the values are used: all epsilon goes to one number, which beats dividing it (Nguyen et al. 2016).
    coordinate = draws.below(mechanism.coordinates)
    return 2 * coordinate + rounding_rr.randomize(mechanism.number, value[coordinate], draws)
