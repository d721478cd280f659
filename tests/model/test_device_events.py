"""Everything happens to a device, in every order: the honest client passes, and each dishonest one is seen."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sottovoce.audit.check import FAILED, PASSED
from sottovoce.audit.exact_channel import BranchingDraws
from sottovoce.client import respondent, revisions
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import Entry, Key
from sottovoce.client.ledger_entry import name_of
from sottovoce.shared.parse_survey import load_survey
from sottovoce.shared.report import Report, dump_report, parse_report
from sottovoce.shared.spec import Survey

from tests.model.device_events import REREAD, UNFOLLOWED, PythonDevice, check_events, follow
from tests.model.device_state import Happened, State, Way
from tests.model.device_world import ANSWERED, JUMP, MARRED, REFUSED, events_of, run_event
from tests.model.small_surveys import Scenario, scenarios, signed_scenario

ORDINARY, RICH = scenarios()
SIGNED = signed_scenario()
Patch = Callable[[pytest.MonkeyPatch], None]

TWICE = "two different reports of one wave leave the device"
OTHERS = "one person is asked two different sets of questions in one wave"
FREE = "a report leaves the device that is not charged"


@pytest.mark.parametrize(
    ("scenario", "length"), [(ORDINARY, 2), (RICH, 1), (SIGNED, 1)], ids=["ordinary", "rich", "signed"]
)
def test_honest_client_passes(scenario: Scenario, length: int) -> None:
    """No course is wrong, and there are as many as events make."""
    check = check_events("python", scenario, length)

    assert (check.outcome, check.message) == (PASSED, "")
    assert f"courses of up to {length} events" in check.scope


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "length"), [(ORDINARY, 4), (RICH, 4), (SIGNED, 3)], ids=["ordinary", "rich", "signed"]
)
def test_honest_client_passes_for_long(scenario: Scenario, length: int, tmp_path: Path) -> None:
    """One event more than an audit follows."""
    assert follow(scenario, length, PythonDevice(scenario, tmp_path)).problems == {}


@pytest.mark.parametrize(
    ("scenario", "event"), [(scenario, event) for scenario in (RICH, SIGNED) for event in events_of(scenario)]
)
def test_each_event_really_happens(scenario: Scenario, event: str, tmp_path: Path) -> None:
    """After an answer each one goes its own way: none of them ends in an error before it has begun."""
    answered = happens(scenario, ANSWERED, tmp_path).happened
    found = happens(scenario, event, tmp_path, answered.state).happened

    assert len([one for one in answered.wire if one[0] == "sent"]) == 1
    changes = {"withdrawn", "forgotten", "answered the last wave", REFUSED}
    assert [one for one in found.wire if one[0] == "sent"] or event in {"withdrawn", "forgotten", REFUSED}
    assert found.state != answered.state or event not in changes


def happens(scenario: Scenario, event: str, folder: Path, state: State = State()) -> Way:  # noqa: B008 - frozen
    return run_event(scenario, state, event, 1, BranchingDraws([]), folder)


def test_what_is_signed_wrongly_is_used_by_nobody(tmp_path: Path) -> None:
    """Nothing is drawn, then or later; and what was asked for once is asked for by the same numbers."""
    marred = happens(SIGNED, MARRED, tmp_path).happened
    later = happens(SIGNED, ANSWERED, tmp_path, marred.state).happened

    assert [one[0] for one in marred.wire] == ["asked", "redeemed"]
    assert [one[0] for one in later.wire] == ["asked"]


def test_each_kill_of_a_redemption_is_gone_on_from(tmp_path: Path) -> None:
    """Whatever step ended it, the next visit asks for the same numbers, if for any, and sends one report."""
    whole = happens(SIGNED, ANSWERED, tmp_path)
    asked, reports = set(), set()
    for kill in whole.kills:
        again = happens(SIGNED, ANSWERED, tmp_path, kill.state).happened
        wire = (*kill.wire, *again.wire)
        asked.add(frozenset(body for kind, _, body in wire if kind == "redeemed"))
        reports.add(len({body for kind, _, body in wire if kind == "sent"}))

    assert len(whole.kills) >= 14
    assert {len(each) for each in asked} == {1}
    assert reports == {1}


def test_kills_stop_before_every_step(tmp_path: Path) -> None:
    """Before the first one nothing has left and no report lies there; before the last one it has left, unsaid."""
    whole = happens(ORDINARY, ANSWERED, tmp_path)

    assert len(whole.kills) >= 6
    assert all(end.killed for end in whole.kills)
    assert not whole.happened.killed
    assert not any(one[0] == "sent" for one in whole.kills[0].wire)
    assert not any(name.endswith(".json") for name, _ in whole.kills[0].state.files)
    assert [one[0] for one in whole.kills[-1].wire] == ["asked", "sent", "told"]
    assert len({(end.state, end.wire) for end in whole.kills}) == len(whole.kills)
    assert happens(ORDINARY, "withdrawn", tmp_path, whole.happened.state).kills == ()


def test_kill_is_what_an_ended_process_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that really ends at its n-th link leaves the files and the wire that the n-th kill says."""
    whole = happens(ORDINARY, ANSWERED, tmp_path)
    at_links = [end for end in whole.kills if any(name.endswith(".part") for name, _ in end.state.files)]

    def end_here(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(FileLedger, "_create", lambda ledger, _path, content: (ledger._write(content), end_here()))
    with pytest.raises(KeyboardInterrupt):
        happens(ORDINARY, ANSWERED, tmp_path)
    left = sorted(path.suffix for path in tmp_path.iterdir())

    assert sorted(Path(name).suffix for name, _ in at_links[1].state.files) == left


def test_answers_and_clock_are_seen_to_be_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a report is drawn, and only there, unless a client looks once more; the clock is not looked at."""
    first = happens(ORDINARY, ANSWERED, tmp_path)
    again = happens(ORDINARY, ANSWERED, tmp_path, first.happened.state)
    original = respondent.Respondent.answer

    def looks(me: respondent.Respondent, answers: dict[str, object]) -> object:
        return time.time() and dict(answers) and original(me, answers)

    monkeypatch.setattr(respondent.Respondent, "answer", looks)
    curious = happens(ORDINARY, ANSWERED, tmp_path, first.happened.state)

    assert [(way.looked, way.timed) for way in (first, again, curious)] == [
        (True, False), (False, False), (True, True),
    ]  # fmt: skip


def test_no_two_reports_have_one_id(tmp_path: Path) -> None:
    """Not even where nothing is left of the first one: else two reports could be taken for one."""
    first = happens(RICH, "answered without network", tmp_path).happened
    gone = happens(RICH, "forgotten", tmp_path, first.state).happened
    elsewhere = replace(gone.state, token=1)

    assert not any(b"report_id" in content for _, content in gone.state.files)
    assert sent(happens(RICH, ANSWERED, tmp_path, elsewhere).happened).isdisjoint(sent(first))


def sent(happened: Happened) -> set[str]:
    return {parse_report(body).report_id for kind, _, body in happened.wire if kind == "sent"}


def draws_again(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(respondent.Respondent, "drawn", False)
    patch.setattr(FileLedger, "_record", _overwrite)


def second_tab_overwrites(patch: pytest.MonkeyPatch) -> None:
    """Of two tabs that draw at the same moment, the second to write stands, though the first one's report has left."""
    patch.setattr(FileLedger, "_record", _overwrite)


def sends_nothing(patch: pytest.MonkeyPatch) -> None:
    """Nothing is wrong with what it sends."""
    patch.setattr(respondent.Respondent, "send", lambda _: {})


def second_visit_tells(patch: pytest.MonkeyPatch) -> None:
    """Who comes back has her answer looked at, and one report more leaves if it is yes."""
    honest = respondent.Respondent.answer

    def answer(me: respondent.Respondent, answers: dict[str, object]) -> object:
        return tell(me) if me.drawn and answers["q"] == "yes" else honest(me, answers)

    patch.setattr(respondent.Respondent, "answer", answer)


def late_visit_tells(patch: pytest.MonkeyPatch) -> None:
    """The same once the clock has jumped, whatever the answer."""
    honest, begun = respondent.Respondent.answer, time.time()

    def answer(me: respondent.Respondent, answers: dict[str, object]) -> object:
        return tell(me) if me.drawn and time.time() > begun + JUMP else honest(me, answers)

    patch.setattr(respondent.Respondent, "answer", answer)


def tell(me: respondent.Respondent) -> object:
    report = replace(parse_report(me._entry().body.encode()), report_id="f" * 32)
    return me._transport.submit(me.survey.name, dump_report(report, me.survey), None)


def asks_others(patch: pytest.MonkeyPatch) -> None:
    """The questions to ask are drawn at each visit."""
    patch.setattr(FileLedger, "prepare", lambda _ledger, _key, _pool, draw: draw())


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
    patch.setattr(respondent, "Entry", lambda digest, _epsilon, body, **rest: Entry(digest, 0.0, body, **rest))


def read_again_is_free(patch: pytest.MonkeyPatch) -> None:
    """Whoever has read the same survey before is charged nothing."""
    honest, again = respondent.Entry, notes_reading(patch)

    def entry(digest: str, cost: float, body: bytes, **rest: Any) -> Entry:
        return honest(digest, 0.0 if again[-1] else cost, body, **rest)

    patch.setattr(respondent, "Entry", entry)


def read_again_is_padded(patch: pytest.MonkeyPatch) -> None:
    """Whoever has read the same survey before sends a space more."""
    honest, again = respondent.dump_report, notes_reading(patch)
    patch.setattr(respondent, "dump_report", lambda report, survey: honest(report, survey) + b" " * again[-1])


def notes_reading(patch: pytest.MonkeyPatch) -> list[bool]:
    """For each survey that the client reads, whether it has read the same bytes before."""
    known: set[bytes] = set()
    again: list[bool] = []

    def read(body: bytes) -> Survey:
        again.append(body in known)
        known.add(body)
        return load_survey(body)

    patch.setattr(revisions, "load_survey", read)
    return again


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
        (read_again_is_free, FREE),
        (read_again_is_padded, REREAD),
        (second_visit_tells, TWICE),
        (late_visit_tells, TWICE),
        (sends_nothing, "no report leaves the device after an answer"),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_dishonest_client_is_seen(patch: Patch, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    patch(monkeypatch)
    scenario = RICH if patch in {refusal_frees, asks_others} else ORDINARY
    check = check_events("python", scenario, 2 if scenario is ORDINARY else 1)

    assert check.outcome == FAILED
    assert told in check.message


@pytest.mark.parametrize("bound", [256, 2])
def test_client_that_draws_too_much_has_failed(bound: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether one event then goes hundreds of ways, or one way never ends: nothing is followed for hours."""

    def randomize(*words: Any, **named: Any) -> Report:
        draws = words[2]
        while draws.below(bound) == 0:
            pass
        return HONEST(*words, **named)

    monkeypatch.setattr(respondent, "randomize", randomize)
    check = check_events("python", ORDINARY, 3)

    assert (check.outcome, check.message) == (FAILED, UNFOLLOWED)
