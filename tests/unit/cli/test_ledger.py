"""The ledger's verbs, and the terminal with a link that nobody can tell apart, for a survey whose reports wait."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from sottovoce.client import respondent
from sottovoce.client.draws import Draws
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import MEMO, SIGNERS, Entry, Key
from sottovoce.client.respondent import Respondent, encode, randomize
from sottovoce.client.terminal import screen
from sottovoce.client.transport import Transport
from sottovoce.shared.report import dump_report, parse_report, receipt

from tests.commands import done, run
from tests.surveys import ANSWERS, survey
from tests.unit.client.fakes import Reply
from tests.unit.client.issuer import INVITATION, ORIGIN, Issuer, blind_survey

SURVEY = survey()
KEY = Key("https://a.example", "exam")


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileLedger:
    monkeypatch.setenv("SOTTOVOCE_LEDGER", str(tmp_path))
    return FileLedger(tmp_path)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What an aggregator that answers as it should was sent."""
    bodies: list[bytes] = []

    def submit(_self: Transport, _survey: str, body: bytes, _token: str = "") -> dict[str, Any]:
        bodies.append(body)
        return receipt(parse_report(body), body)

    monkeypatch.setattr(Transport, "submit", submit)
    return bodies


def entry() -> Entry:
    """A report that was drawn and has not arrived."""
    body = dump_report(randomize(SURVEY, encode(SURVEY, ANSWERS), Draws()), SURVEY)
    return Entry(SURVEY.digest, SURVEY.epsilon, body.decode())


def test_report_that_needs_a_token_is_not_sent_without_it(ledger: FileLedger, sent: list[bytes]) -> None:
    """The ledger does not hold the token; the other reports are sent, and the exit code tells of this one."""
    ledger.record(KEY._replace(token="0123456789ABCDEF"), entry())
    other = ledger.record(KEY._replace(wave=1), entry())
    ended = run("device", "send", "--json")

    assert sent == [other.body.encode()]
    assert ended.exit_code == 1
    assert "needs the token of its link" in ended.stderr
    assert [len(told) for told in json.loads(ended.stdout).values()] == [1, 1]


def test_sending_twice_sends_once(ledger: FileLedger, sent: list[bytes]) -> None:
    ledger.record(KEY, entry())
    ended = [run("device", "send") for _ in range(2)]

    assert [each.exit_code for each in ended] == [0, 0]
    assert len(sent) == 1


def test_cleared_report_keeps_its_charge(ledger: FileLedger) -> None:
    """Forgotten is not erased: none is drawn in its place, unless everything is asked for."""
    kept = ledger.record(KEY, entry())
    assert run("device", "clear", "--yes").exit_code == 0
    assert ledger.get(KEY) == Entry(kept.digest, kept.epsilon, "", ended="forgotten")
    assert run("device", "clear", "--everything", "--yes").exit_code == 0
    assert ledger.get(KEY) is None


def test_memo_is_shown_to_nobody(ledger: FileLedger) -> None:
    """With the reports themselves neither: two waves' reports beside it would tell the truth."""
    report = ledger.record(KEY, entry())
    ledger.record(KEY._replace(wave=MEMO), Entry(SURVEY.digest, 1.0, "01", sent=True))
    shown = run("device", "show", "--json", "--reports")
    held = [each.get("report") for origin in json.loads(shown.stdout)["origins"] for each in origin["reports"]]

    assert held == [None, report.body.rstrip()]


BLIND = blind_survey(privacy={"send_within_hours": 24})
LINK = f"{ORIGIN}/s/{BLIND.name}#d={BLIND.digest[:32]}&t={INVITATION}"
BLIND_KEY = Key(ORIGIN, BLIND.name, 0, INVITATION)


class Served(Issuer):
    def answer(self, path: str, headers: dict[str, str], body: bytes) -> Any:
        shown = path == f"/api/v1/surveys/{BLIND.name}"
        return Reply(content=BLIND.canonical) if shown else super().answer(path, headers, body)


@pytest.fixture
def issuer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Served:
    served = Served(BLIND)
    monkeypatch.setenv("SOTTOVOCE_LEDGER", str(tmp_path / "ledger"))
    monkeypatch.setattr(screen, "Transport", lambda *_, **__: served.transport)
    return served


@pytest.fixture
def left(tmp_path: Path, issuer: Served) -> Result:
    assert issuer.seen == []
    (tmp_path / "answers.json").write_text('{"q": "yes"}')
    return run("respond", LINK, "--later", "--yes", "--answers", str(tmp_path / "answers.json"))


def test_report_is_left_and_nothing_sends_it_early(issuer: Served, left: Result) -> None:
    assert left.exit_code == 0, left.stderr
    for words in (("respond", LINK, "--yes"), ("device", "send"), ("device", "show")):
        assert "until 20" in done(run(*words)).output
    assert "wait on this device until" in left.stderr
    assert "reports" not in issuer.paths()


def test_report_that_is_due_is_sent_without_its_link(tmp_path: Path, issuer: Served, left: Result) -> None:
    assert left.exit_code == 0
    (file,) = [path for path in (tmp_path / "ledger").glob("*.json") if json.loads(path.read_text())["send_at"]]
    file.write_text(json.dumps({**json.loads(file.read_text()), "send_at": 1}))
    ended = run("device", "send")
    entry = FileLedger(tmp_path / "ledger").get(BLIND_KEY)

    assert ended.exit_code == 0, ended.stderr
    assert len(issuer.admitted) == 1
    assert (entry.sent, entry.signature, entry.send_at) == (True, "", 0)


def test_one_signed_report_is_sent_in_a_run(tmp_path: Path, issuer: Served, left: Result) -> None:
    """Two of them together would be taken for one person's; the other one follows, and a refused one comes last."""
    assert left.exit_code == 0
    book = FileLedger(tmp_path / "ledger")
    Respondent(BLIND, issuer.transport, book, token="ZZZZ111122223333", another_person=True).record({"q": "yes"})
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
    assert "The people who run this survey can see that you opened it, and when answers arrive." in left.stderr
    assert "for a moment within 24 hours that chance picks." in left.stderr
