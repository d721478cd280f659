"""The laws that an audit computes by itself are those of the mechanisms, and of the registry every one has its own."""

from fractions import Fraction

import pytest
from sottovoce.audit.exact_channel import inputs_of
from sottovoce.audit.reference_distribution import _DISTRIBUTIONS, reference_distribution
from sottovoce.client.randomizers import RANDOMIZERS
from sottovoce.shared.spec import Question

from tests.absences import absences
from tests.surveys import every_type, survey

QUESTIONS = [*survey(name="every", questions=every_type()).questions, *absences().questions]
PRIVATE = [question for question in QUESTIONS if question.mechanism is not None]


@pytest.mark.parametrize("question", PRIVATE, ids=lambda question: question.name)
def test_law_is_the_mechanisms(question: Question) -> None:
    """Two derivations agree, to the last digit; and each row sums to 1."""
    assert question.mechanism is not None
    distribution = reference_distribution(question.mechanism.dump(), question.domain)
    reports = [y for y in range(question.largest + 1) if question.admits(y)]
    for value in inputs_of(question, 20):
        row = [distribution(reported, value) for reported in reports]
        assert row == [question.mechanism.probability(reported, value) for reported in reports]
        assert sum(row, start=Fraction(0)) == 1


def test_every_mechanism_has_its_law() -> None:
    """One that is added to the registry is added here, too."""
    assert set(_DISTRIBUTIONS) == set(RANDOMIZERS)
