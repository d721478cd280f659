"""The batch client draws from the same channels as the client on a device."""

import math
from fractions import Fraction
from itertools import chain, repeat

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sottovoce.aggregator.planning.vectorized_randomizers import BATCH, BatchDraws, seeded, simulate
from sottovoce.client.randomizers import RANDOMIZERS
from sottovoce.shared.mechanisms import MECHANISMS, Mechanism
from sottovoce.shared.mechanisms.base import Table
from sottovoce.shared.mechanisms.bits import Bits

from tests.documents import number, one_of, parsed, question, some_of, vector

COIN = {"a": "3/4", "b": "1/4"}
CASES = {
    "binary_rr": (question({"name": "binary_rr", "a": "11/12", "b": "1/6"}), [0, 1]),
    "kary_rr": (one_of(5, {"name": "kary_rr", "odds": "7/2"}), [0, 2, 4]),
    "memoized_rr": (
        question(
            {
                "name": "memoized_rr",
                "permanent": {"name": "coin_flip"},
                "instantaneous": {"name": "warner", "truth": "2/3"},
                "waves": 3,
            }
        ),
        [0, 1],
    ),
    "subset_selection": (one_of(6, {"name": "subset_selection", "odds": "3", "size": 2}), [0, 3, 5]),
    "hadamard_response": (one_of(6, {"name": "hadamard_response", "odds": "3"}), [0, 3, 5]),
    "optimal_unary": (one_of(5, {"name": "optimal_unary", "odds": "3"}), [0, 2, 4]),
    "sampled_option": (some_of(3, {"name": "sampled_option", **COIN}), [0, 5, 7]),
    "bitwise_rr": (some_of(4, {"name": "bitwise_rr", **COIN}, max_choices=2), [0, 6, 9]),
    "rounding_rr": (number("0", "1", "0.1", {"name": "rounding_rr", **COIN}), [0, 3, 10]),
    "level_table": (number(0, 9, 1, {"epsilon": "2"}), [0, 1, 4, 9]),
    "square_wave": (number(0, 9, 1, {"name": "square_wave", "odds": "3", "bins": 5, "width": 1}), [0, 5, 9]),
    "geometric": (number(0, 4, 1, {"name": "geometric", "ratio": "1/2"}), [0, 2, 4]),
    "sampled_coordinate": (vector(2, 0, 4, 1, {"name": "sampled_coordinate", **COIN}), [(0, 4), (1, 3)]),
}
RUNS = 40_000
CRITICAL = 6.0
"""Standard deviations of a chi-square statistic above its mean: about 1 in 10^7 for these sizes; the seed is fixed."""


def excess(mechanism: Mechanism, truth: object, reported: np.ndarray) -> float:
    """How far the reported counts lie from the mechanism's law: chi-square, in its own standard deviations."""
    counts = np.bincount(reported.astype(np.int64), minlength=mechanism.largest + 1)
    admitted = [value for value in range(mechanism.largest + 1) if mechanism.admits(value)]
    assert counts.sum() == counts[admitted].sum(), "a value that no report may carry"
    expected = np.array([float(mechanism.probability(value, truth)) for value in admitted]) * len(reported)
    statistic = ((counts[admitted] - expected) ** 2 / expected).sum()
    freedom = len(admitted) - 1
    return float((statistic - freedom) / (2 * freedom) ** 0.5)


def batch(name: str, truth: object, seed: str, runs: int = RUNS) -> tuple[Mechanism, np.ndarray]:
    mechanism = parsed(CASES[name][0]).mechanism
    assert mechanism is not None
    return mechanism, simulate(mechanism, np.array([truth] * runs), BatchDraws(seeded(seed)))


def test_every_mechanism_can_be_drawn_in_batches_of_any_size() -> None:
    """Of nobody, too."""
    generic = {name for name, made in MECHANISMS.items() if issubclass(made, Table | Bits)}

    assert set(BATCH) | generic == set(RANDOMIZERS) == set(CASES)

    assert len(simulate(parsed(CASES["binary_rr"][0]).mechanism, np.array([], dtype=np.int64), BatchDraws())) == 0


