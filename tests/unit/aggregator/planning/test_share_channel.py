"""The law of a count within its window."""

import math

import numpy as np
import pytest
from sottovoce.aggregator.planning.question_channels import DIRECT, ShareChannel, binomial_window


@pytest.mark.parametrize("n", [1, 2, 40, 999])
@pytest.mark.parametrize("share", [0.0, 1e-6, 0.25, 0.5, 0.97, 1.0])
def test_window_has_the_binomial_probabilities(n: int, share: float) -> None:
    """Against whole-number binomial coefficients; what the window leaves out is next to nothing."""
    counts, weights = binomial_window(n, share)
    exact = [math.comb(n, count) * share**count * (1 - share) ** (n - count) for count in counts.tolist()]

    assert weights == pytest.approx(exact, abs=1e-12)
    assert sum(exact) == pytest.approx(1, abs=1e-12)


def test_window_is_small_beside_many_reports() -> None:
    """10^8 reports: some 80,000 counts around the mean, of the right mean and variance."""
    counts, weights = binomial_window(10**8, 0.3)
    mean = float(weights @ counts)

    assert len(counts) < 10**5
    assert mean == pytest.approx(0.3 * 10**8, rel=1e-9)
    assert float(weights @ np.square(counts - mean)) == pytest.approx(0.21 * 10**8, rel=1e-6)


def test_channel_without_noise_is_its_own_direct_question() -> None:
    """And has no variance where everybody says the same."""
    assert DIRECT.openly is DIRECT is ShareChannel(0.75, 0.25).openly
    assert (DIRECT.variance(0.0), DIRECT.variance(1.0), DIRECT.variance(0.5)) == (0, 0, 0.25)
