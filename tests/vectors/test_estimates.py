"""The estimators against vectors that were computed from the published formulas in exact arithmetic."""

import json
from importlib.resources import files
from typing import Any

import pytest
from sottovoce.aggregator.estimators import estimate
from sottovoce.shared.answers import Domain
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.mechanisms import MECHANISMS

from tests.documents import parsed
from tests.vectors.cases import GOOD

VECTORS = [
    (name, vector)
    for name in MECHANISMS
    for vector in json.loads(files("sottovoce.shared").joinpath("vectors", name, "estimate.json").read_text())
]


def differences(vector: dict[str, Any], scale: float = 1.0) -> list[float]:
    """How far each figure lies from the expected one, in units of the possible range."""
    question = parsed(vector["question"])
    tally = {int(value): count for value, count in vector["tally"].items()}
    found = {e.option: e for e in estimate(question.mechanism, tally, question.domain)}
    gaps = []
    for option, *expected in vector["estimates"]:
        share = found[option]
        figures = (share.raw, share.std_error, share.low, share.high)
        for figure, text in zip(figures, expected, strict=False):
            assert (figure is None) == (text is None)
            if figure is not None:
                gaps.append(abs(scale * figure - float(text)) / (share.highest - share.lowest))
    return gaps


@pytest.mark.parametrize(("name", "vector"), VECTORS)
def test_estimates_are_those_of_the_formulas(name: str, vector: dict[str, Any]) -> None:
    """Every figure to 1e-12 of the range; maximum likelihood to its stopping rule."""
    assert max(differences(vector)) <= (1e-5 if name == "square_wave" else 1e-12)


def test_the_comparison_catches_a_change_in_the_tenth_digit() -> None:
    _, vector = VECTORS[0]

    assert max(differences(vector, scale=1 + 1e-10)) > 1e-12


def test_impossible_tallies_are_refused() -> None:
    impossible = {
        "binary_rr": [{1: -1}, {1: 1.5}],
        "kary_rr": [{0: -1}],
        "memoized_rr": [{1: -1}, {1: 1.5}],
        "subset_selection": [{0: 2, 2: 1}, {2: -1}],
        "hadamard_response": [{4: 1}, {0: -1}],
        "optimal_unary": [{0: 2, 3: 1}, {1: -1}],
        "sampled_option": [{1: -1}],
        "bitwise_rr": [{0: 2, 2: 1}],
        "rounding_rr": [{2: 1}, {0: -1}],
        "level_table": [{9: 1}, {0: -1}],
        "square_wave": [{99: 1}, {0: -1}],
        "geometric": [{9: 1}, {0: -1}],
        "sampled_coordinate": [{0: -1}],
    }
    assert set(impossible) == set(MECHANISMS)
    for name, tallies in impossible.items():
        question = parsed(GOOD[name][0][0])
        for tally in tallies:
            with pytest.raises(EstimateError):
                estimate(question.mechanism, tally, question.domain)


def test_domain_without_a_grid_is_refused() -> None:
    question = parsed(VECTORS[-1][1]["question"])
    with pytest.raises(EstimateError):
        estimate(question.mechanism, {}, Domain(("a", "b")))