@pytest.mark.parametrize("name", [name for name in CASES if issubclass(MECHANISMS[name], Table)])
def test_any_table_is_drawn_from_its_weights(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table without a function of its own; of several truths at once, each from its row."""
    monkeypatch.delitem(BATCH, name)
    truths = CASES[name][1]
    mechanism, reported = batch(name, truths[0], name)
    assert excess(mechanism, truths[0], reported) < CRITICAL
    mixed = simulate(mechanism, np.array(truths * RUNS), BatchDraws(seeded(name)))
    for place, truth in enumerate(truths):
        assert excess(mechanism, truth, mixed[place :: len(truths)]) < CRITICAL


@pytest.mark.parametrize("name", CASES)
def test_batch_draws_from_the_declared_channel(name: str) -> None:
    """Every truth of every case: the counts fit the exact probabilities."""
    for truth in CASES[name][1]:
        mechanism, reported = batch(name, truth, name)
        assert excess(mechanism, truth, reported) < CRITICAL


@pytest.mark.parametrize("name", ["binary_rr", "kary_rr", "subset_selection"])
def test_fit_catches_another_truth_and_a_biased_channel(name: str) -> None:
    """Reports of another truth, or 3 % of reports that are always the largest value, do not fit."""
    first, other = CASES[name][1][:2]
    mechanism, reported = batch(name, first, "mutant")
    biased = reported.copy()
    biased[: RUNS // 33] = mechanism.largest

    assert excess(mechanism, other, reported) > CRITICAL
    assert excess(mechanism, first, biased) > CRITICAL


def test_seeded_streams_repeat_and_differ() -> None:
    """One seed gives one run; another gives another."""
    runs = [batch("kary_rr", 1, seed, 1000)[1].tolist() for seed in ("a", "a", "b")]

    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize("bound", [1, 2, 3, 200, 256, 257, 65537, 2**31 + 1, 2**32])
def test_below_is_uniform_over_its_whole_range(bound: int) -> None:
    """No value beyond the bound, and eight equal parts of the range equally often."""
    drawn = BatchDraws(seeded(f"below {bound}")).below(bound, 50_000).astype(np.int64)
    parts = np.bincount(drawn * 8 // bound, minlength=8)
    sizes = np.bincount(np.arange(min(bound, 8 * 10**5)) * 8 // min(bound, 8 * 10**5), minlength=8)
    expected = sizes / sizes.sum() * len(drawn)

    assert drawn.min() >= 0
    assert drawn.max() < bound
    assert (np.abs(parts - expected) <= 6 * np.sqrt(expected + 1)).all()


@given(st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50), st.integers(1, 60), st.data())
def test_trials_are_those_of_the_whole_number_however_many_bits_it_takes(going: Fraction, most: int, data) -> None:
    """Also where the first bits, or the first two times as many, are just those of a power of the ratio."""
    power = going ** data.draw(st.integers(1, most))
    known = data.draw(st.integers(0, 2))
    near = int(power * 2 ** (32 * known)) << 32 * (4 - known) | data.draw(st.integers(0, 2 ** (32 * (4 - known)) - 1))
    words = chain((near >> 32 * place & 0xFFFFFFFF for place in (3, 2, 1, 0)), repeat(0))
    number = BatchDraws(lambda _: np.uint32(next(words)).tobytes()).trials(going, most, 1)[0]

    assert number == 1 + sum(Fraction(near, 2**128) < going**j for j in range(1, most))


def test_many_trials_at_once_are_those_of_each_alone() -> None:
    """Prefixes on, beside and between the powers, in one array as one by one."""
    going, most = Fraction(999, 1000), 1000
    edges = [int(going**j * 2**32) for j in range(1, most, 37)]
    prefixes = np.array([edge + off for edge in edges for off in (-1, 0, 1, 40_000)] + [0, 2**32 - 1], dtype=np.uint32)
    bits = chain([prefixes.tobytes()], repeat(bytes(4)))
    numbers = BatchDraws(lambda _: next(bits)).trials(going, most, len(prefixes))

    # A whole number is below a power if it is below the next whole number.
    powers = [math.ceil(going**j * 2**32) for j in range(1, most)]
    expected = [1 + sum(int(prefix) < power for power in powers) for prefix in prefixes]
    assert numbers.tolist() == expected


@given(st.lists(st.integers(1, 52), max_size=9), st.integers(0, 50))
def test_digits_are_below_their_bounds(bounds: list[int], count: int) -> None:
    """However many fit into one number: an array for each bound, in their order."""
    drawn = list(BatchDraws(seeded("digits")).each_below(bounds, count))

    assert [len(each) for each in drawn] == [count] * len(bounds)
    assert all((each < bound).all() for each, bound in zip(drawn, bounds, strict=True))


def test_digits_of_one_number_are_independent_and_uniform() -> None:
    """Every combination of three digits about equally often."""
    digits = list(BatchDraws(seeded("digits")).each_below([3, 4, 5], 60_000))
    cells = np.bincount(np.ravel_multi_index([each.astype(np.int64) for each in digits], (3, 4, 5)), minlength=60)

    assert ((cells - 1000) ** 2 / 1000).sum() < 59 + CRITICAL * (2 * 59) ** 0.5


def test_masks_of_every_size_hold_the_truth_as_often_as_they_ought_to() -> None:
    """Up to the widest mask: as many options as the size says, and every other one equally often."""
    for k, size, truth in ((2, 1, 1), (9, 8, 0), (33, 7, 32), (52, 51, 51), (52, 13, 20)):
        mechanism = parsed(one_of(k, {"name": "subset_selection", "odds": "3", "size": size})).mechanism
        masks = simulate(mechanism, np.full(RUNS, truth), BatchDraws(seeded(f"{k} {size}"))).astype(np.uint64)
        assert (np.bitwise_count(masks) == size).all()
        a, b = map(float, mechanism.support)
        held = (masks[:, None] >> np.arange(k, dtype=np.uint64) & np.uint64(1)).sum(axis=0)
        expected = np.where(np.arange(k) == truth, a, b)
        assert (np.abs(held / RUNS - expected) <= 5 * np.sqrt(expected * (1 - expected) / RUNS) + 1e-12).all()
