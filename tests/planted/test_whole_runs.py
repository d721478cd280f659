"""Clients that let an answer pass beside its randomizer are found by their whole runs, with what tells it in words."""

import atexit
import faulthandler
import logging
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from typing import Any

import pytest
import requests
from sottovoce.audit.check import FAILED, PASSED, Check
from sottovoce.audit.interference import check_python_runs
from sottovoce.audit.redeemed_runs import NOT_BLINDED
from sottovoce.audit.runs import plan_runs
from sottovoce.audit.test_keys import MODULI, with_test_keys
from sottovoce.client import draws, file_ledger, redemption, respondent, transport
from sottovoce.client.ledger import MemoryLedger
from sottovoce.client.respondent import Respondent
from sottovoce.shared.redemption import spell_modulus
from sottovoce.shared.report import Report
from sottovoce.shared.spec import Survey

from tests.absences import absences, either
from tests.alone import alone
from tests.surveys import months, survey

ONE = survey()
PAIR = either()
KEYS = [spell_modulus(each) for each in MODULI[:2]]
SIGNED = with_test_keys(survey(access={"blind": KEYS}, waves=months(2), privacy={"send_within_hours": 1}))

Change = Callable[[pytest.MonkeyPatch], None]


def found(asked: Survey, quick: bool = False) -> list[Check]:
    """What the audit finds in whole runs."""
    checks: list[Check] = alone(lambda: check_python_runs(asked, plan_runs(asked, quick), lambda _share: None))
    return checks


@pytest.mark.parametrize(
    "asked",
    [ONE, survey(ask=1), survey(access="token"), survey(waves=months(2))],
    ids=["one", "ask", "token", "waves"],
)
def test_runs_of_the_client_look_alike(asked: Survey) -> None:
    """Whatever is answered, refused, hidden or not asked."""
    assert [check.outcome for check in found(asked)] == [PASSED, PASSED]


def test_runs_that_redeem_look_alike() -> None:
    """In both waves, with a wait."""
    assert [check.outcome for check in found(SIGNED, quick=True)] == [PASSED, PASSED]


def test_one_id_for_every_wave_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the bytes of the others are drawn as well."""
    honest, drawn = redemption._prepare, []

    def prepare(modulus: int, given: draws.Draws) -> redemption.Prepared:
        drawn.append(given.identity())
        source = draws.Draws(given.exactly)
        source.identity = lambda: drawn[len(drawn) - 1 - (len(drawn) - 1) % 2]  # type: ignore[method-assign]
        return honest(modulus, source)

    monkeypatch.setattr(redemption, "_prepare", prepare)

    assert NOT_BLINDED in found(SIGNED, quick=True)[0].message


def test_runs_with_absences_look_alike() -> None:
    """Refusals, fixed inputs and conditions."""
    assert [check.outcome for check in found(absences(), quick=True)] == [PASSED, PASSED]


def answered(does: Callable[[Mapping[str, Any]], object]) -> Change:
    """A client that does something else beside with the answers, before it draws."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        honest = respondent.encode

        def encode(asked: Survey, answers: Mapping[str, Any], places: Any = None) -> Any:
            does(answers)
            return honest(asked, answers, places)

        patch.setattr(respondent, "encode", encode)

    return plant


def reported(change: Callable[[Report, tuple[Any, ...]], Report]) -> Change:
    """A client that changes the drawn report by the true values."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        honest = respondent.randomize

        def randomize(asked: Survey, values: tuple[Any, ...], *more: Any, **named: Any) -> Report:
            return change(honest(asked, values, *more, **named), values)

        patch.setattr(respondent, "randomize", randomize)

    return plant


def said(answers: Mapping[str, Any]) -> bool:
    """Whether the middle option was chosen."""
    return answers.get("reason") == "fear"


def spill(answers: Mapping[str, Any]) -> None:
    """Leave a file somewhere."""
    if said(answers):
        (Path(tempfile.gettempdir()) / "spilt").touch()


def post(answers: Mapping[str, Any]) -> None:
    """Ask somebody else for something."""
    if said(answers):
        requests.get("https://elsewhere.invalid/", timeout=1)


def call(answers: Mapping[str, Any]) -> None:
    """Run another program."""
    if said(answers):
        os.system("true")  # noqa: S605 - never run


def mistold(report: Report, values: tuple[Any, ...]) -> Report:
    """The middle option's truth in the place of the drawn value."""
    return replace(report, values=(report.values[0], 1, report.values[2])) if values[1] == 1 else report


