"""Digits of a figure follow its interval, on pages and in the terminal."""

import pytest
from sottovoce.aggregator.i18n.translator import ENGLISH


@pytest.mark.parametrize(
    ("figures", "written"),
    [
        ((2.7134, 1.4081, 4.0187), "2.7 (1.4 to 4.0)"),
        ((40.2134, 39.9412, 40.4856), "40.21 (39.94 to 40.49)"),
        ((12345.6, 11000.2, 13691.0), "12,346 (11,000 to 13,691)"),
        ((0.0341, 0.0123, 0.2011), "0.034 (0.012 to 0.201)"),
        ((1.0, 1.0, 1.0), "1.000 (1.000 to 1.000)"),
    ],
)
def test_figure_has_the_digits_that_its_interval_tells(figures: tuple[float, float, float], written: str) -> None:
    """Two significant digits of the distance to the nearer limit; without an interval up to four digits."""
    found = dict(zip(("estimate", "low", "high"), figures, strict=True))
    told = f"{ENGLISH.estimate(found, ENGLISH.figure)} ({ENGLISH.limits(found, ENGLISH.figure)})"
    assert told == written


def test_shares_and_open_limits_keep_their_digits() -> None:
    """A percentage has one decimal, and a side without a limit tells no precision."""
    found = {"shown": 0.25134, "low": 0.2, "high": 0.3}
    assert ENGLISH.estimate(found, ENGLISH.percent) == "25.1%"
    assert ENGLISH.estimate({**found, "high": None}, ENGLISH.figure) == "0.2513"
