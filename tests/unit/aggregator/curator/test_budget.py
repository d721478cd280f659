"""No answer without its entry, no total above the budget, whoever ends or changes what, and whenever."""

import itertools
import json
import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from sottovoce.aggregator.curator.budget import Budget, spent
from sottovoce.aggregator.curator.ledger.ledger_anchor import LedgerAnchor, LedgerFile, LedgerHead
from sottovoce.aggregator.curator.ledger.ledger_format import BudgetTerms
from sottovoce.aggregator.curator.release import Charge, Neighbours, Release
from sottovoce.shared.errors import BudgetExhausted, StorageError

DATA, DECLARED = "d" * 64, "e" * 64
TERMS = BudgetTerms(DATA, DECLARED, Fraction(2), Fraction(1, 10**6), Neighbours.REPLACE, 100)
TENTH = Charge(Fraction(1, 10))


def drawn(charge: Charge = TENTH) -> Callable[[BudgetTerms], Release]:
    """A release whose answer is never twice the same."""
    values = {"count": int.from_bytes(os.urandom(6))}
    return lambda _: Release({}, values, charge, "sensitivity 1", {"t": 3}, ("a note",))


def question(number: int) -> dict[str, Any]:
    """One of many."""
    return {"verb": "count", "cell": number}


@pytest.fixture
def budget(tmp_path: Path) -> Budget:
    """A budget of epsilon 2, opened just now."""
    return opened(tmp_path)


def opened(folder: Path, name: str = "data.csv.budget", terms: BudgetTerms = TERMS) -> Budget:
    """A budget in this folder."""
    (folder / "heads").mkdir(exist_ok=True)
    found = Budget(LedgerFile(folder / name), terms.data, terms.declaration, LedgerAnchor(folder / "heads"))
    found.open(terms)
    return found


def path_of(budget: Budget) -> Path:
    """The file of its ledger."""
    assert isinstance(budget.place, LedgerFile)
    return budget.place.path


def test_answer_is_in_the_ledger_before_it_is_given(budget: Budget) -> None:
    """With its question and charge, and the head knows it."""
    answered = budget.ask(question(1), drawn())

    last = json.loads(path_of(budget).read_bytes().splitlines()[-1])
    assert last["question"] == question(1)
    assert last["charge"] == {"epsilon": "1/10", "delta": "0", "rho": None}
    assert last["answer"] == answered.entry.answer
    assert budget.anchor.get(DATA) == LedgerHead(1, last["hash"])
    assert (answered.again, answered.spent.epsilon) == (False, Fraction(1, 10))
    assert budget.read().terms == TERMS


def test_same_question_has_the_recorded_answer_for_nothing(budget: Budget) -> None:
    """Also when the budget is spent, and however its keys are ordered."""
    first = budget.ask(question(1), drawn())
    for number in range(2, 21):
        budget.ask(question(number), drawn())
    with pytest.raises(
        BudgetExhausted, match=r"0\.1 is asked for, and 0 of 2 is left; nothing was released or charged"
    ):
        budget.ask(question(21), drawn())

    again = budget.ask({"cell": 1, "verb": "count"}, drawn())
    assert again.again
    assert again.entry == first.entry
    assert len(budget.read().entries) == 20


def test_delta_that_was_not_opened_is_refused(budget: Budget) -> None:
    """Nothing is recorded."""
    with pytest.raises(BudgetExhausted, match="asks for a delta"):
        budget.ask(question(1), drawn(Charge(Fraction(1, 10), Fraction(1, 1000))))
    assert budget.read().entries == []


def test_terms_are_fixed_for_good(budget: Budget, tmp_path: Path) -> None:
    """Neither a second budget nor one after the ledger was removed, here or in another folder."""
    budget.ask(question(1), drawn())
    for remove, told in ((lambda: None, "fixed for good"), (path_of(budget).unlink, "restore it")):
        remove()
        with pytest.raises(StorageError, match=told):
            opened(tmp_path)
        with pytest.raises(StorageError, match="restore it"):
            opened(tmp_path, "copy.csv.budget")


def test_declaration_may_be_mended_until_something_was_answered(budget: Budget, tmp_path: Path) -> None:
    """The rest of the terms is fixed from the first moment."""
    mended = replace(TERMS, declaration="f" * 64)
    for other in (replace(mended, epsilon=Fraction(3)), replace(TERMS, delta=Fraction(0))):
        with pytest.raises(StorageError, match="fixed for good"):
            opened(tmp_path, terms=other)
    found = opened(tmp_path, terms=mended)
    assert found.read().terms == mended
    found.ask(question(1), drawn())
    with pytest.raises(StorageError, match="fixed for good"):
        opened(tmp_path)
    with pytest.raises(StorageError, match="the declaration is not the one"):
        budget.read()


