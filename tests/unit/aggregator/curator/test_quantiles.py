"""Quantiles: the sensitivity of every distance by enumeration, the loss within epsilon, and near answers."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from sottovoce.aggregator.curator.grid import NumberGrid
from sottovoce.aggregator.curator.noisy_max import (
    EXPONENTIAL,
    distances,
    quantiles,
    unit_sensitivity,
    winner_distribution,
)
from sottovoce.aggregator.curator.release import Neighbours, ReleaseTerms
from sottovoce.shared.exact_noise import ExactNoise

from tests.unit.aggregator.curator.noises import NoNoise
from tests.vectors.tape import Tape

REPLACE, ADD = ReleaseTerms(Fraction(1)), ReleaseTerms(Fraction(1), Neighbours.ADD_REMOVE)
QS = [Fraction(1, 2), Fraction(1, 4), Fraction(9, 10), Fraction(1, 1000)]


def neighbours(counts: tuple[int, ...], terms: ReleaseTerms) -> Iterator[tuple[int, ...]]:
    """All data sets with a record more, or with one at another point."""
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
    """The smallest and the largest value are no quantiles that noise could hide."""
    with pytest.raises(ValueError, match="between 0 and 1"):
        quantiles(np.array([1]), NumberGrid(Fraction(0), Fraction(9), Fraction(1)), at, REPLACE, NoNoise())


def test_number_of_too_many_points_is_refused() -> None:
    """Each point has noise of its own."""
    with pytest.raises(ValueError, match="declare a coarser step"):
        quantiles(np.array([1]), NumberGrid(Fraction(0), Fraction(10**5), Fraction(1)), [QS[0]], REPLACE, NoNoise())
