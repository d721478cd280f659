"""From answers to true values; which items are shown, and what goes with the receipt."""

from typing import Any

import pytest
from sottovoce.aggregator.planning.lint import oldest_release
from sottovoce.client.terminal.receipt import show_receipt
from sottovoce.shared.completion import ending
from sottovoce.shared.errors import AnswerError
from sottovoce.shared.report import Report, dump_report
from sottovoce.shared.visibility import Condition, is_shown

from tests.absences import COIN, asks
from tests.documents import day, number, one_of, parsed, problems_of, question, some_of, survey, vector
from tests.vectors.items import screened

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


def test_encoded_values_are_exact_and_know_no_order():
    """Three steps of a tenth are .3; a mask is of a set."""
    asked = QUESTIONS["decimal"]

    assert [asked.encode(text) for text in ("0", "0.1", "0.2", "0.3", "0.7", "1")] == [0, 1, 2, 3, 7, 10]

    asked = QUESTIONS["select_multiple"]

    assert 0b101 == asked.encode(["c0", "c2"]) == asked.encode(("c2", "c0"))
    assert asked.encode([]) == 0


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


@pytest.mark.parametrize(("value", "held"), [(1, False), (2, True), (3, True), (5, True), (6, False)])
def test_range_holds_with_both_its_ends(value: int, held: bool) -> None:
    assert Condition("age", span=(2, 5)).holds(value) is held


def test_any_option_of_each_condition_is_enough_and_all_must_hold() -> None:
    assert [Condition("q", options=(0, 2)).holds(value) for value in range(4)] == [True, False, True, False]
    assert [Condition("q", options=(1,), mask=True).holds(value) for value in range(4)] == [False, False, True, True]

    both = (Condition("a", options=(1,)), Condition("b", options=(0,)))

    assert is_shown((), (), {})
    assert is_shown(both, (), {"a": 1, "b": 0})
    assert not is_shown(both, (), {"a": 1, "b": 1})
    assert not is_shown(both, (), {"a": 1})


def test_one_condition_of_any_of_is_enough_beside_all_of_the_others() -> None:
    """An answer that is absent is none of them."""
    first, second, third = (Condition(name, options=(1,)) for name in "abc")

    assert is_shown((), (first, second), {"b": 1})
    assert not is_shown((), (first, second), {"a": 0})
    assert not is_shown((), (first, second), {})
    assert is_shown((third,), (first, second), {"a": 1, "c": 1})
    assert not is_shown((third,), (first, second), {"a": 1, "b": 1})


OUT = "https://h.example/out"


def mistakes(when: object) -> list[tuple[str, str]]:
    asked = [asks("boolean", "student", public=True), asks("boolean", "smokes", mechanism=COIN)]
    return problems_of(survey(*asked, after={"link": OUT, "screen_out": {"when": when, "link": OUT}}))


def test_private_question_is_refused_with_the_reason() -> None:
    """Also beside a public one."""
    [(pointer, message)] = mistakes({"student": "no", "smokes": "yes"})
    assert pointer == "/after/screen_out/when/smokes"
    assert "would give that answer away" in message


@pytest.mark.parametrize("when", [{}, "student", {"other": "yes"}, {"student": "maybe"}])
def test_other_mistakes_are_found(when: Any) -> None:
    assert len(mistakes(when)) == 1


@pytest.mark.parametrize(
    ("values", "is_out"),
    [((0, 2, 0, 0), True), ((0, 2, 2, 1), True), ((1, 2, 0, 0), False), ((0, 4, 0, 0), False), ((0, 2, 1, 0), False)],
)
def test_end_follows_from_public_values(
    values: tuple[int, ...], is_out: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of its conditions must hold, and the private value has no say; the terminal shows that end."""
    asked = screened()
    assert ("link" in ending(asked, values)) == is_out
    body = dump_report(Report(asked.name, asked.digest, 0, "0" * 32, values), asked).decode()
    show_receipt(asked, {"body": body, "sha256": "", "report_id": "", "digest": ""}, as_json=False)
    assert (OUT in capsys.readouterr().err) == is_out


def test_only_this_release_can_answer_it() -> None:
    found = oldest_release(screened())
    assert found[1] == ["screen_out"]
