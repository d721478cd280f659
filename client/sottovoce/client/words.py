"""The odds of a channel in plain words, derived from its integers."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sottovoce.shared.mechanisms.geometric import Geometric
from sottovoce.shared.mechanisms.kary_rr import KaryRR
from sottovoce.shared.mechanisms.level_table import LevelTable
from sottovoce.shared.mechanisms.sampled_coordinate import SampledCoordinate
from sottovoce.shared.mechanisms.square_wave import SquareWave
from sottovoce.shared.mechanisms.subset_selection import SubsetSelection
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Question


def odds_in_words(question: Question) -> str:
    """A few sentences about what is sent for this question, and its epsilon."""
    if question.mechanism is None:
        return "This answer is sent as you give it."
    sentence = SENTENCES[question.mechanism.name](question.mechanism)
    return f"{sentence} Epsilon {show_epsilon(question.epsilon)}."


def _yes_or_no(mechanism: Any) -> str:  # noqa: ANN401 - any mechanism whose support is that of one bit
    return _two_groups(mechanism, "people whose true answer is yes", "people whose true answer is no", "yes")


def _kary(mechanism: KaryRR) -> str:
    kept, other = mechanism.support
    return (
        f"Of 100 people with the same true answer, {_of_hundred(kept)} send it "
        f"and {_of_hundred(other)} send each of the others."
    )


def _subset(mechanism: SubsetSelection) -> str:
    held, other = mechanism.support
    return (
        f"A set of {mechanism.size} of the {mechanism.options} options is sent. Of 100 people with the same true "
        f"answer, {_of_hundred(held)} send a set that holds it and {_of_hundred(other)} one that holds any given other."
    )


def _hadamard(mechanism: Any) -> str:  # noqa: ANN401 - as above
    own, other = mechanism.support
    return (
        f"One of {mechanism.columns} columns is sent; each belongs to half of the options. Of 100 people with the same "
        f"true answer, {_of_hundred(own)} send a column of it and {_of_hundred(other)} a column of any given other."
    )


def _sampled_option(mechanism: Any) -> str:  # noqa: ANN401 - as above
    return "One option is drawn at random, and the others are not sent at all. " + _bitwise(mechanism, "that option")


def _bitwise(mechanism: Any, option: str = "an option") -> str:  # noqa: ANN401 - as above
    return _two_groups(mechanism, f"people who chose {option}", "people who did not", "yes")


def _rounding(mechanism: Any) -> str:  # noqa: ANN401 - as above
    return 'Only "high" or "low" is sent. ' + _two_groups(
        mechanism, "people with the largest number", "people with the smallest", "high"
    )


def _sampled_coordinate(mechanism: SampledCoordinate) -> str:
    return f"One of the {mechanism.coordinates} numbers is drawn at random. {_rounding(mechanism)}"


def _level_table(mechanism: LevelTable) -> str:
    total = sum(mechanism.rows[0])
    likeliest = max(Fraction(weight, total) for row in mechanism.rows for weight in row)
    return (
        f"One of {mechanism.largest + 1} marks is sent, and each may follow any number. Of 100 people with the same "
        f"number, at most {_of_hundred(likeliest)} send the same mark."
    )


def _square_wave(mechanism: SquareWave) -> str:
    row = mechanism.weights(0)
    near = Fraction(sum(row[: 2 * mechanism.width + 1]), sum(row))
    return (
        f"One of {mechanism.largest + 1} bins is sent. Of 100 people with the same number, {_of_hundred(near)} send "
        "one of the bins around it."
    )


def _geometric(mechanism: Geometric) -> str:
    exact = (1 - mechanism.ratio) / (1 + mechanism.ratio)
    return (
        "Your number is sent with noise, within its range. "
        f"Of 100 people with the same number, {_of_hundred(exact)} draw no noise."
    )


def _two_groups(mechanism: Any, first: str, second: str, sent: str) -> str:  # noqa: ANN401 - as above
    a, b = mechanism.support
    return f"Of 100 {first}, {_of_hundred(a)} send {sent}; of 100 {second}, {_of_hundred(b)} also send {sent}."


def _of_hundred(probability: Fraction) -> str:
    exact = 100 * probability
    if exact.denominator == 1:
        return str(exact)
    # "0" or "100" would claim a certainty that no channel gives.
    return f"about {min(max(round(exact), 1), 99)}"


SENTENCES: dict[str, Callable[[Any], str]] = {
    "binary_rr": _yes_or_no,
    "kary_rr": _kary,
    "subset_selection": _subset,
    "hadamard_response": _hadamard,
    "sampled_option": _sampled_option,
    "bitwise_rr": _bitwise,
    "rounding_rr": _rounding,
    "level_table": _level_table,
    "square_wave": _square_wave,
    "geometric": _geometric,
    "sampled_coordinate": _sampled_coordinate,
}
"""What is sent, in words, by the mechanism's name."""