def test_opening_that_was_broken_off_is_completed(tmp_path: Path) -> None:
    """The same terms, and no head yet, so that nothing can have been answered; other terms are refused."""
    first = opened(tmp_path)
    line = path_of(first).read_bytes()
    for left in (b"", line[:50], line):
        (tmp_path / "heads" / f"{DATA}.head").unlink()
        path_of(first).write_bytes(left)
        opened(tmp_path)
        assert path_of(first).read_bytes() == line
    first.ask(question(1), drawn())
    (tmp_path / "heads" / f"{DATA}.head").unlink()
    with pytest.raises(StorageError, match="its head is missing"):
        opened(tmp_path)


def lines_of(budget: Budget) -> list[bytes]:
    """With three answers."""
    for number in range(3):
        budget.ask(question(number), drawn())
    return path_of(budget).read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda own: [own[0], own[1].replace(b'"1/10"', b'"1/90"'), *own[2:]], "entry 1 is not what was written"),
        (lambda own: [own[0].replace(b'"2"', b'"9"'), *own[1:]], "entry 0 is not what was written"),
        (lambda own: [own[0], own[1].replace(b'"cell":', b'"cell": '), *own[2:]], "entry 1 is not what was written"),
        (lambda own: [*own[:2], own[3]], "entry 2 does not follow"),
        (lambda own: [own[0], own[2], own[1], own[3]], "entry 1 does not follow"),
        (lambda own: [own[0], own[1], b"{}\n", *own[2:]], "entry 2 is not what was written"),
        (lambda own: [*own, own[1]], "entry 4 does not follow"),
        (lambda own: own[:3], "ends with entry 2, and entry 3 was answered"),
        (lambda own: [*own[:3], own[3][:-5]], "ends with entry 2, and entry 3 was answered"),
        (lambda _: [b"id,year\n"], "entry 0 is not what was written"),
        (lambda _: [], "ledger is empty"),
    ],
)
def test_changed_ledger_says_which_entry(
    budget: Budget, change: Callable[[list[bytes]], list[bytes]], told: str
) -> None:
    """Changed, dropped, swapped, added, cut off, or another file; nothing is answered then, nor told again."""
    path_of(budget).write_bytes(b"".join(change(lines_of(budget))))
    for use in (budget.read, lambda: budget.ask(question(0), drawn())):
        with pytest.raises(StorageError, match=told):
            use()


def test_old_ledger_with_a_branch_of_its_own_is_refused(budget: Budget) -> None:
    """A copy that was put back, and to which somebody else's head then gave as many entries."""
    own = lines_of(budget)
    head = budget.anchor.get(DATA)
    assert head is not None
    path_of(budget).write_bytes(b"".join(own[:3]))
    budget.anchor.note(DATA, LedgerHead(2, json.loads(own[2])["hash"]))
    budget.ask(question(9), drawn())
    budget.anchor.note(DATA, head)
    with pytest.raises(StorageError, match="entry 3 is not the one that its head names"):
        budget.read()


def test_missing_ledger_or_head_is_told(budget: Budget, tmp_path: Path) -> None:
    """A ledger without head may be an old one; a head without ledger says that there was one."""
    head = tmp_path / "heads" / f"{DATA}.head"
    kept = head.read_bytes()
    head.unlink()
    with pytest.raises(StorageError, match="SOTTOVOCE_LEDGER_ANCHOR_DIR"):
        budget.ask(question(1), drawn())
    head.write_bytes(b"1:xyz\n")
    with pytest.raises(StorageError, match="cannot be read"):
        budget.ask(question(1), drawn())
    head.write_bytes(kept)
    path_of(budget).unlink()
    with pytest.raises(StorageError, match="it is missing, and its head says that there was one"):
        budget.ask(question(1), drawn())
    head.unlink()
    with pytest.raises(StorageError, match="there is none for this data set"):
        budget.ask(question(1), drawn())


def test_budget_of_other_data_is_refused(budget: Budget) -> None:
    """Changed data or another declaration are another data set."""
    lines_of(budget)
    other = Budget(budget.place, "a" * 64, DECLARED, budget.anchor)
    with pytest.raises(StorageError, match="budget of another file"):
        other.read()
    with pytest.raises(StorageError, match="declaration is not the one"):
        Budget(budget.place, DATA, "a" * 64, budget.anchor).read()


