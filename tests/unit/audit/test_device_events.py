"""Everything happens to a device, in every order: the honest client passes, and each dishonest one is seen."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sottovoce.audit.branching_draws import BranchingDraws
from sottovoce.audit.check import FAILED, PASSED
from sottovoce.audit.device_events import UNFOLLOWED, PythonDevice, check_events, follow
from sottovoce.audit.device_world import EVENTS, KILLS, Scenario, State, run_event, scenarios
from sottovoce.client import respondent
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import Entry, Key
from sottovoce.client.ledger_entry import name_of
from sottovoce.shared.report import Report, dump_report

ORDINARY, RICH = scenarios()
Patch = Callable[[pytest.MonkeyPatch], None]

TWICE = "two different reports of one wave leave the device"
OTHERS = "one person is asked two different sets of questions in one wave"
FREE = "a report leaves the device that is not charged"


@pytest.mark.parametrize(("scenario", "length"), [(ORDINARY, 2), (RICH, 1)], ids=["ordinary", "rich"])
def test_honest_client_passes(scenario: Scenario, length: int) -> None:
    """No course is wrong, and there are as many as events make."""
    check = check_events("python", scenario, length)

    assert (check.outcome, check.message) == (PASSED, "")
    assert f"courses of up to {length} events" in check.scope


@pytest.mark.slow
@pytest.mark.parametrize(("scenario", "length"), [(ORDINARY, 4), (RICH, 3)], ids=["ordinary", "rich"])
def test_honest_client_passes_for_long(scenario: Scenario, length: int, tmp_path: Path) -> None:
    """One event more than an audit follows."""
    assert follow(scenario, length, PythonDevice(scenario, tmp_path)).problems == {}


@pytest.mark.parametrize("event", EVENTS)
def test_each_event_really_happens(event: str, tmp_path: Path) -> None:
    """After an answer each one goes its own way: none of them ends in an error before it has begun."""
    answered = run_event(RICH, State(), "answered", 1, BranchingDraws([]), tmp_path)
    found = run_event(RICH, answered.state, event, 1, BranchingDraws([]), tmp_path)
    sent = [one for one in found.wire if one[0] == "sent"]

    assert len([one for one in answered.wire if one[0] == "sent"]) == 1
    assert sent or event in {"withdrawn", "forgotten"}
    assert found.state != answered.state or event not in {"withdrawn", "forgotten", "answered the last wave"}


def test_kills_stop_at_every_step(tmp_path: Path) -> None:
    """As many different ends as an answer has steps, the last of which is beyond it."""
    whole = run_event(ORDINARY, State(), "answered", 1, BranchingDraws([]), tmp_path)
    ends = [run_event(ORDINARY, State(), kill, 1, BranchingDraws([]), tmp_path) for kill in KILLS]

    assert [end.killed for end in ends] == [step < whole.steps for step in KILLS.values()]
    assert whole.steps >= 6
    assert not any(one[0] == "sent" for one in ends[0].wire)


def draws_again(patch: pytest.MonkeyPatch) -> None:
    """What was recorded is not looked at."""
    patch.setattr(respondent.Respondent, "drawn", False)
    patch.setattr(FileLedger, "_record", _overwrite)


def second_tab_overwrites(patch: pytest.MonkeyPatch) -> None:
    """Of two tabs that draw at the same moment, the second to write stands, though the first one's report has left."""
    patch.setattr(FileLedger, "_record", _overwrite)


def sends_nothing(patch: pytest.MonkeyPatch) -> None:
    """Nothing is wrong with what it sends."""
    patch.setattr(respondent.Respondent, "send", lambda _: {})


def asks_others(patch: pytest.MonkeyPatch) -> None:
    """The questions to ask are drawn at each visit."""
    patch.setattr(FileLedger, "prepare", lambda _ledger, _key, _pool, drawn: drawn)


def _overwrite(ledger: FileLedger, key: Key, entry: Entry, _text: bytes = b"") -> Entry:
    (ledger.folder / f"{name_of(key)}.json").unlink(missing_ok=True)
    return RECORD(ledger, key, entry)


RECORD = FileLedger._record
HONEST = respondent.randomize


def sends_first(patch: pytest.MonkeyPatch) -> None:
    """The report is recorded once it has been sent: a kill between the two is another draw."""

    def answer(me: respondent.Respondent, answers: dict[str, object]) -> object:
        if me.drawn:
            return me.send()
        values = respondent.encode(me.survey, answers, me.places)
        body = dump_report(respondent.randomize(me.survey, values, me._draws, me.wave), me.survey).decode()
        told = me._transport.submit(me.survey.name, body.encode(), me._token)
        me.ledger.record(me._key, Entry(me.survey.digest, me.survey.epsilon_of_wave, body))
        me.ledger.mark_sent(me._key)
        return told

    patch.setattr(respondent.Respondent, "answer", answer)


def forgetting_frees(patch: pytest.MonkeyPatch) -> None:
    """Who forgets a report is given another draw, and the charge of the first is gone."""
    patch.setattr(FileLedger, "forget", FileLedger.erase)


def refusal_frees(patch: pytest.MonkeyPatch) -> None:
    """An aggregator that refuses a link is given another draw with the next one."""
    patch.setattr(FileLedger, "unaccepted", lambda *_: None)


def not_charged(patch: pytest.MonkeyPatch) -> None:
    """The entry says that the report cost nothing."""
    patch.setattr(respondent, "Entry", lambda digest, _epsilon, body: Entry(digest, 0.0, body))


@pytest.mark.parametrize(
    ("patch", "told"),
    [
        (draws_again, TWICE),
        (second_tab_overwrites, TWICE),
        (sends_first, TWICE),
        (forgetting_frees, FREE),
        (refusal_frees, TWICE),
        (asks_others, OTHERS),
        (not_charged, FREE),
        (sends_nothing, "no report leaves the device after an answer"),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_dishonest_client_is_seen(patch: Patch, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within two events, and what is wrong is said in words with the course that shows it."""
    patch(monkeypatch)
    scenario = RICH if patch in {refusal_frees, asks_others} else ORDINARY
    check = check_events("python", scenario, 2 if scenario is ORDINARY else 1)

    assert check.outcome == FAILED
    assert told in check.message


@pytest.mark.parametrize("bound", [256, 2])
def test_client_that_draws_too_much_has_failed(bound: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether one event then goes hundreds of ways, or one way never ends: nothing is followed for hours."""

    def randomize(*words: Any) -> Report:
        draws = words[2]
        while draws.below(bound) == 0:
            pass
        return HONEST(*words)

    monkeypatch.setattr(respondent, "randomize", randomize)
    check = check_events("python", ORDINARY, 3)

    assert (check.outcome, check.message) == (FAILED, UNFOLLOWED)
