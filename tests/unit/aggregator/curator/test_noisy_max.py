import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from sottovoce.aggregator.curator.grid import NumberGrid
from sottovoce.aggregator.curator.noisy_max import (
    EXPONENTIAL,
    LAPLACE,
    distances,
    noisy_max,
    quantiles,
    top_cell,
    top_mark,
    unit_sensitivity,
    winner_distribution,
)
from sottovoce.aggregator.curator.release import Neighbours, ReleaseTerms
from sottovoce.audit.curator.noise_branches import noise_distribution
from sottovoce.shared.exact_noise import ExactNoise

from tests.unit.aggregator.curator.noises import NoNoise
from tests.vectors.tape import Tape

REPLACE, ADD = ReleaseTerms(Fraction(1)), ReleaseTerms(Fraction(1), Neighbours.ADD_REMOVE)
ONE, HALF = Fraction(1), Fraction(1, 2)


def continuous(counts):
    """The chances of each with continuous noise of scale 1, by quadrature."""
    v = np.linspace(-45, 65, 220001)

    def below(x):
        tail = np.exp(-np.abs(x)) / 2
        return np.where(x < 0, tail, 1 - tail)

    return [
        np.trapezoid(
            np.exp(-np.abs(v - here)) / 2 * np.prod([below(v - c) for i, c in enumerate(counts) if i != j], axis=0), v
        )
        for j, here in enumerate(counts)
    ]


def test_chances_meet_the_oracle():
    """[20, 15, 10] at epsilon 1: continuous by quadrature, discrete by summation."""
    assert continuous([20, 15, 10]) == pytest.approx([0.98815, 0.01178, 0.00007], abs=5e-6)
    assert winner_distribution([20, 15, 10], ONE) == pytest.approx([0.993354, 0.006608, 0.000038], abs=5e-7)
    wrong = sum(continuous([20, 15, 10])[1:])
    assert wrong <= sum((2 + gap) / (4 * math.exp(gap)) for gap in (5, 10)) == pytest.approx(0.011928, abs=5e-7)


@pytest.mark.parametrize("noise", [LAPLACE, EXPONENTIAL])
@pytest.mark.parametrize("counts", [[2, 1], [0, 1], [1, 1]])
def test_running_code_has_these_chances(counts, noise):
    found = noise_distribution(lambda draws: noisy_max(counts, ONE, draws, noise), 1e-12)

    assert [found[j] for j in range(len(counts))] == pytest.approx(winner_distribution(counts, ONE, noise), abs=1e-9)


@pytest.mark.parametrize(
    ("before", "after", "ratio"),
    [
        ([0, 0, 0], [1, 0, 0], 0.571),
        ([0, 0, 0], [1, 1, 0], 0.853),
        ([0] * 6, [1] * 5 + [0], 0.992),
        ([0, 0, 0], [1, -1, 0], 1.396),
    ],
)
def test_continuous_ratios_meet_their_oracles(before, after, ratio):
    """Monotone neighbours stay below epsilon, one up and one down does not."""
    pairs = zip(continuous(before), continuous(after), strict=True)

    assert max(abs(math.log(p / q)) for p, q in pairs) == pytest.approx(ratio, abs=5e-4)


def worst(rate, moves, cells, noise):
    """The largest log-ratio over counts up to 30 apart and these moves of them."""
    found = 0.0
    for counts in product((0, 2, 30), repeat=cells):
        before = winner_distribution(counts, rate, noise)
        for move in moves:
            after = winner_distribution([c + m for c, m in zip(counts, move, strict=True)], rate, noise)
            found = max(found, float(np.abs(np.log(before / after)).max()))
    return found


@pytest.mark.parametrize("noise", [LAPLACE, EXPONENTIAL])
@pytest.mark.parametrize(("cells", "nearly"), [(2, 0.94), (3, 0.99995)])
def test_each_relation_has_the_scale_that_it_needs(cells, nearly, noise):
    """Scale 1/epsilon for records that come or go, 2/epsilon for any moves by 1; 1/epsilon would not do for those."""
    monotone = list(product((0, 1), repeat=cells))
    any_move = list(product((-1, 0, 1), repeat=cells))

    assert nearly < worst(ONE, monotone, cells, noise) < 1 + 1e-9
    assert nearly < worst(HALF, any_move, cells, noise) < 1 + 1e-9
    assert worst(ONE, any_move, cells, noise) > 1.9


@pytest.mark.parametrize(("terms", "rate"), [(ADD, (1, 8)), (REPLACE, (1, 16))])
def test_winner_is_an_index_and_nothing_else(terms, rate):
    """Of marks and of cells, in eighths of a count; the note says that the number is not free."""
    draws = NoNoise()

    marks = top_mark([1, 2, 1], terms, draws)
    cells = top_cell(np.array([2, 2, 0]), 3, terms, draws)

    assert (marks.values, cells.values) == ({"index": 1}, {"index": 2})
    assert set(draws.asked) == {rate}
    assert "not free" in marks.notes[0]


