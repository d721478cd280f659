"""
A device, its person and its aggregator, as small as they can be: what one event does to them.

The client is the running one, with its file ledger and its transport. Only what lies under it is made up: the network,
the clock, the last step before a kill. A kill lets nothing happen that would have come after it, on the disk or on the
wire; the order in which power cuts may lose what was not synced is the subject of the ledger's own tests.
"""

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sottovoce.audit.pretended_aggregator import PretendedAggregator, Session
from sottovoce.audit.python_code import standing_in
from sottovoce.client import kept_survey, revisions
from sottovoce.client.draws import Draws
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.respondent import Respondent
from sottovoce.client.transport import Transport
from sottovoce.shared.allowance import Allowance
from sottovoce.shared.errors import SurveyError
from sottovoce.shared.parse_survey import load_survey
from sottovoce.shared.spec import Survey
from sottovoce.shared.tokens import print_token

ORIGIN = "https://audit.invalid"
ANY_PRICE = Allowance(float("inf"), float("inf"))
TOKENS = ("1" * 16, "2" * 16)
STEPS = ("link", "replace", "unlink")
"""What the client does on the disk; to sync is free here."""

_ID = re.compile(rb'report_id[\\"]+:[\\" ]*([0-9a-f]{32})')
MOST_STEPS = 24
JUMP = 400 * 86400.0
"""Seconds that the clock jumps by: over every window."""


@dataclass(frozen=True)
class State:
    """
    A device and its aggregator between two events: all that what comes next can depend on.

    Attributes:
        files: the ledger's, by name.
        stored: the report that the aggregator holds for each id; "" once it is withdrawn.
        spent: the tokens that were taken, with the id of their report.
        revised: the aggregator shows a second version.
        token: which of the person's links is used now.
    """

    files: tuple[tuple[str, bytes], ...] = ()
    stored: tuple[tuple[str, bytes], ...] = ()
    spent: tuple[tuple[str, str], ...] = ()
    revised: bool = False
    token: int = 0


@dataclass(frozen=True)
class Happened:
    """
    What one event did, beside its end.

    Attributes:
        state: at its end.
        wire: what passed, in order: ("sent", token, body), ("told", id, b"") of a receipt that reached the device,
            ("ended", "", b"") once the person has given a report up, ("asked", link, questions) that are shown.
        killed: the event was ended by a kill.
        steps: how many it took on the disk and on the wire.
    """

    state: State
    wire: tuple[tuple[str, str, bytes], ...]
    killed: bool
    steps: int


@dataclass(frozen=True)
class Scenario:
    """
    A small survey to follow.

    Attributes:
        name: for the report.
        words: what it consists of.
        survey: its first version.
        corrected: its second one.
        answers: of the two truths.
    """

    name: str
    words: str
    survey: Survey
    corrected: Survey
    answers: tuple[Mapping[str, object], Mapping[str, object]]

    @property
    def epsilon(self) -> float:
        """What one report costs."""
        return self.survey.epsilon


class Killed(BaseException):
    """The process ends here; nothing that follows happens."""


def _scenario(name: str, words: str, answers: tuple[Mapping[str, object], ...], **more: Any) -> Scenario:  # noqa: ANN401
    first = standing_in(*_ITEMS[name], **more)
    second = standing_in(*_ITEMS[name], **more, revision=2, replaces=first.digest)
    return Scenario(name, words, first, second, answers)  # type: ignore[arg-type]


_COIN = {"type": "boolean", "mechanism": {"name": "coin_flip"}}
_GROUP = {"type": "select_one", "name": "group", "choices": [{"name": "a"}, {"name": "b"}], "public": True}
_ITEMS: dict[str, list[dict[str, Any]]] = {
    "one question, one wave": [{**_COIN, "name": "q"}],
    "links, a condition, ask 1 of 2, two waves": [
        _GROUP,
        {**_COIN, "name": "p"},
        {**_COIN, "name": "q", "visible_if": {"group": "a"}, "when_absent": "no"},
    ],
}


