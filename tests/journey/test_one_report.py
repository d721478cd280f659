"""Truths that give one report cannot be told apart by anything that the terminal says or keeps."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from sottovoce.cli.main import main
from sottovoce.client import respondent
from sottovoce.client.draws import Draws
from sottovoce.shared.errors import SurveyError

from tests.listener import Listener, honest, listening
from tests.one_report import ASKED, beginning_with, bytes_for, reports, truths
from tests.vectors.tape import Tape

NOT_SHOWN = "A question that was not shown to you was answered by chance."


def answered(folder: Path, server: Listener, tape: bytes, monkeypatch: pytest.MonkeyPatch, *words: str) -> list[str]:
    """All that is said after the draw, and said again later, and all that is kept, in bytes."""
    source = beginning_with(tape, Tape("beyond"))
    monkeypatch.setattr(respondent, "Draws", lambda: Draws(source))
    ledger = folder / "ledger"
    shutil.rmtree(ledger, ignore_errors=True)
    link = f"{server.url}/s/pills#d={ASKED.digest[:32]}"
    told = []
    for _ in range(2):
        done = CliRunner().invoke(main, ["respond", link, *words], env={"SOTTOVOCE_LEDGER": str(ledger)})
        assert done.exit_code == 0, (done.output, isinstance(done.exception, SurveyError))
        told += [done.stdout, done.stderr]
    kept = [f"{path.relative_to(ledger)} {path.read_bytes()!r}" for path in sorted(ledger.rglob("*")) if path.is_file()]
    return [*told, *kept]


@pytest.mark.parametrize("more", [(), ("--exactly",), ("--json",)], ids=["plain", "exactly", "json"])
def test_truths_of_one_report_leave_the_same_bytes(
    more: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hidden, refused, yes or no: each pair of truths, for each report; and reports differ from one another."""
    path = tmp_path / "answers.json"
    seen = set()
    with listening(honest(ASKED)) as server:
        for report in reports():
            left = []
            for answers in truths():
                path.write_text(json.dumps(answers))
                words = ("--answers", str(path), "--yes", *more)
                left.append(answered(tmp_path, server, bytes_for(answers, report), monkeypatch, *words))
            assert all(one == left[0] for one in left)
            seen.add("".join(left[0]))

    assert len(seen) == len(reports())


def test_question_that_may_be_hidden_says_so_to_everybody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence stands once for all; values stand there when they are asked for."""
    told = {}
    with listening(honest(ASKED)) as server:
        for words in ((), ("--exactly",)):
            path = tmp_path / "answers.json"
            answers = next(truths())
            path.write_text(json.dumps(answers))
            tape = bytes_for(answers, (1, 1, 2, 1))
            options = ("--answers", str(path), "--yes", *words)
            told[words] = answered(tmp_path, server, tape, monkeypatch, *options)[1].rpartition("have arrived.")[2]

    plain, exact = told[()], told["--exactly",]
    assert "Private answers sent: 3. Chance had a say: none proves anything about you." in plain
    assert "A question that was not shown to you was answered by chance." in plain
    assert "Sent unchanged:\n  Which year? Y1\n" in plain
    assert "Need to talk?\nhttps://help.example.org/\n" in plain
    assert "To study?" not in plain
    assert exact.count("To study? Yes\n") == 1
    assert plain.count(NOT_SHOWN) == exact.count(NOT_SHOWN) == 1
