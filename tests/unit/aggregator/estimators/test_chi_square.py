"""The tail of chi-square against tables and against its own integral."""

import math

import pytest
from sottovoce.aggregator.estimators.intervals import upper_tail


@pytest.mark.parametrize(
    ("statistic", "df", "expected"),
    [
        (3.841458820694124, 1, 0.05),
        (5.991464547107979, 2, 0.05),
        (16.918977604620448, 9, 0.05),
        (18.307038053275146, 10, 0.05),
        (124.34211340400407, 100, 0.05),
        (14.811128, 1, 0.000119),
        (5.302600, 1, 0.021294),
    ],
)
def test_tail_is_that_of_the_tables(statistic: float, df: int, expected: float) -> None:
    """The usual quantiles, and two worked examples."""
    assert upper_tail(statistic, df) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize("df", [1, 2, 3, 8, 31])
def test_tail_falls_as_the_density_says(df: int) -> None:
    """A difference quotient against the density."""
    for x in (0.4, 3.0, 40.0):
        density = math.exp((df / 2 - 1) * math.log(x) - x / 2 - df / 2 * math.log(2) - math.lgamma(df / 2))
        assert (upper_tail(x - 1e-5, df) - upper_tail(x + 1e-5, df)) / 2e-5 == pytest.approx(
            density, rel=1e-5, abs=1e-9
        )


def test_nothing_lies_below_zero() -> None:
    """A statistic of 0, and far out."""
    assert (upper_tail(0.0, 3), upper_tail(1e4, 5)) == (1.0, 0.0)
