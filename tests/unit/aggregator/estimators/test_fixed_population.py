"""A class of thirty is no sample: how many of these people, with limits that hold."""

from fractions import Fraction
from itertools import pairwise
from math import comb

import pytest
from sottovoce.aggregator.estimators.fixed_population import MOST, PeopleCount, at_least, at_most, people_count
from sottovoce.aggregator.estimators.intervals import score_cc

COIN, WARNER, NONE = (0.75, 0.25), (2 / 3, 1 / 3), (1.0, 0.0)


@pytest.mark.parametrize(("a", "b"), [COIN, WARNER, (0.9, 0.2)])
@pytest.mark.parametrize("n", [1, 5, 20, 30])
def test_limits_hold_the_number_at_least_as_often_as_they_say(n: int, a: float, b: float) -> None:
    """For every number of people, over the exact distribution of the reports."""
    found = [people_count(count, n, a, b) for count in range(n + 1)]
    for people in range(n + 1):
        inside = sum(
            _probability(count, people, n, (a, b))
            for count in range(n + 1)
            if found[count].low <= people <= found[count].high
        )
        assert inside >= 0.95


def test_tails_are_those_of_two_sums() -> None:
    """P(X >= 3) with 2 people of 5 under the coin flip, in fractions by hand."""
    a, b = Fraction(3, 4), Fraction(1, 4)
    exact = sum(
        comb(2, i) * a**i * (1 - a) ** (2 - i) * comb(3, j) * b**j * (1 - b) ** (3 - j)
        for i in range(3)
        for j in range(4)
        if i + j >= 3
    )
    assert at_least(3, 2, 5, COIN) == pytest.approx(float(exact), abs=1e-14)
    assert at_least(3, 2, 5, COIN) + at_most(2, 2, 5, COIN) == pytest.approx(1, abs=1e-14)


def test_limits_grow_with_the_reports_and_hold_the_estimate() -> None:
    """More reports that support an option never mean fewer people."""
    found = [people_count(count, 30, *COIN) for count in range(31)]
    assert all(one.low <= two.low and one.high <= two.high for one, two in pairwise(found))
    assert all(each.low <= each.people <= each.high for each in found)


def test_thirty_people_under_the_coin_flip() -> None:
    """What a teacher reads."""
    assert people_count(14, 30, *COIN) == PeopleCount(13, 3, 23, 30)


def test_a_group_is_told_more_narrowly_than_a_sample() -> None:
    """The interval for a population of which the thirty are a sample is wider."""
    found = people_count(14, 30, *COIN)
    low, high = score_cc(14, 30, *COIN, 0.95)
    assert found.high - found.low < 30 * float(high - low)


def test_without_chance_the_number_is_known() -> None:
    """Only the channel is random."""
    assert people_count(7, 30, *NONE) == PeopleCount(7, 7, 7, 30)


@pytest.mark.parametrize("n", [0, MOST + 1])
def test_groups_have_a_size(n: int) -> None:
    """Nobody is no group, and a town is none either."""
    with pytest.raises(ValueError, match="people"):
        people_count(0, n, *COIN)


def _probability(count: int, people: int, n: int, support: tuple[float, float]) -> float:
    above = at_least(count + 1, people, n, support) if count < n else 0.0
    return at_least(count, people, n, support) - above
