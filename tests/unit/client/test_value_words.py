"""Reported values in words: every one that can be reported, as the page tells it."""

import itertools

import pytest
from sottovoce.client.value_words import answered_in_words, reported_in_words
from sottovoce.client.words import text_of
from sottovoce.shared.rational import parse_decimal

from tests.property.channels import truths
from tests.surveys import every_type, survey

ASKED = survey(name="every", questions=every_type())
QUESTIONS = {question.name: question for question in ASKED.questions}


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_reported_value_has_words_of_its_own(name):
    """No two values read alike, so that a receipt tells exactly what was sent."""
    question = QUESTIONS[name]
    values = [value for value in range(question.largest + 1) if question.admits(value)]
    told = {reported_in_words(ASKED, question, value) for value in values}

    assert len(told) == len(values)
    assert all(told)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("ever", 1, "Yes"), ("where", 2, "Cocaine"), ("why", 0b101, "Work; Family"), ("first", 0, "none of them"),
        ("which", 3, "Cannabis: Yes"), ("days", 1, "high"), ("spent", 1, "mark 2 of 5"), ("far", 3, "1.5"),
        ("compass", 2, "Closed (-1) to open (1): low"), ("town", 15, "mark 16 of 16"), ("height", 121, "1.71"),
        ("ever", None, "-"),
    ],
)  # fmt: skip
def test_reported_value_is_told_as_the_page_tells_it(name, value, words):
    assert reported_in_words(ASKED, QUESTIONS[name], value) == words


def test_ranges_of_the_square_wave_lie_side_by_side():
    question = QUESTIONS["weekly"]
    told = [reported_in_words(ASKED, question, value).split(" to ") for value in range(question.largest + 1)]
    ends = [(parse_decimal(range_[0]), parse_decimal(range_[-1])) for range_ in told]
    within = [pair for pair in ends if 0 <= pair[0] <= 10]

    assert (within[0][0], within[-1][1], len(within)) == (0, 10, 7)
    assert all(after[0] - before[1] == question.domain.grid.step for before, after in itertools.pairwise(ends))


@pytest.mark.parametrize("name", ["compass", "which", "far"])
def test_true_values_of_invented_people_have_words(name):
    question = QUESTIONS[name]
    assert len({answered_in_words(ASKED, question, value) for value in truths(question)}) == len(truths(question))


def test_text_gives_a_terminal_no_orders():
    """8-bit control sequences and marks that turn the direction are shown as what they are not."""
    assert text_of(ASKED, {"en": "a\x9bb\u202ec\nd\u2066\x7f"}) == "a\ufffdb\ufffdc\nd\ufffd\ufffd"
    assert text_of(ASKED, {"en": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"}) == "می\u200cخواهم"
