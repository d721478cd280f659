"""Which items are shown: conditions at their bounds."""

import pytest
from sottovoce.shared.visibility import Condition, is_shown


@pytest.mark.parametrize(("value", "held"), [(1, False), (2, True), (3, True), (5, True), (6, False)])
def test_range_holds_with_both_its_ends(value: int, held: bool) -> None:
    """The first and the last step belong to it."""
    assert Condition("age", span=(2, 5)).holds(value) is held


def test_one_of_several_options_is_enough() -> None:
    """By equality for one option, by its bit where several may be chosen."""
    assert [Condition("q", options=(0, 2)).holds(value) for value in range(4)] == [True, False, True, False]
    assert [Condition("q", options=(1,), mask=True).holds(value) for value in range(4)] == [False, False, True, True]


def test_all_conditions_must_hold_and_none_does_without_an_answer() -> None:
    """What is hidden or refused shows nothing further."""
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
