"""Draw a subset of options; the channel is in ``sottovoce.shared.mechanisms.subset_selection``."""

from sottovoce.client.draws import Draws
from sottovoce.shared.mechanisms.subset_selection import SubsetSelection


def randomize(mechanism: SubsetSelection, value: int, draws: Draws) -> int:
    """
    A mask of ``size`` options, likelier to hold option ``value``.

    Epsilon: ``mechanism.epsilon``. Bytes: those of one pick for the truth, then of below(k - 1), below(k - 2), ...,
    ``size`` of them, whatever the truth and whether or not it is in the set.
    """
    included = draws.pick(mechanism.inclusion)
    others = [option for option in range(mechanism.options) if option != value]
    # The first ``size`` places of a Fisher-Yates shuffle; the last is not used when the truth takes its place.
    for place in range(mechanism.size):
        other = place + draws.below(len(others) - place)
        others[place], others[other] = others[other], others[place]
    selected = others[: mechanism.size - included] + [value] * included
    return sum(1 << option for option in selected)
