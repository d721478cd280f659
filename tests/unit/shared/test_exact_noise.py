"""Exact noise: the agreed bytes give the agreed integers, and it costs the agreed number of bytes."""

import pytest
from sottovoce.shared.exact_noise import ExactNoise

from tests.unit.client.fakes import reading
from tests.vectors.tape import Tape


@pytest.mark.parametrize(
    ("name", "arguments", "data", "value"),
    [
        # A sign, no byte for the rest of one unit, bernoulli_exp(0, 1), then units until one fails.
        ("discrete_laplace", (1, 1), "00 01", 0),  # bernoulli(1, 1 k=1) reads nothing; k = 2 fails: even, no unit
        ("discrete_laplace", (1, 1), "00 00 02 01", 1),  # k = 3 fails on 2: odd, a unit; then none
        ("discrete_laplace", (1, 1), "01 00 02 01", -1),
        ("discrete_laplace", (1, 1), "01 01 00 01", 0),  # negative zero is drawn anew
        ("bernoulli_exp", (2, 1), "01", False),  # whole units first
        ("bernoulli_exp", (0, 5), "04", True),
    ],
)
def test_noise_reads_the_agreed_bytes(name, arguments, data, value):
    """By hand, from the protocol; nothing is left unread."""
    source = reading(bytes.fromhex(data))

    assert getattr(ExactNoise(source), name)(*arguments) == value
    assert not source.rest


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("discrete_laplace", (1, 1), 5.9),
        ("discrete_laplace", (1, 10), 10.8),
        ("discrete_laplace", (11, 10), 15.3),
        ("discrete_gaussian", (1, 1), 19.4),
        ("discrete_gaussian", (100, 1), 18.4),
    ],
)
def test_noise_costs_the_agreed_number_of_bytes(name, arguments, expected):
    """The mean over 4,000 draws of one tape, to its error."""
    tape = Tape("bytes of noise")
    draws = ExactNoise(tape)

    for _ in range(4000):
        getattr(draws, name)(*arguments)

    assert abs(len(tape.taken) / 4000 - expected) < 0.05 * expected


def test_same_bytes_give_the_same_noise():
    """Randomness is an argument and nothing else."""
    one, other = ExactNoise(Tape("twice")), ExactNoise(Tape("twice"))

    assert [one.discrete_gaussian(7, 2) for _ in range(50)] == [other.discrete_gaussian(7, 2) for _ in range(50)]


@pytest.mark.parametrize("bound", [2**32 + 1, 2**200 + 12345])
def test_bounds_beyond_those_of_a_survey_are_drawn(bound):
    """The acceptance of a discrete Gaussian has such bounds."""
    drawn = [ExactNoise(Tape(f"large {seed}")).below(bound) for seed in range(20)]

    assert all(0 <= each < bound for each in drawn)
    assert max(drawn) > bound // 2


@pytest.mark.parametrize(("name", "arguments"), [("discrete_laplace", (0, 1)), ("discrete_gaussian", (1, 0))])
def test_noise_without_a_width_is_refused(name, arguments):
    """It would never end, or be none."""
    with pytest.raises(ValueError, match="fraction above 0"):
        getattr(ExactNoise(Tape("none")), name)(*arguments)