def marked(report: Report, values: tuple[Any, ...]) -> Report:
    """An id whose last digit is even for a yes."""
    return replace(report, report_id=report.report_id[:-1] + "0123456789abcdef"[values[0]])


def boasting(report: Report, values: tuple[Any, ...]) -> Report:
    """An id that says whether the coin told the truth."""
    return replace(report, report_id=f"{report.values[0] == values[0]:x}" + report.report_id[1:])


def leave(answers: Mapping[str, Any]) -> None:
    """Write what was answered to a file of one name and size, outside of the ledger."""
    (Path(tempfile.gettempdir()) / "sottovoce-planted").write_text(str(answers.get("reason"))[:3], encoding="utf-8")


def header(patch: pytest.MonkeyPatch) -> None:
    """A header that says what was answered."""
    known: list[str] = []
    answered(lambda answers: known.append(str(said(answers))))(patch)
    honest = requests.Session.request

    def request(self: requests.Session, *args: Any, headers: Any, **more: Any) -> Any:
        return honest(
            self, *args, headers={**headers, "Accept-Language": "de" if known[-1:] == ["True"] else "en"}, **more
        )

    patch.setattr(requests.Session, "request", request)


def impatient(patch: pytest.MonkeyPatch) -> None:
    """It hangs up sooner, which whoever replies slowly sees."""
    answered(lambda answers: patch.setattr(transport, "_TIMEOUT", (10, 30 + said(answers))))(patch)


def known_again(patch: pytest.MonkeyPatch) -> None:
    """It keeps cookies."""
    patch.setattr(transport, "DefaultCookiePolicy", lambda **_: DefaultCookiePolicy())


def unforgetful(patch: pytest.MonkeyPatch) -> None:
    """What was forgotten lies there under another name."""
    honest = file_ledger.FileLedger._change

    def change(ledger: file_ledger.FileLedger, name: str, **changes: Any) -> None:
        kept = {"refused": ledger.read(name).entry.body} if "ended" in changes else {}
        honest(ledger, name, **{**changes, **kept})

    patch.setattr(file_ledger.FileLedger, "_change", change)


def attached(patch: pytest.MonkeyPatch) -> None:
    """A header that says what was answered, where another report was charged before."""
    honest = respondent.Respondent.answer

    def answer(me: respondent.Respondent, answers: dict[str, Any]) -> Any:
        if me.spent and said(answers):
            me._transport._session.headers["Accept-Language"] = "de"
        return honest(me, answers)

    patch.setattr(respondent.Respondent, "answer", answer)


def thirsty(patch: pytest.MonkeyPatch) -> None:
    """One more byte, after all others, where the coin told the truth."""
    honest = respondent.randomize

    def randomize(asked: Survey, values: tuple[Any, ...], given: draws.Draws, *more: Any, **named: Any) -> Report:
        report = honest(asked, values, given, *more, **named)
        if report.values[0] == values[0]:
            given.below(2)
        return report

    patch.setattr(respondent, "randomize", randomize)


def kept(patch: pytest.MonkeyPatch) -> None:
    """A space in the ledger, after forgetting, if the answer was yes."""
    known: list[bool] = []
    answered(lambda answers: known.append(said(answers)))(patch)
    honest = file_ledger.dump_record
    patch.setattr(
        file_ledger, "dump_record", lambda key, entry: honest(key, entry) + b" " * (known[-1] and entry.ended != "")
    )