def scenarios() -> list[Scenario]:
    """The small surveys that every audit follows."""
    ordinary, rich = _ITEMS
    year = [{"opens": f"{2001 + wave}-01-01T00:00:00Z", "closes": f"{2002 + wave}-01-01T00:00:00Z"} for wave in (0, 1)]
    both = tuple({"group": "a", "p": word, "q": word} for word in ("no", "yes"))
    return [
        _scenario(ordinary, "an open survey of one coin", ({"q": "no"}, {"q": "yes"})),
        _scenario(rich, "a survey for invited people", both, ask=1, access="token", waves=year),
    ]


@dataclass
class World:
    """One event while it happens."""

    scenario: Scenario
    draws: Any
    folder: Path
    token: int
    answers: Mapping[str, object]
    aggregator: PretendedAggregator
    names: int
    kill_at: int | None = None
    steps: int = 0
    clock: float = 0.0
    meanwhile: Callable[[], None] | None = None

    def open(self, wave: int = 0) -> Respondent:
        """The person's link, in a new process or tab; what is asked is shown."""
        survey = self.aggregator.versions[0]
        mine = print_token(TOKENS[self.token], survey.name)
        url = f"{ORIGIN}/s/{survey.name}#d={survey.digest[:32]}&t={mine}" + (f"&w={wave}" if wave else "")
        draws = _Numbered(self)
        me = Respondent.connect(url, FileLedger(self.folder), reach=self._reach, draws=draws, allowance=ANY_PRICE)
        self.aggregator.wire.append(("asked", f"{self.token} {wave}", repr(me.places).encode()))
        return me

    def answer(self, me: Respondent) -> None:
        """What the form does with the last press of the button; a report drawn with the other link is the person's."""
        if not me.drawn and me.drawn_elsewhere:
            me.resume()
        else:
            me.answer(self.answers)

    def drawn(self) -> None:
        """A report is drawn, and not yet recorded: whatever else is to happen just then happens now."""
        happens, self.meanwhile = self.meanwhile, None
        if happens is not None:
            happens()

    def step(self) -> None:
        """One more step, unless the process is killed before it."""
        if self.kill_at is not None and self.steps >= self.kill_at:
            raise Killed
        self.steps += 1

    @contextmanager
    def without_reply(self) -> Iterator[None]:
        """What leaves the device may arrive or not; nobody there knows."""
        self.aggregator.unreachable = True
        try:
            yield
        finally:
            self.aggregator.unreachable = False

    def _reach(self, origin: str) -> Transport:
        session: Any = Session(self.aggregator, self.step)
        return Transport(origin, session, lambda _seconds: None, jitter=lambda: 0.0)


