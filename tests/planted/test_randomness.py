"""Sources and draws that are not as agreed are found, whatever statistics would say."""

import random
from fractions import Fraction
from typing import Any

import pytest
from sottovoce.audit import randomness
from sottovoce.audit.check import FAILED, PASSED
from sottovoce.audit.python_code import check_python, check_written, plan
from sottovoce.audit.randomness import check_source
from sottovoce.client import draws
from sottovoce.client.draws import Draws
from sottovoce.client.randomizers import RANDOMIZERS
from sottovoce.shared.mechanisms.binary_rr import BinaryRR

from tests.surveys import survey

ONE = survey()
COIN = survey(questions=ONE.document["questions"][:1])
_SEEDED = random.Random(1)  # noqa: S311 - planted
_EXACTLY = Draws.exactly


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other programs are started once, below; they know nothing of what is planted here."""
    monkeypatch.setattr(randomness, "begin_programs", lambda: ())


def test_source_and_draws_pass() -> None:
    assert [check.outcome for check in check_source()] == [PASSED, PASSED]


def test_two_programs_draw_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real ones are asked; alike they would be found."""
    monkeypatch.undo()
    assert len(set(randomness._ids_of(randomness.begin_programs()))) == 2
    monkeypatch.setattr(randomness, "begin_programs", lambda: ())
    monkeypatch.setattr(randomness, "_ids_of", lambda _programs: ["a", "a"])
    assert check_source()[0].message == "two programs, or a program and its fork, draw the same"


def seeded(self: Draws, count: int) -> bytes:
    """Statistically perfect."""
    _EXACTLY(self, count)
    return _SEEDED.randbytes(count)


def hoarding(self: Draws, count: int) -> bytes:
    """More is read than is used."""
    return _EXACTLY(self, count + 1)[:count]


def half(self: Draws, bound: int) -> int:
    """Without rejection: some numbers are likelier."""
    bits = (bound - 1).bit_length()
    return int.from_bytes(self.exactly((bits + 7) // 8)) % bound if bits else 0


def later(self: Draws, weights: Any) -> int:
    return len(weights) - 1 - Draws.below(self, len(weights))


@pytest.mark.parametrize(
    ("name", "fault", "words"),
    [
        ("exactly", seeded, "not what the system's source gave"),
        ("exactly", hoarding, "not what the system's source gave"),
        ("below", half, "a draw is not what its bytes say"),
        ("pick", later, "weights are not drawn from as agreed"),
        ("below", lambda _self, _bound: None, "a draw is not what its bytes say"),
        ("identity", lambda _self: 1 / 0, "its draws cannot be followed"),
    ],
)
def test_planted_draws_are_found(monkeypatch: pytest.MonkeyPatch, name: str, fault: Any, words: str) -> None:
    monkeypatch.setattr(Draws, name, fault)
    assert any(words in check.message for check in check_source() if check.outcome == FAILED)


@pytest.mark.parametrize("fallen", [OSError, ValueError])
def test_draws_without_a_source_are_found(monkeypatch: pytest.MonkeyPatch, fallen: type[Exception]) -> None:
    """Another generator where the system's fails, or where it gives too few bytes."""

    def going_on(self: Draws, count: int) -> bytes:
        try:
            return _EXACTLY(self, count)
        except fallen:
            return _SEEDED.randbytes(count)

    monkeypatch.setattr(Draws, "exactly", going_on)
    assert check_source()[0].message == "it draws although the system gives no bytes, or too few"


def test_another_default_source_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that hands on the system's bytes is another object all the same."""
    monkeypatch.setattr(draws.Draws.__init__, "__defaults__", (lambda count: draws.secrets.token_bytes(count or 0),))
    assert check_source()[0].message == "the default source is another object than secrets.token_bytes"


def test_other_running_table_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The law is not taken from the table that runs: a coin of .8 under a survey that says .75."""
    monkeypatch.setattr(BinaryRR, "weights", lambda _self, value: ((4, 1), (1, 4))[value])
    monkeypatch.setattr(BinaryRR, "likelihood_ratio", Fraction(4))
    task = plan(COIN.questions[0])
    assert task is not None
    assert check_python(task).message == "another distribution than the survey's is drawn from"


def test_other_parameters_than_written_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that reads another number than the survey's."""
    assert check_written(ONE).outcome == PASSED
    monkeypatch.setattr(BinaryRR, "dump", lambda _self: {"name": "binary_rr", "a": "4/5", "b": "1/5"})
    assert check_written(ONE).outcome == FAILED


def tells_by_reading(mechanism: Any, value: int, given: Draws) -> int:
    """The right law; one byte more where the coin told the truth."""
    drawn = given.pick(mechanism.weights(value))
    if drawn == value:
        given.below(256)
    return drawn


def reads_beside(mechanism: Any, value: int, given: Draws) -> int:
    """A byte that no draw has asked for."""
    draws.secrets.token_bytes(1)
    return given.pick(mechanism.weights(value))


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (tells_by_reading, "what is read depends on what is reported"),
        (reads_beside, "its draws cannot be followed"),
        (lambda *_: None.nothing, "its draws cannot be followed"),  # type: ignore[attr-defined]
    ],
)
def test_reads_beside_a_report_are_found(monkeypatch: pytest.MonkeyPatch, fault: Any, words: str) -> None:
    """What is read, jointly with what is reported; and code that stops has failed."""
    monkeypatch.setitem(RANDOMIZERS, "binary_rr", fault)
    task = plan(COIN.questions[0])
    assert task is not None
    assert check_python(task).message == words
