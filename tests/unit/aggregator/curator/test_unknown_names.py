"""Unknown names: delta is exact over all neighbours, rare names stay hidden, and common ones have their counts."""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from sottovoce.aggregator.curator.declaration import TextColumn, bits, join_words, split_words, word_count
from sottovoce.aggregator.curator.release import Neighbours, ReleaseTerms
from sottovoce.aggregator.curator.unknown_names import chance, names_histogram, threshold
from sottovoce.shared.exact_noise import ExactNoise

from tests.unit.aggregator.curator.noises import NoNoise
from tests.vectors.tape import Tape

FAR = 40
"""Noise beyond it is one outcome: so far out all ratios are the same."""


def shown(count: int, rate: float, least: int) -> dict[int, float]:
    """The probability of each count that is shown of one name, 0 for none; the ends of the noise are one outcome."""
    a = math.exp(-rate)
    noise = {x: (1 - a) / (1 + a) * a ** abs(x) for x in range(-FAR, FAR)} | {FAR: a**FAR / (1 + a)}
    found = {0: a ** (FAR + 1) / (1 + a)}
    for x, share in noise.items():
        value = min(count + x, FAR)
        key = value if count and value >= least else 0
        found[key] = found.get(key, 0.0) + share
    return found


def hockey_stick(first: tuple[int, ...], second: tuple[int, ...], rate: float, epsilon: float, least: int) -> float:
    """Delta at epsilon of names with these counts, over all outcomes of the names that differ."""
    pairs = [(shown(one, rate, least), shown(other, rate, least))
             for one, other in zip(first, second, strict=True) if one != other]  # fmt: skip
    outcomes = product(*({*p, *q} for p, q in pairs))
    return math.fsum(
        max(
            math.prod(p.get(x, 0) for x, (p, _) in zip(each, pairs, strict=True))
            - math.exp(epsilon) * math.prod(q.get(x, 0) for x, (_, q) in zip(each, pairs, strict=True)),
            0,
        )
        for each in outcomes
    )


def neighbours(counts: tuple[int, ...], relation: Neighbours) -> Iterator[tuple[int, ...]]:
    """Counts of three names with one record more or less, or with one that has another name."""
    steps = np.eye(3, dtype=int)
    for more in steps:
        if relation is Neighbours.ADD_REMOVE:
            yield from (tuple((np.array(counts) + sign * more).tolist()) for sign in (1, -1))
        else:
            yield from (tuple((np.array(counts) + more - less).tolist()) for less in steps)


@pytest.mark.parametrize("relation", Neighbours)
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1, Fraction(1, 10)), (2, Fraction(1, 1000)), (Fraction(1, 5), Fraction(2, 5))]
)
def test_delta_is_exact_over_all_neighbours(relation: Neighbours, epsilon: Fraction, delta: Fraction) -> None:
    """The stated probability is the largest hockey-stick, reached where a name of one record comes or goes."""
    rate = Fraction(epsilon) / relation.of(1, 2)
    least = threshold(rate, delta)
    found = max(
        hockey_stick(counts, other, float(rate), float(epsilon), least)
        for counts in product(range(4), repeat=3)
        for other in neighbours(counts, relation)
        if min(other) >= 0
    )

    assert found == pytest.approx(chance(rate, least), rel=1e-9)
    assert found <= delta
    assert least == 2 or chance(rate, least - 1) > delta


def encoded(texts: list[str], longest: int = 20) -> np.ndarray:
    column = TextColumn(longest)
    return np.array([split_words(column.place(text).value, word_count(column.largest)) for text in texts])


def test_common_names_are_shown_and_rare_ones_are_not() -> None:
    towns = ["Zürich"] * 500 + ["Bern; old town"] * 200 + [f"hamlet {n}" for n in range(300)]
    found = names_histogram(encoded(towns), ReleaseTerms(Fraction(1)), ExactNoise(Tape("towns")), Fraction(1, 10**9))

    assert list(found.values["counts"]) == ["Zürich", "Bern; old town"]
    assert found.values["counts"]["Zürich"] == pytest.approx(500, abs=30)
    assert (found.charge.epsilon, found.charge.delta, found.charge.rho) == (1, Fraction(1, 10**9), None)


@pytest.mark.parametrize(("relation", "rate"), [(Neighbours.REPLACE, (1, 2)), (Neighbours.ADD_REMOVE, (1, 1))])
def test_each_name_that_occurs_has_noise(relation: Neighbours, rate: tuple[int, int]) -> None:
    draws, terms = NoNoise(), ReleaseTerms(Fraction(1), relation)

    assert names_histogram(encoded(["a", "b", "b"]), terms, draws, Fraction(1, 100)).values["counts"] == {}
    assert draws.asked == [rate] * 2
    assert names_histogram(encoded(["a"])[:0], terms, draws, Fraction(1, 100)).values["counts"] == {}


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 2), Fraction(-1)])
def test_delta_out_of_range_is_refused(delta: Fraction) -> None:
    """Without one, no name that is not declared can be shown."""
    with pytest.raises(ValueError, match="a delta between 0 and 1/2"):
        threshold(Fraction(1), delta)


@pytest.mark.parametrize(
    ("text", "kept"),
    [("Zürich", True), (" Bern ", True), ("", True), ("x" * 21, False), ("ü" * 11, False), ("a\x1b[2Jb", False)],
)
def test_text_is_cut_and_printable(text: str, kept: bool) -> None:
    """To whole characters of so many bytes; nothing in it moves a terminal's cursor."""
    column = TextColumn(20)
    value, fits = column.place(text)
    words = split_words(value, word_count(column.largest))
    back = join_words(words).to_bytes(20, "little").rstrip(b"\0").decode()

    assert fits is kept
    assert back.isprintable()
    assert (back == text.strip()) is kept
    assert [int(bits(np.array([words]), place)[0]) for place in (0, 60)] == [value & 1, value >> 60 & 1]
