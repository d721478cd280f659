"""Tapes lead the real randomizers, through the real draws, to whatever report is wanted."""

import io
from functools import partial
from typing import Any

import pytest
from sottovoce.audit.exact_channel import inputs_of
from sottovoce.audit.steering import Steering
from sottovoce.client.draws import Draws
from sottovoce.client.question_sample import draw_asked
from sottovoce.client.randomizers import RANDOMIZERS
from sottovoce.shared.mechanisms.base import Mask
from sottovoce.shared.spec import Question

from tests import documents
from tests.surveys import every_type, survey

EVERY = survey(name="every", questions=every_type())
PRIVATE = [question for question in EVERY.questions if question.mechanism is not None]
SOUGHT = [
    documents.parsed(documents.number(0, 40, 1, {"name": "geometric", "ratio": "9/10"})),
    documents.parsed(documents.some_of(16, {"name": "bitwise_rr", "a": "3/5", "b": "2/5"}, max_choices=2)),
    documents.parsed(documents.one_of(30, {"name": "subset_selection", "odds": "3", "size": 8})),
]


def steering(question: Question) -> tuple[Any, Steering]:
    """A question's randomizer, and the ways through it."""
    assert question.mechanism is not None
    run = partial(RANDOMIZERS[question.mechanism.name], question.mechanism)
    return run, Steering(run, isinstance(question.mechanism, Mask))


@pytest.mark.parametrize("question", PRIVATE, ids=lambda question: question.name)
def test_tape_leads_to_the_report(question: Question) -> None:
    """From every truth to every report, by several ways, and no byte is left over."""
    run, ways = steering(question)
    reports = [y for y in range(question.largest + 1) if question.admits(y)][:12]
    for value in inputs_of(question, 9):
        for reported in reports:
            for turn in (0, 1, 5):
                tape = ways.tape(value, reported, turn)
                assert tape is not None
                source = io.BytesIO(tape)
                assert (run(value, Draws(source.read)), source.read()) == (reported, b"")


@pytest.mark.parametrize("question", SOUGHT, ids=["geometric", "bits", "subset"])
def test_ways_that_are_too_many_are_sought(question: Question) -> None:
    """One is found though there are millions."""
    run, ways = steering(question)
    size = question.largest.bit_count()
    masks = [sum(1 << (start + 2 * place) % 30 for place in range(size)) for start in (0, 7)]
    reports = [mask for mask in masks if question.admits(mask)] or [0, question.largest // 3, question.largest]
    first, last, *_ = inputs_of(question, 2)
    for value in (first, last):
        assert not ways.walks(value)
        for reported in reports:
            tape = ways.tape(value, reported)
            assert tape is not None
            assert run(value, Draws(io.BytesIO(tape).read)) == reported


def test_what_cannot_be_reported_has_no_tape() -> None:
    """A value outside the range."""
    _, ways = steering(EVERY.questions[0])
    assert ways.tape(0, 2) is None


def test_set_of_questions_can_be_chosen() -> None:
    """Under ``ask``."""
    asked = survey(ask=1)
    ways = Steering(lambda _, draws: draw_asked(asked, draws))
    for places in ((0, 2), (1, 2)):
        tape = ways.tape(0, places)
        assert tape is not None
        assert draw_asked(asked, Draws(io.BytesIO(tape).read)) == places