@pytest.mark.parametrize("noise", [LAPLACE, EXPONENTIAL])
@pytest.mark.parametrize(("terms", "rate"), [(ADD, ONE), (REPLACE, HALF)])
def test_told_shortfall_is_the_smallest_that_is_rare_whatever_the_counts(terms, rate, noise):
    """The worst counts: all others t below the largest, and first in order."""
    parts = 8 if noise is EXPONENTIAL else 1
    t = int(parts * Fraction(top_cell(np.array([0]), 4, terms, NoNoise(), noise).error["t"]))

    assert (
        winner_distribution([0, 0, 0, t], rate / parts, noise)[:3].sum()
        <= 0.05
        < winner_distribution([0, 0, 0, t - 1], rate / parts, noise)[:3].sum()
    )


def test_eighths_of_a_count_make_ties_rare():
    """The mean shortfall is near that of continuous noise; in whole counts it is a third larger."""
    generator = np.random.Generator(np.random.PCG64(1))
    counts = np.bincount(generator.integers(0, 100, 2000), minlength=100)
    fine, whole = (
        float(winner_distribution((parts * counts).tolist(), ONE / parts, EXPONENTIAL) @ (counts.max() - counts))
        for parts in (8, 1)
    )
    draws = NoNoise()
    top_cell(np.arange(3), 3, ADD, draws)

    assert draws.asked == [(1, 8)] * 3
    assert fine < 0.85 * whole


def test_very_wide_noise_has_a_bound():
    """Without a sum over millions of integers."""
    told = top_cell(np.array([0]), 4, ReleaseTerms(Fraction(1, 10**6)), NoNoise()).error

    assert Fraction(told["t"]) > 10**6


@pytest.mark.parametrize("counts", [[20, 19, 18, 17], [5, 5, 4, 0], [0, 10, 20, 30], [7, 8, 8, 8]])
def test_exponential_noise_falls_short_by_less(counts):
    """The mean distance of the winner's count from the largest over all orders of the cells, at three rates."""
    orders = sorted(set(permutations(counts)))

    def shortfall(rate, noise):
        return np.mean([winner_distribution(order, rate, noise) @ (max(counts) - np.array(order)) for order in orders])

    for rate in (ONE, HALF, Fraction(1, 10)):
        assert shortfall(rate, EXPONENTIAL) < shortfall(rate, LAPLACE)


@pytest.mark.parametrize("counts", [(2, 1), (3, 2, 0)])
def test_exponential_noise_is_permute_and_flip_over_all_orders(counts):
    """Permute-and-flip: cells in random order, each accepted with probability e^(-rate (largest - count))."""
    flips = dict.fromkeys(counts, 0.0)
    for order in permutations(counts):
        left = 1 / math.factorial(len(counts))
        for count in order:
            accepted = math.exp(count - max(counts))
            flips[count] += left * accepted
            left *= 1 - accepted
    orders = list(permutations(counts))
    chances = [dict(zip(order, winner_distribution(order, ONE, EXPONENTIAL), strict=True)) for order in orders]

    assert {count: np.mean([each[count] for each in chances]) for count in counts} == pytest.approx(flips, abs=1e-9)


def test_ten_thousand_cells_have_one_winner():
    """The one that most records are in."""
    found = top_cell(np.array([9_999] * 900 + list(range(9_000))), 10_000, ReleaseTerms(Fraction(9)), NoNoise())

    assert found.values == {"index": 9_999}


QS = [Fraction(1, 2), Fraction(1, 4), Fraction(9, 10), Fraction(1, 1000)]


def neighbours(counts: tuple[int, ...], terms: ReleaseTerms) -> Iterator[tuple[int, ...]]:
    points = range(len(counts))
    steps = [[int(point == at) for at in points] for point in points]
    for more in points:
        if terms is ADD:
            yield tuple(np.add(counts, steps[more]).tolist())
        for less in points:
            if terms is REPLACE and counts[less]:
                yield tuple((np.add(counts, steps[more]) - steps[less]).tolist())


DATA = [counts for counts in product(range(3), repeat=4) if any(counts)]


@pytest.mark.parametrize("terms", [REPLACE, ADD])
@pytest.mark.parametrize("q", QS)
def test_stated_sensitivity_is_the_largest_change_of_a_distance(terms: ReleaseTerms, q: Fraction) -> None:
    """At any point, over all neighbours of small data sets: never more, and reached."""
    changes = [np.abs(distances(np.array(counts), q) - distances(np.array(other), q)).max()
               for counts in DATA for other in neighbours(counts, terms)]  # fmt: skip

    assert max(changes) == unit_sensitivity(q, terms)