class _Numbered(Draws):
    """The audit's branches, and ids that are numbers: no two alike in one course."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.below, self.pick = world.draws.below, world.draws.pick  # type: ignore[method-assign]

    def identity(self) -> str:
        self._world.names += 1
        name = f"{self._world.names:032x}"
        self._world.drawn()
        return name


def _answer(world: World) -> None:
    world.answer(world.open())


def _reload(world: World) -> None:
    me = world.open()
    if me.drawn:
        me.send()


def _two_tabs(world: World) -> None:
    slow, quick = world.open(), world.open()

    def overtake() -> None:
        with suppress(SurveyError), world.without_reply():
            world.answer(quick)

    world.meanwhile = overtake
    with suppress(SurveyError):
        world.answer(slow)
    world.drawn()  # at the latest


def _corrected(world: World) -> None:
    world.aggregator.versions = (world.scenario.corrected, world.scenario.survey)
    _answer(world)


def _next_wave(world: World) -> None:
    world.answer(world.open(wave=len(world.scenario.survey.waves) - 1))


def _withdraw(world: World) -> None:
    world.open().withdraw()
    world.aggregator.wire.append(("ended", "", b""))


def _forget(world: World) -> None:
    ledger = FileLedger(world.folder)
    for name in ledger.names():
        ledger.forget(name)
    world.aggregator.wire.append(("ended", "", b""))


def _refused(world: World) -> None:
    world.aggregator.refusing = True
    with suppress(SurveyError):
        _answer(world)
    world.aggregator.refusing = False
    world.token = 1
    _answer(world)


def _offline(world: World) -> None:
    me = world.open()
    with world.without_reply():
        world.answer(me)


def _clock_jumps(world: World) -> None:
    world.clock = JUMP
    _answer(world)


EVENTS: dict[str, Callable[[World], None]] = {
    "answered": _answer,
    "opened again": _reload,
    "answered in two tabs": _two_tabs,
    "answered the corrected version": _corrected,
    "answered the last wave": _next_wave,
    "withdrawn": _withdraw,
    "forgotten": _forget,
    "refused, then answered with another link": _refused,
    "answered without network": _offline,
    "answered while the clock is wrong by a year": _clock_jumps,
}
"""What may happen, in words for the report. Of two tabs the second answers, and hears of no receipt, while the first
draws: no other moment is as bad, and tabs that answer one after the other are two events."""

KILLS = {f"killed at step {step} of an answer": step for step in range(MOST_STEPS)}
"""The same answer, with the process ended before each of its steps on the disk and on the wire."""


def run_event(scenario: Scenario, state: State, event: str, truth: int, draws: Any, folder: Path) -> Happened:  # noqa: ANN401
    """
    What one event makes of a state, along one way of the coins.

    Args:
        scenario: the small survey.
        state: before it.
        event: one of ``EVENTS`` or ``KILLS``.
        truth: which of the scenario's answers are given, if any are.
        draws: stands in for randomness.
        folder: for the ledger's files.
    """
    _write(folder, state.files)
    versions = (scenario.corrected, scenario.survey) if state.revised else (scenario.survey,)
    aggregator = PretendedAggregator(versions, dict(state.stored), dict(state.spent))
    answers, names, kill_at = scenario.answers[truth], names_of(state), KILLS.get(event)
    world = World(scenario, draws, folder, state.token, answers, aggregator, names, kill_at)
    killed = False
    with _watched(world):
        try:
            EVENTS.get(event, _answer)(world)
        except SurveyError:
            pass  # told to the person, who may do something else next
        except Killed:
            killed = True
    stored, spent = tuple(sorted(aggregator.stored.items())), tuple(sorted(aggregator.spent.items()))
    end = State(_read(folder), stored, spent, len(aggregator.versions) > 1, world.token)
    return Happened(end, tuple(aggregator.wire), killed, world.steps)


def charged(state: State, folder: Path) -> float:
    """What the ledger says is spent."""
    _write(folder, state.files)
    return FileLedger(folder).spent(ORIGIN)


def names_of(state: State) -> int:
    """The last number that is an id in anything that is left of earlier events: the next one is told from all."""
    texts = [*(content for _, content in state.files), *(body for _, body in state.stored)]
    return max((int(found, 16) for text in texts for found in _ID.findall(text)), default=0)


def _read(folder: Path) -> tuple[tuple[str, bytes], ...]:
    found = sorted((path.name, path.read_bytes()) for path in folder.iterdir())
    # What a kill leaves half-written has a name by chance, which tells nothing.
    parts = sorted(content for name, content in found if name.endswith(".part"))
    whole = [(name, content) for name, content in found if not name.endswith(".part")]
    return (*whole, *((f"{number}.part", content) for number, content in enumerate(parts)))


def _write(folder: Path, files: tuple[tuple[str, bytes], ...]) -> None:
    for path in folder.iterdir():
        path.unlink()
    for name, content in files:
        (folder / name).write_bytes(content)


@contextmanager
def _watched(world: World) -> Iterator[None]:
    """Steps on the disk are counted, and the clock is wrong."""
    kept: list[tuple[Any, str, Any]] = [(os, name, getattr(os, name)) for name in STEPS]
    free = [
        (os, "fsync", lambda _handle: None),
        (time, "time", lambda clock=time.time: clock() + world.clock),
        (revisions, "load_survey", _parsed),
        (kept_survey, "load_survey", _parsed),
    ]

    def counted(step: Callable[..., Any]) -> Callable[..., Any]:
        def take(*words: Any, **options: Any) -> Any:  # noqa: ANN401 - that of os
            world.step()
            return step(*words, **options)

        return take

    try:
        for module, name, step in [*kept]:
            setattr(module, name, counted(step))
        for module, name, instead in free:
            kept.append((module, name, getattr(module, name)))
            setattr(module, name, instead)
        yield
    finally:
        for module, name, before in kept:
            setattr(module, name, before)


# Half of the time would go into reading the same two surveys again and again; what is read depends on the bytes alone.
_parsed = cache(load_survey)