def test_heads_lie_apart_from_the_data(tmp_path: Path) -> None:
    """One copy of the folder would hold both."""
    for folder in (tmp_path, tmp_path / "below"):
        folder.mkdir(exist_ok=True)
        with pytest.raises(StorageError, match="lies in the folder of the data"):
            LedgerAnchor(folder).check_apart(tmp_path)
    with pytest.raises(StorageError, match="a folder that exists"):
        LedgerAnchor(tmp_path / "none").check_apart(tmp_path)


def test_what_was_written_and_not_shown_stays_charged(budget: Budget) -> None:
    """Killed before the head was noted: the entry stands and the head follows; killed in its line: it never was."""
    head = budget.anchor.get(DATA)
    assert head is not None
    budget.ask(question(1), drawn())
    budget.anchor.note(DATA, head)
    with path_of(budget).open("ab") as file:
        file.write(b'{"answer":')
    ledger = budget.read()
    assert [entry.number for entry in ledger.entries] == [1]
    assert budget.anchor.get(DATA) == ledger.head


def child(work: Callable[[int], None]) -> tuple[int, int]:
    """A process that does this and ends; its id, and where what it shows can be read."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            work(writing)
        finally:
            os._exit(0)
    os.close(writing)
    return pid, reading


def shown_by(reading: int, most: int = 1000) -> list[list[int]]:
    """[cell, answer] of what a process shows until it ends, or of the next so many answers."""
    with os.fdopen(reading, "rb", buffering=0, closefd=False) as file:
        lines = itertools.takewhile(lambda line: line.endswith(b"\n"), itertools.islice(file, most))
        return [json.loads(line) for line in lines]


def ask_all(budget: Budget, cells: range) -> Callable[[int], None]:
    """Asks one question after another, and shows each answer as soon as it is there."""

    def work(writing: int) -> None:
        for cell in cells:
            answered = budget.ask(question(cell), drawn())
            os.write(writing, b"%s\n" % json.dumps([cell, answered.entry.answer["values"]["count"]]).encode())

    return work


def check_killed(folder: Path, times: int) -> None:
    """So many ledgers, each of whose process is killed at some moment; then it is used once more."""
    seen = 0
    for number in range(times):
        terms = BudgetTerms(f"{number:064x}", DECLARED, Fraction(2), Fraction(0), Neighbours.REPLACE, 100)
        budget = opened(folder, f"{number}.budget", terms)
        pid, reading = child(ask_all(budget, range(100)))
        # So many answers first, however slow the machine is; then at any moment of the next one.
        first = shown_by(reading, random.randrange(20))  # noqa: S311 - when, not what
        time.sleep(random.uniform(0, 0.004))  # noqa: S311 - the same
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        shown = first + shown_by(reading)
        os.close(reading)
        ledger = budget.read()
        recorded = {(entry.question["cell"], entry.answer["values"]["count"]) for entry in ledger.entries}
        assert {(cell, value) for cell, value in shown} <= recorded
        assert spent(ledger).epsilon == Fraction(len(ledger.entries), 10) <= 2
        assert len(shown) <= len(ledger.entries) <= len(shown) + 1
        assert len(ledger.entries) == 20 or not budget.ask(question(1000), drawn()).again
        seen += len(shown)
    assert seen > 0


def test_killed_process_has_shown_nothing_that_is_not_recorded(tmp_path: Path) -> None:
    """Five ledgers, at random moments."""
    check_killed(tmp_path, 5)


@pytest.mark.slow
def test_a_hundred_killed_processes_have_shown_nothing_that_is_not_recorded(tmp_path: Path) -> None:
    """A hundred of them."""
    check_killed(tmp_path, 100)


def test_two_processes_at_once_spend_one_budget(budget: Budget, tmp_path: Path) -> None:
    """One also from a copy of the ledger; no answer is drawn twice, and both stop where the budget ends."""
    running = [child(ask_all(budget, cells)) for cells in (range(15), range(5, 30))]
    shown = [shown_by(reading) for _, reading in running]
    for pid, _ in running:
        os.waitpid(pid, 0)

    ledger = budget.read()
    assert spent(ledger).epsilon == 2
    answers = {cell: value for each in shown for cell, value in each}
    assert all(answers[cell] == value for each in shown for cell, value in each)
    assert len(answers) == len(ledger.entries) == 20

    copy = Budget(LedgerFile(tmp_path / "copy.budget"), DATA, DECLARED, budget.anchor)
    path_of(copy).write_bytes(b"".join(path_of(budget).read_bytes().splitlines(keepends=True)[:5]))
    with pytest.raises(StorageError, match="is behind its head"):
        copy.ask(question(99), drawn())