@pytest.mark.parametrize("terms", [REPLACE, ADD])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_loss_is_within_epsilon_and_needs_its_factor_of_two(terms: ReleaseTerms, epsilon: Fraction) -> None:
    """Of all neighbours, by summation; with the noise of epsilon / sensitivity it would be more than epsilon."""
    q = Fraction(1, 4)
    rate = epsilon / (2 * unit_sensitivity(q, terms))
    shares = {}
    for each in {*DATA, *(other for counts in DATA for other in neighbours(counts, terms))}:
        shares[each] = np.log(winner_distribution((-distances(np.array(each), q)).tolist(), rate, EXPONENTIAL))
    losses = [np.abs(shares[counts] - shares[other]).max() for counts in DATA for other in neighbours(counts, terms)]

    assert float(epsilon) / 2 < max(losses) <= float(epsilon) * (1 + 1e-9)


def test_distances_are_zero_at_every_quantile_of_the_records() -> None:
    """Of 1, 1, 3, 7: medians from 1 to 3, upper quartiles from 3 to 7; parts of a record elsewhere."""
    counts = np.bincount([1, 1, 3, 7], minlength=9)

    assert distances(counts, Fraction(1, 2)).tolist() == [4, 0, 0, 0, 2, 2, 2, 2, 4]
    assert distances(counts, Fraction(3, 4)).tolist() == [12, 4, 4, 0, 0, 0, 0, 0, 4]


@pytest.mark.parametrize("terms", [REPLACE, ADD])
def test_expected_distance_is_at_most_that_of_the_exponential_mechanism(terms: ReleaseTerms) -> None:
    """At the same epsilon, by the exact probabilities of both."""
    far = distances(np.random.Generator(np.random.PCG64(2)).multinomial(60, np.ones(30) / 30), Fraction(1, 2))
    rate = Fraction(1, 2 * unit_sensitivity(Fraction(1, 2), terms))
    weights = np.exp(-float(rate) * far)

    assert winner_distribution((-far).tolist(), rate, EXPONENTIAL) @ far < weights @ far / weights.sum()


@pytest.mark.parametrize("terms", [REPLACE, ADD])
def test_answers_are_within_the_stated_error(terms: ReleaseTerms) -> None:
    """Of 2,000 records on 200 points, in ranks, in nearly all of fifty runs."""
    values = np.random.Generator(np.random.PCG64(1)).binomial(199, 0.3, 2000)
    grid = NumberGrid(Fraction(0), Fraction(199), Fraction(1))
    draws = ExactNoise(Tape("quantiles"))
    runs = [quantiles(values, grid, [Fraction(1, 4), Fraction(1, 2)], terms, draws) for _ in range(50)]

    for place, q in enumerate((Fraction(1, 4), Fraction(1, 2))):
        far = distances(np.bincount(values, minlength=200), q) / q.denominator
        bound = float(Fraction(runs[0].error[f"the rank of {q} (in records)"]["t"]))
        assert sum(far[int(run.values["quantiles"][place])] < bound for run in runs) >= 46
        assert bound < 60


def test_quantiles_share_epsilon_and_are_sorted() -> None:
    """Noise is drawn for every point, without a record too; values outside count at the ends."""
    grid = NumberGrid(Fraction(-1), Fraction(1), Fraction(1, 2))
    draws = NoNoise()

    found = quantiles(np.array([-9, 0, 2, 4, 99]), grid, QS[1:2] + QS[:1] + QS[2:3], REPLACE, draws)

    assert found.values == {"quantiles": ["-1", "0", "1"]}
    assert draws.asked == [(1, 24)] * 5 + [(1, 12)] * 5 + [(1, 60)] * 5
    assert found.charge.epsilon == 1
    assert len(quantiles(np.array([], dtype=int), grid, [QS[0]], ADD, NoNoise()).values["quantiles"]) == 1


@pytest.mark.parametrize("at", [[], [Fraction(0)], [Fraction(1)], [Fraction(1, 1001)]])
def test_quantile_out_of_range_is_refused(at: list[Fraction]) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        quantiles(np.array([1]), NumberGrid(Fraction(0), Fraction(9), Fraction(1)), at, REPLACE, NoNoise())


def test_number_of_too_many_points_is_refused() -> None:
    """Each point has noise of its own."""
    with pytest.raises(ValueError, match="declare a coarser step"):
        quantiles(np.array([1]), NumberGrid(Fraction(0), Fraction(10**5), Fraction(1)), [QS[0]], REPLACE, NoNoise())
