"""From answers to true values."""

import pytest
from sottovoce.shared.errors import AnswerError

from tests.documents import day, number, one_of, parsed, question, some_of, vector

EPSILON = {"epsilon": "1"}
SENTINEL = "sentinel_7731"

TYPES = {
    "boolean": question(EPSILON),
    "select_one": one_of(3, EPSILON),
    "rating": one_of(3, EPSILON, "rating"),
    "select_multiple": some_of(3, EPSILON, max_choices=2),
    "integer": question(EPSILON, "integer", min=0, max=10),
    "decimal": number("0", "1", "0.1", EPSILON),
    "date": day("2000-01-01", "2000-01-11", EPSILON),
    "vector": vector(2, "0", "1", "0.1", EPSILON),
}
QUESTIONS = {name: parsed(document) for name, document in TYPES.items()}


def test_three_tenths_is_three_steps_of_a_tenth():
    """0.3 / 0.1 is 3, not 2.9999999999999996."""
    asked = QUESTIONS["decimal"]

    assert [asked.encode(text) for text in ("0", "0.1", "0.2", "0.3", "0.7", "1")] == [0, 1, 2, 3, 7, 10]


BAD = [
    SENTINEL, [SENTINEL], {"x0": SENTINEL, "x1": "0"}, {SENTINEL: "0", "x1": "0"}, 77317731, -7731, 7731.5, "77.31",
    None, float("nan"), float("inf"), True, b"yes", object(), ["c0", "c1", "c2"],
]  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
def test_bad_answer_is_refused_without_being_repeated(name):
    """The message names the question and the rule; nothing in the chain of errors holds the answer."""
    for answer in BAD:
        with pytest.raises(AnswerError, match="question 'q'") as caught:
            QUESTIONS[name].encode(answer)
        assert "7731" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("boolean", [0, 1], [-1, 2, True, "1", 1.0, None, (0, 1)]),
        ("select_one", [0, 2], [3]),
        ("select_multiple", [0, 0b101, 0b110], [-1, 0b111, 0b1000, (0,)]),
        ("integer", [0, 10], [11, -1]),
        ("decimal", [0, 10], [11]),
        ("date", [0, 10], [-1, 11, True, 0.5, (0,), "2000-01-01", None]),
        ("vector", [(0, 10), (5, 5)], [(0,), (0, 11), (0, -1), (0, True), [0, 0], 0, (0, 0, 0)]),
    ],
)
def test_holds_knows_the_domain(name, inside, outside):
    """A value from outside, handed to a randomizer, would cost more than the declared epsilon."""
    asked = QUESTIONS[name]

    assert all(asked.kind.holds(asked.domain, value) for value in inside)
    assert not any(asked.kind.holds(asked.domain, value) for value in outside)


def test_mask_does_not_depend_on_the_order_of_options():
    """A list of options is a set."""
    asked = QUESTIONS["select_multiple"]

    assert 0b101 == asked.encode(["c0", "c2"]) == asked.encode(("c2", "c0"))
    assert asked.encode([]) == 0
