"""The ledger's verbs, where no network is needed."""

import json
from pathlib import Path
from typing import Any

import pytest
from sottovoce.client.draws import Draws
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import MEMO, Entry, Key
from sottovoce.client.respondent import encode, randomize
from sottovoce.client.transport import Transport
from sottovoce.shared.report import dump_report, parse_report, receipt

from tests.commands import run
from tests.surveys import ANSWERS, survey

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
    """What has arrived no longer waits."""
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
