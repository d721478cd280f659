from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from sottovoce.aggregator.estimators import estimate
from sottovoce.aggregator.estimators.matrix import MatrixChannel
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.kary_rr import KaryRR

YES_NO = Domain(("no", "yes"))

THREE = Domain(("never", "once", "often"))

UNEVEN = MatrixChannel(
    (
        (Fraction(7, 10), Fraction(2, 10), Fraction(1, 10)),
        (Fraction(1, 10), Fraction(8, 10), Fraction(1, 10)),
        (Fraction(0), Fraction(3, 10), Fraction(7, 10)),
    )
)


WIDE = MatrixChannel(
    ((Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)), (Fraction(1, 10), Fraction(1, 10), Fraction(8, 10)))
)

COIN = BinaryRR(Fraction(3, 4), Fraction(1, 4))

WARNER = BinaryRR(Fraction(2, 3), Fraction(1, 3))

OPTIONS = Domain(("no", "yes"))


@pytest.mark.parametrize(
    ("a", "b", "yes", "n", "share", "variance"),
    [
        # Warner 1965, p = .7: (.45 + .7 - 1) / .4, and .45 .55 / (99 .4^2).
        (Fraction(7, 10), Fraction(3, 10), 45, 100, 0.375, 0.015625),
        # Greenberg et al. 1969, P = .7 and an innocuous share of .25: (.28 - .3 .25) / .7.
        (Fraction(31, 40), Fraction(3, 40), 56, 200, 0.2928571428571429, 0.28 * 0.72 / 199 / 0.49),
        # Forced response by two dice, yes 1/6 and no 1/12: (.35 - 1/6) / (3/4).
        (Fraction(11, 12), Fraction(1, 6), 70, 200, 0.2444444444444444, 0.35 * 0.65 / 199 / 0.5625),
        # A forced yes only, so that a reported no is the truth: (.5 - 1/3) / (2/3).
        (Fraction(1), Fraction(1, 3), 60, 120, 0.25, 0.25 / 119 / (4 / 9)),
        # Yu, Tian and Tang 2008, p = 1/4, 52 of 100 report "same": (.52 + .25 - 1) / (.5 - 1).
        (Fraction(1, 4), Fraction(3, 4), 52, 100, 0.46, 0.52 * 0.48 / 99 / 0.25),
    ],
)
def test_designs_of_two_truths_give_the_textbook_figures(
    a: Fraction, b: Fraction, yes: int, n: int, share: float, variance: float
) -> None:
    """Share and variance by the formulas of the papers, with n - 1."""
    [found] = estimate(MatrixChannel.yes_no(a, b), {0: n - yes, 1: yes}, YES_NO)

    assert found.raw == pytest.approx(share, abs=1e-12)
    assert found.std_error == pytest.approx(variance**0.5, rel=1e-12)
    assert found.low <= share <= found.high


def test_even_matrix_equals_the_mechanism_of_its_design() -> None:
    """Equal rows are k-ary randomized response, figure for figure."""
    tally = {0: 50, 1: 30, 2: 20}
    design = KaryRR(Fraction(4), 3)
    even = MatrixChannel(tuple(tuple(Fraction(each, 6) for each in design.weights(truth)) for truth in range(3)))

    found, expected = estimate(even, tally, THREE), estimate(design, tally, THREE)
    assert [*found] == [*expected]


def test_expected_counts_give_the_truth() -> None:
    """Also with more reports than truths; the scores of each report sum to 1."""
    for channel, truth in ((UNEVEN, (0.5, 0.3, 0.2)), (WIDE, (0.6, 0.4))):
        counts = np.array(truth) @ channel.table * 10_000
        tally = {place: round(count) for place, count in enumerate(counts)}
        options = Domain(THREE.options[: len(truth)])
        assert [each.raw for each in estimate(channel, tally, options)] == pytest.approx(truth, abs=1e-12)
        assert channel.scores.sum(axis=1) == pytest.approx(1)