@pytest.mark.parametrize(
    ("plant", "words"),
    [
        (reported(mistold), "other values than its randomizers give|the report, or what else is sent, depends"),
        (reported(marked), "id of a report is not what the source|the report, or what else is sent, depends"),
        (reported(boasting), "id of a report is not what the source|the report, or what else is sent, depends"),
        (header, "a header depends on the answer to 'reason'"),
        (thirsty, "what is done, and in which order, depends on the answer to 'cheated'"),
        (kept, "what the device keeps after forgetting|what the device keeps after sending"),
        (answered(leave), "depends on the answer to 'reason'"),
        (answered(spill), "what is done, and in which order, depends on the answer to 'reason'"),
        (answered(post), "depends on the answer to 'reason'"),
        (answered(call), "depends on the answer to 'reason'"),
        (answered(lambda answers: said(answers) and print("x")), "depends on the answer to 'reason'"),
        (answered(lambda answers: said(answers) and faulthandler.dump_traceback(2)), "answer to 'reason'"),
        (answered(lambda answers: said(answers) and sys.stderr.write("x")), "depends on the answer to 'reason'"),
        (answered(lambda answers: said(answers) and logging.getLogger("x").debug("x")), "answer to 'reason'"),
        (answered(lambda answers: time.sleep(0.001 * said(answers))), "depends on the answer to 'reason'"),
        (answered(lambda answers: said(answers) and os.write(0, b"x")), "depends on the answer to 'reason'"),
        (answered(lambda answers: os.mkfifo(f"/{said(answers)}")), "depends on the answer to 'reason'"),
        (answered(lambda _: atexit.register(print)), "something is left to be done later"),
        (answered(lambda _: threading.Timer(9, print).start()), "something is left to be done later"),
        (impatient, "how a request goes depends on the answer to 'reason'"),
        (known_again, "a request goes elsewhere, or says more, than is agreed"),
        (unforgetful, "the device keeps the report when it was withdrawn or forgotten"),
        (attached, "a header depends on the answer|depends on several answers"),
    ],
    ids=[
        "value", "id", "coin in id", "header", "read", "ledger", "content", "file", "request", "program", "print",
        "descriptor", "error output", "log", "wait", "input", "pipe", "end of the program", "thread", "patience",
        "cookie", "not forgotten", "earlier report",
    ],
)  # fmt: skip
def test_side_door_is_found(monkeypatch: pytest.MonkeyPatch, plant: Change, words: str) -> None:
    """Whichever it is; the words say which, and whose answer it tells."""
    plant(monkeypatch)
    check = found(ONE)[0]

    (Path(tempfile.gettempdir()) / "sottovoce-planted").unlink(missing_ok=True)
    assert check.outcome == FAILED
    assert any(word in check.message for word in words.split("|")), check.message


def test_two_answers_together_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that tells only of those who answered two questions in one way."""
    answered(lambda answers: (answers.get("smokes"), answers.get("paid")) == ("yes", "no") and print("x"))(monkeypatch)
    check = found(PAIR)[0]

    assert check.outcome == FAILED
    assert "depends on" in check.message


def test_absent_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that tells who refused."""
    answered(lambda answers: answers.get("smokes") is None and print("x"))(monkeypatch)
    assert "depends on the answer to 'smokes'" in found(PAIR, quick=True)[0].message


def test_constant_report_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is sent must be what the randomizers gave, also where it is the same for all."""
    reported(lambda report, _values: replace(report, values=(0, 0, report.values[2])))(monkeypatch)
    assert "other values than its randomizers give" in found(ONE)[0].message


def test_client_that_sends_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or that stops."""
    monkeypatch.setattr(Respondent, "send", lambda _self: {})
    assert "the client sends no report" in found(ONE)[0].message


def test_report_that_is_sent_before_it_is_remembered_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash between would let another be drawn."""
    honest = Respondent.answer

    def answer(self: Respondent, answers: Mapping[str, Any]) -> Any:
        kept, self.ledger = self.ledger, MemoryLedger()
        told = honest(self, answers)
        [(key, entry)] = self.ledger._entries.items()
        self.ledger = kept
        kept.record(key, entry)
        return told

    monkeypatch.setattr(Respondent, "answer", answer)
    assert found(ONE)[0].message == "the report is sent before the device remembers it"


def test_wrong_charge_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ledger that tells less than was spent."""
    monkeypatch.setattr(Survey, "epsilon_of_wave", 0.5)
    assert found(ONE)[0].message == "the device is charged with something else than the report costs"


def test_other_id_source_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """An id of the clock's time, whatever the answers are."""
    monkeypatch.setattr(draws.Draws, "identity", lambda self: self.exactly(16) and f"{time.monotonic_ns():032x}")
    assert "the id of a report is not what the source of randomness gave" in found(ONE)[0].message


def test_nothing_is_left_changed() -> None:
    """The process is as it was: its source of randomness, its output, its environment, its network."""
    before = (os.urandom, requests.adapters.HTTPAdapter.send, sys.stdout, dict(os.environ), logging.getLogger().level)
    found(ONE, quick=True)

    assert before == (
        os.urandom, requests.adapters.HTTPAdapter.send, sys.stdout, dict(os.environ), logging.getLogger().level
    )  # fmt: skip
    assert len({transport.jitter() for _ in range(40)}) > 1
