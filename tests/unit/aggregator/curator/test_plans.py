"""A plan is charged whole, by optimal composition, before the first answer; everything else adds up beside it."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from sottovoce.aggregator.curator.budget import Budget, spent
from sottovoce.aggregator.curator.ledger.ledger_format import (
    BudgetTerms,
    ReleaseEntry,
    ReleaseLedger,
    plan_epsilon,
    plans_in,
)
from sottovoce.aggregator.curator.release import Charge
from sottovoce.aggregator.curator.text_report import budget_document, budget_lines
from sottovoce.shared.errors import BudgetExhausted, SpecError, StorageError

from tests.unit.aggregator.curator.test_budget import TERMS, drawn, opened, path_of, question

TWENTIETH, MILLIONTH = Fraction(1, 20), Fraction(1, 10**6)
SMALL = Charge(TWENTIETH)


@pytest.fixture
def planned(tmp_path: Path) -> Budget:
    """A budget of (1, 1e-6), all of which is a plan of 26 answers."""
    found = opened(tmp_path, terms=_of(1))
    found.open_plan(26, TWENTIETH)
    return found


def _of(epsilon: int) -> BudgetTerms:
    return replace(TERMS, epsilon=Fraction(epsilon))


def test_twenty_six_answers_cost_less_than_one(planned: Budget) -> None:
    """Where the sum allows 20; the 27th costs what is not left, and the whole delta is the plan's."""
    assert plan_epsilon(26, TWENTIETH, MILLIONTH) < 1 < plan_epsilon(27, TWENTIETH, MILLIONTH)
    for number in range(26):
        answered = planned.ask(question(number), drawn(SMALL))
        assert (answered.entry.plan, answered.spent.epsilon) == (1, plan_epsilon(26, TWENTIETH, MILLIONTH))
    with pytest.raises(BudgetExhausted, match=r"0\.05 is asked for, and 0\.00102737 of 1 is left"):
        planned.ask(question(26), drawn(SMALL))
    assert planned.ask(question(3), drawn(SMALL)).again
    assert (plans_in(planned.read())[0].used, len(planned.read().entries)) == (26, 27)


@pytest.mark.parametrize(("answers", "most"), [(20, "1"), (26, "1"), (720, "6.829"), (10_000, "44")])
def test_total_is_never_above_the_sum(answers: int, most: str) -> None:
    """And far below it for many answers; without a delta it is the sum."""
    found = plan_epsilon(answers, TWENTIETH, MILLIONTH)
    assert found <= min(Fraction(most), answers * TWENTIETH)
    assert plan_epsilon(answers, TWENTIETH, Fraction(0)) == answers * TWENTIETH


def test_total_keeps_its_delta_by_the_definition() -> None:
    """For few answers all 2^k outcomes of the worst mechanism are summed, with exact fractions of e^epsilon."""
    odds = Fraction(3)
    epsilon = Fraction(1.0986122886681098)  # the float above ln 3
    for answers, delta in product((1, 2, 5), (Fraction(1, 100), Fraction(1, 7))):
        total = plan_epsilon(answers, epsilon, delta)
        power = _power(total)
        excess = Fraction(0)
        for outcome in product((0, 1), repeat=answers):
            likelier = sum(outcome)
            p = odds**likelier / (1 + odds) ** answers
            excess += max(p - power * odds ** (answers - likelier) / (1 + odds) ** answers, Fraction(0))
        assert excess <= delta + Fraction(1, 10**12)
        assert excess > delta - Fraction(1, 10**6) or total == epsilon


def _power(exponent: Fraction) -> Fraction:
    """E to this power, by 60 terms of its series."""
    found, term = Fraction(1), Fraction(1)
    for step in range(1, 60):
        term = term * exponent / step
        found += term
    return found