def test_pair_of_each_category_has_the_variances_of_its_scores() -> None:
    for place, (a, b) in enumerate(UNEVEN.pairs):
        variances = UNEVEN.variances[:, place]
        assert a * (1 - a) / (a - b) ** 2 == pytest.approx(variances[place])
        assert b * (1 - b) / (a - b) ** 2 == pytest.approx(np.delete(variances, place).max())


@pytest.mark.parametrize("truth", [(0.5, 0.3, 0.2), (0.9, 0.08, 0.02), (0.0, 0.5, 0.5)])
@pytest.mark.parametrize("n", [60, pytest.param(600, marks=pytest.mark.slow)])
def test_limits_cover_the_truth(truth: tuple[float, ...], n: int) -> None:
    """At least .93 of 1,000 samples in each setting, for each category; the share is unbiased."""
    draws = np.random.default_rng(33).multinomial(n, np.array(truth) @ UNEVEN.table, size=1000)
    made = {key: estimate(UNEVEN, dict(enumerate(key)), THREE) for key in {tuple(each) for each in draws.tolist()}}
    found = [made[tuple(counts)] for counts in draws.tolist()]

    for place, share in enumerate(truth):
        mine = [estimates[place] for estimates in found]
        assert np.mean([each.low <= share <= each.high for each in mine]) >= 0.93
        raw = np.array([each.raw for each in mine], dtype=float)
        assert abs(raw.mean() - share) < 4 * raw.std() / 1000**0.5


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([["1/2", "1/4"], ["1/4", "3/4"]], "row 1 of the matrix sums to 0.75, not to 1"),
        ([["1/2", "1/2"], ["1/2", "1/2"]], "singular"),
        ([["3/2", "-1/2"], ["1/4", "3/4"]], "below 0 or above 1"),
        ([["1/2", "1/2"], ["1"]], "another length"),
        ([["1", "0"], ["1", "0"]], "column 2"),
        ([["1/2", "1/2"]], "2 to 100 rows"),
        ([["1/2", "1/2"], ["1/4", "3/4"], ["1/3", "2/3"]], "singular"),
    ],
)
def test_no_channel_is_refused(rows: list[list[str]], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        MatrixChannel.parse({"rows": rows}, YES_NO)


def test_epsilon_is_infinite_where_a_report_excludes_a_truth() -> None:
    """A private channel has the logarithm of its largest ratio."""
    assert UNEVEN.epsilon == np.inf
    assert MatrixChannel.yes_no(Fraction(3, 4), Fraction(1, 4)).epsilon == pytest.approx(np.log(3))


def test_implausible_reports_are_noticed() -> None:
    """Nobody reports the first value, though half of all truths would."""
    found = estimate(UNEVEN, {2: 1000}, THREE)
    assert any(each.implausible for each in found)
    assert not any(each.implausible for each in estimate(UNEVEN, {0: 400, 1: 350, 2: 250}, THREE))


def test_limits_shrink_with_reports() -> None:
    widths = [estimate(UNEVEN, {0: 4 * n, 1: 3 * n, 2: 3 * n}, THREE)[0] for n in (10, 100, 1000)]
    assert all(one.high - one.low > other.high - other.low for one, other in pairwise(widths))


@pytest.mark.parametrize("yes", [0, 1, 30, 50, 99, 100])
def test_coin_flip_estimate_is_2_p_minus_one_half(yes: int) -> None:
    assert estimate(COIN, {0: 100 - yes, 1: yes}, OPTIONS)[0].raw == float(2 * Fraction(yes, 100) - Fraction(1, 2))


@pytest.mark.parametrize("yes", [0, 1, 30, 50, 99, 100])
def test_warner_estimate_is_3_mean_minus_one(yes: int) -> None:
    assert estimate(WARNER, {0: 100 - yes, 1: yes}, OPTIONS)[0].raw == float(3 * Fraction(yes, 100) - 1)
