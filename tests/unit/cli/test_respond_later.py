"""The terminal with a link that nobody can tell apart, for a survey whose reports wait."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from sottovoce.client import respondent
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import SIGNERS, Key
from sottovoce.client.respondent import Respondent
from sottovoce.client.terminal import screen

from tests.commands import done, run as command
from tests.unit.client.fakes import Reply
from tests.unit.client.issuer import INVITATION, ORIGIN, Issuer, blind_survey

SURVEY = blind_survey(privacy={"send_within_hours": 24})
LINK = f"{ORIGIN}/s/{SURVEY.name}#d={SURVEY.digest[:32]}&t={INVITATION}"
KEY = Key(ORIGIN, SURVEY.name, 0, INVITATION)


class Served(Issuer):
    """An issuer that shows its survey, too."""

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> Any:
        shown = path == f"/api/v1/surveys/{SURVEY.name}"
        return Reply(content=SURVEY.canonical) if shown else super().answer(path, headers, body)


@pytest.fixture
def issuer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Served:
    served = Served(SURVEY)
    monkeypatch.setenv("SOTTOVOCE_LEDGER", str(tmp_path / "ledger"))
    monkeypatch.setattr(screen, "Transport", lambda *_, **__: served.transport)
    return served


@pytest.fixture
def left(tmp_path: Path, issuer: Served) -> Result:
    assert issuer.seen == []
    (tmp_path / "answers.json").write_text('{"q": "yes"}')
    return run("respond", LINK, "--later", "--yes", "--answers", str(tmp_path / "answers.json"))


def run(*words: str) -> Result:
    return command(*words, catch_exceptions=False)


def test_report_is_left_and_nothing_sends_it_early(issuer: Served, left: Result) -> None:
    """Neither the same link, nor the verb that sends; both say when."""
    assert left.exit_code == 0, left.stderr
    for words in (("respond", LINK, "--yes"), ("device", "send"), ("device", "show")):
        assert "until 20" in done(run(*words)).output
    assert "wait on this device until" in left.stderr
    assert "reports" not in issuer.paths()


def test_report_that_is_due_is_sent_without_its_link(tmp_path: Path, issuer: Served, left: Result) -> None:
    """Its signature lies beside it, and is gone with the receipt."""
    assert left.exit_code == 0
    (file,) = [path for path in (tmp_path / "ledger").glob("*.json") if json.loads(path.read_text())["send_at"]]
    file.write_text(json.dumps({**json.loads(file.read_text()), "send_at": 1}))
    ended = run("device", "send")
    entry = FileLedger(tmp_path / "ledger").get(KEY)

    assert ended.exit_code == 0, ended.stderr
    assert len(issuer.admitted) == 1
    assert (entry.sent, entry.signature, entry.send_at) == (True, "", 0)


def test_one_signed_report_is_sent_in_a_run(tmp_path: Path, issuer: Served, left: Result) -> None:
    """Two of them together would be taken for one person's; the other one follows, and a refused one comes last."""
    assert left.exit_code == 0
    book = FileLedger(tmp_path / "ledger")
    Respondent(SURVEY, issuer.transport, book, token="ZZZZ111122223333", another_person=True).record({"q": "yes"})
    for file in (tmp_path / "ledger").glob("*.json"):
        kept = json.loads(file.read_text())
        file.write_text(json.dumps({**kept, "send_at": 1 if kept["send_at"] else 0}))
    runs = [(run("device", "send"), len(issuer.admitted)) for _ in range(3)]

    assert [(ended.exit_code, count) for ended, count in runs] == [(0, 1), (0, 2), (0, 2)]
    assert ["To send the others, run this command again" in ended.stderr for ended, _ in runs] == [True, False, False]


def test_sending_without_the_link_wipes_what_a_kill_left(
    tmp_path: Path, issuer: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is killed between recording a report and wiping its signature leaves two; none outlives sending."""
    with monkeypatch.context() as killed:
        killed.setattr(respondent, "forget_signature", lambda *_: None)
        (tmp_path / "answers.json").write_text('{"q": "yes"}')
        assert run("respond", LINK, "--later", "--yes", "--answers", str(tmp_path / "answers.json")).exit_code == 0
    (file,) = [path for path in (tmp_path / "ledger").glob("*.json") if json.loads(path.read_text())["send_at"]]
    signature = json.loads(file.read_text())["signature"]
    holding = [path for path in (tmp_path / "ledger").iterdir() if signature in path.read_text()]
    file.write_text(json.dumps({**json.loads(file.read_text()), "send_at": 1}))
    ended = run("device", "send")

    assert len(holding) == 2
    assert ended.exit_code == 0, ended.stderr
    assert len(issuer.admitted) == 1
    assert not [path for path in (tmp_path / "ledger").iterdir() if signature in path.read_text()]


def test_clearing_keeps_whose_signatures_were_asked_for(tmp_path: Path, left: Result) -> None:
    """Else a second key for one wave would go unnoticed; the rest is wiped."""
    assert left.exit_code == 0
    assert run("device", "clear", "--yes").exit_code == 0
    ledger = FileLedger(tmp_path / "ledger")
    kept = [ledger.read(name) for name in ledger.names()]

    assert [record.key.wave for record in kept if record.entry.body] == [SIGNERS]
    assert run("device", "clear", "--everything", "--yes").exit_code == 0
    assert ledger.names() == []


def test_person_is_told_who_sees_what(left: Result) -> None:
    """Before anything is asked for."""
    assert "The people who run this survey can see that you opened it, and when answers arrive." in left.stderr
    assert "for a moment within 24 hours that chance picks." in left.stderr