def test_everything_outside_of_a_plan_adds_up(tmp_path: Path) -> None:
    """Another epsilon, a delta, and the answer after the last one are charged to what the plan leaves."""
    found = opened(tmp_path)  # epsilon 2
    cost = found.open_plan(2, TWENTIETH, MILLIONTH / 2).spent.epsilon
    for number, (charge, epsilon) in enumerate(
        [
            (SMALL, Fraction(0)),
            (Charge(Fraction(1, 10)), Fraction(1, 10)),
            (SMALL, Fraction(0)),
            (SMALL, TWENTIETH),
            (Charge(TWENTIETH, MILLIONTH / 8), TWENTIETH),
        ]
    ):
        cost += epsilon
        answered = found.ask(question(number), drawn(charge))
        assert (answered.spent.epsilon, answered.entry.plan) == (cost, None if epsilon else 1)
    with pytest.raises(BudgetExhausted, match="delta"):
        found.ask(question(9), drawn(Charge(TWENTIETH, MILLIONTH / 4)))


def test_plans_are_opened_before_the_first_answer(tmp_path: Path) -> None:
    """Several may be; what they reserve depends on no answer. Asking for one again costs nothing."""
    found = opened(tmp_path)
    first = found.open_plan(3, TWENTIETH, MILLIONTH / 2)
    found.open_plan(4, Fraction(1, 10))
    assert found.open_plan(3, TWENTIETH, MILLIONTH / 2).again
    assert found.open_plan(4, Fraction(1, 10)).again
    found.ask(question(1), drawn())
    assert found.open_plan(3, TWENTIETH, MILLIONTH / 2).entry == first.entry
    with pytest.raises(StorageError, match="before the first answer"):
        found.open_plan(5, TWENTIETH)
    assert [plan.used for plan in plans_in(found.read())] == [0, 1]


@pytest.mark.parametrize(
    ("answers", "epsilon", "delta", "error", "message"),
    [
        (0, TWENTIETH, None, SpecError, "1 to 10,000 answers"),
        (10_001, TWENTIETH, None, SpecError, "1 to 10,000 answers"),
        (3, Fraction(1), Fraction(0), BudgetExhausted, "costs epsilon 3 and delta 0, and 2 and 1e-06 are left"),
        (3, TWENTIETH, Fraction(1, 10), BudgetExhausted, "nothing was charged"),
    ],
)
def test_plan_that_cannot_be_paid_is_refused(
    tmp_path: Path, answers: int, epsilon: Fraction, delta: Fraction | None, error: type[Exception], message: str
) -> None:
    """Nothing is charged."""
    found = opened(tmp_path)
    with pytest.raises(error, match=message):
        found.open_plan(answers, epsilon, delta)
    assert spent(found.read()).epsilon == 0


def test_forged_answer_of_a_plan_is_refused(planned: Budget) -> None:
    """One too many, a dearer one, one of no plan, and a plan after an answer: this software writes none of them."""
    planned.ask(question(1), drawn(SMALL))
    ledger = planned.read()
    plan, answer = ledger.entries
    for entries in (
        [plan, *[answer] * 27],
        [plan, ReleaseEntry(2, {"verb": "count"}, Charge(Fraction(1, 2)), {}, 1)],
        [plan, ReleaseEntry(2, {"verb": "count"}, SMALL, {}, 2)],
        [ReleaseEntry(1, {"verb": "count"}, SMALL, {}), plan],
    ):
        with pytest.raises(StorageError):
            spent(ReleaseLedger(ledger.terms, entries, ledger.heads))


def test_budget_shows_its_plans(planned: Budget) -> None:
    """With what they cost and how many answers they gave."""
    planned.ask(question(1), drawn(SMALL))
    lines = "\n".join(budget_lines(budget_document(planned.read())))
    assert "Plan, entry 1: 26 answers of epsilon 0.05 for 0.998973 in all, paid whole; 1 given." in lines
    assert "2. epsilon 0.05 (of plan 1)" in lines
    assert json.loads(path_of(planned).read_bytes().splitlines()[-1])["plan"] == 1
