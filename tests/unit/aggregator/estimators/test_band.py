"""The anytime-valid band: printed oracles, shape, edges."""

import pytest
from sottovoce.aggregator.estimators.band import band

COIN = (0.75, 0.25)


@pytest.mark.parametrize(
    ("count", "n", "low", "high"),
    [
        (30, 100, 0.0, 0.3960),
        (0, 20, 0.0, 0.3683),
        (300, 1000, 0.0061, 0.1999),
        (0, 1, 0.0, 1.0),
        (1, 1, 0.0, 1.0),
        (0, 0, 0.0, 1.0),
    ],
)
def test_band_gives_the_printed_limits(count: int, n: int, low: float, high: float) -> None:
    """The oracles of the coin flip, to four digits."""
    assert (low, high) == tuple(round(limit, 4) for limit in band(count, n, *COIN, 0.95))


@pytest.mark.parametrize("channel", [COIN, (2 / 3, 1 / 3), (0.99331, 0.00669), (1.0, 0.0)])
def test_band_is_never_empty(channel: tuple[float, float]) -> None:
    """All 101 counts at n = 100 give 0 <= low < high <= 1 around the clipped estimate."""
    a, b = channel
    for count in range(101):
        low, high = band(count, 100, a, b, 0.95)
        clipped = min(max((count / 100 - b) / (a - b), 0), 1)

        assert 0 <= low <= clipped <= high <= 1
        assert low < high


def test_band_of_several_options_is_wider() -> None:
    """Alpha / k each: the band of 4 options is the band at 1 - .05/4."""
    low, high = band(300, 1000, *COIN, 0.95, options=4)

    assert band(300, 1000, *COIN, 1 - 0.05 / 4) == pytest.approx((low, high), abs=1e-12)
    assert low < 0.0060
    assert high > 0.2000
