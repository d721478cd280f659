"""A device, its person and its aggregator, as small as they can be: what one event does to them.

The client is the running one, with its file ledger and its transport. Only what lies under it is made up: the network
and the clock. A kill lets nothing happen that would have come after it: what it leaves is what lay on the disk and had
passed on the wire before a step, so one run shows what a kill at each of its steps does. The order in which power cuts
may lose what was not synced is the subject of the ledger's own tests.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import count
from pathlib import Path
from threading import get_ident
from typing import Any

from sottovoce.client import revisions
from sottovoce.client.draws import Draws
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.respondent import Respondent
from sottovoce.client.transport import Transport
from sottovoce.shared.accounting import Allowance
from sottovoce.shared.errors import SurveyError
from sottovoce.shared.parse_survey import load_survey
from sottovoce.shared.redemption import print_token

from tests.model.device_state import Happened, State, Way, last_named, names_of
from tests.model.pretended_aggregator import PretendedAggregator, Session
from tests.model.small_files import read_small, write_small
from tests.model.small_surveys import Scenario

ORIGIN = "https://audit.invalid"
ANY_PRICE = Allowance(float("inf"), float("inf"))
TOKENS = ("1" * 16, "2" * 16)
STEPS = ("link", "replace", "unlink")
"""What the client does on the disk; to sync is free here."""

MOST_STEPS = 24
JUMP = 400 * 86400.0
"""Seconds that the clock jumps by: over every window."""


class _Answers(Mapping[str, object]):
    """Somebody's answers, which know whether they were looked at."""

    def __init__(self, answers: Mapping[str, object]) -> None:
        self._answers = answers
        self.looked = False

    def __getitem__(self, name: str) -> object:
        return self._seen()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._seen())

    def __len__(self) -> int:
        return len(self._seen())

    def __repr__(self) -> str:
        return repr(self._seen())

    def _seen(self) -> Mapping[str, object]:
        self.looked = True
        return self._answers


@dataclass
class World:
    scenario: Scenario
    before: State
    draws: Any
    folder: Path
    token: int
    answers: _Answers
    aggregator: PretendedAggregator
    names: int
    is_killed: bool
    kills: list[Happened] = field(default_factory=list)
    clock: float = 0.0
    timed: bool = False
    meanwhile: Callable[[], None] | None = None
    is_signed: bool = False
    thread: int = field(default_factory=get_ident)

    def open(self, wave: int = 0) -> Respondent:
        """The person's link, in a new process or tab; what is asked is shown."""
        survey = self.aggregator.versions[0]
        self.aggregator.link = TOKENS[self.token]
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
        """One more step: what there is before it is what a kill would leave."""
        if self.is_killed:
            self.kills.append(self.happened(killed=True))

    def happened(self, killed: bool = False) -> Happened:
        told = self.aggregator
        stored, spent = tuple(sorted(told.stored.items())), tuple(sorted(told.spent.items()))
        named = last_named(self.before, told.wire)
        state = State(_read(self.folder), stored, spent, len(told.versions) > 1, self.token, named)
        return Happened(state, tuple(told.wire), killed)

    def time(self, clock: Callable[[], float]) -> float:
        """What the clock shows; threads of other tests' servers are none of the device's."""
        if get_ident() != self.thread:
            return clock()
        self.timed = True
        return clock() + self.clock

    @contextmanager
    def without_reply(self) -> Iterator[None]:
        """What leaves the device may arrive or not; nobody there knows."""
        self.aggregator.unreachable = True
        try:
            yield
        finally:
            self.aggregator.unreachable = False

    def _reach(self, origin: str) -> Transport:
        def connect() -> Any:
            return Session(self.aggregator, self.step)

        return Transport(origin, connect(), lambda _seconds: None, jitter=lambda: 0.0, fresh=connect)


class _Numbered(Draws):
    """The audit's branches, and ids that are numbers: no two alike in one course."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.below, self.pick = world.draws.below, world.draws.pick  # type: ignore[method-assign]
        if world.is_signed:
            self.pick = self._pick  # type: ignore[method-assign]

    def identity(self) -> str:
        self._world.names += 1
        name = f"{self._world.names:032x}"
        self._world.drawn()
        return name

    def _pick(self, weights: Sequence[int]) -> int:
        value: int = self._world.draws.pick(weights)
        self._world.drawn()
        return value

    def exactly(self, count: int) -> bytes:
        # What an id is blinded with: uniform, and so another subject than what is followed here.
        return b"\1" * count


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


def _drawn_in_two_tabs(world: World) -> None:
    world.is_signed = True
    with suppress(SurveyError):
        world.open().redeem()
    _two_tabs(world)


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


def _offline(world: World) -> None:
    me = world.open()
    with world.without_reply():
        world.answer(me)


def _marred(world: World) -> None:
    world.aggregator.marring = True
    _answer(world)


def _busy(world: World) -> None:
    world.aggregator.busy = True
    with suppress(SurveyError):
        _answer(world)
    world.aggregator.busy = False
    _answer(world)


def _clock_jumps(world: World) -> None:
    world.clock = JUMP
    _answer(world)


ANSWERED = "answered"
"""The event that is nothing but an answer."""

REFUSED = "refused, then answered with another link"
"""What is run of it is the first half; the second is nothing but an answer."""

CORRECTED = "answered the corrected version"
LATE = "answered while the clock is wrong by a year"

MARRED = "answered where what is signed is no signature"
DRAWN_TWICE = "redeemed, then answered in two tabs"
BUSY = "answered where nothing is signed at first"
SIGNED = {MARRED, DRAWN_TWICE, BUSY}
"""Only where reports come with a signature."""

EVENTS: dict[str, Callable[[World], None]] = {
    ANSWERED: _answer,
    "opened again": _reload,
    "answered in two tabs": _two_tabs,
    CORRECTED: _corrected,
    "answered the last wave": _next_wave,
    "withdrawn": _withdraw,
    "forgotten": _forget,
    REFUSED: _refused,
    "answered without network": _offline,
    LATE: _clock_jumps,
    MARRED: _marred,
    DRAWN_TWICE: _drawn_in_two_tabs,
    BUSY: _busy,
}
"""What may happen, in words for the report. Of two tabs the second answers, and hears of no receipt, while the first
draws: no other moment is as bad, and tabs that answer one after the other are two events."""


def events_of(scenario: Scenario) -> tuple[str, ...]:
    """Those of ``EVENTS`` that happen in a small survey."""
    return tuple(event for event in EVENTS if event not in SIGNED or scenario.survey.is_blind)


KILLS = {f"killed at step {step} of an answer": step for step in range(MOST_STEPS)}
"""The same answer, with the process ended before each of its steps on the disk and on the wire."""


def same_event(state: State, event: str) -> str:
    """An event that does to this state the very same: where the corrected version is shown, each answer is to it."""
    return ANSWERED if state.revised and event == CORRECTED else event


def run_event(
    scenario: Scenario, state: State, event: str, truth: int, draws: Any, folder: Path, remembers: bool = False
) -> Way:
    """What one of ``EVENTS`` makes of a state; ``truth`` None gives no answer, ``remembers`` reads bytes once."""
    _write(folder, state.files)
    versions = (scenario.corrected, scenario.survey) if state.revised else (scenario.survey,)
    aggregator = PretendedAggregator(versions, dict(state.stored), dict(state.spent))
    answers = _Answers(scenario.answers[truth])
    world = World(scenario, state, draws, folder, state.token, answers, aggregator, names_of(state), event == ANSWERED)
    with (
        _watched(world, remembers),
        suppress(SurveyError),
    ):  # what is told to the person, who may do something else next
        EVENTS[event](world)
    return Way(world.happened(), tuple(world.kills), answers.looked, world.timed)


def charged(state: State, folder: Path) -> float:
    """What the ledger says is spent."""
    _write(folder, state.files)
    return FileLedger(folder).spent(ORIGIN)


def _read(folder: Path) -> tuple[tuple[str, bytes], ...]:
    found = [(name, read_small(f"{folder}/{name}")) for name in sorted(os.listdir(folder))]  # noqa: PTH208 - many thousands of times
    # What a kill leaves half-written has a name by chance, which tells nothing.
    parts = sorted(content for name, content in found if name.endswith(".part"))
    whole = [(name, content) for name, content in found if not name.endswith(".part")]
    return (*whole, *((f"{number}.part", content) for number, content in enumerate(parts)))


def _write(folder: Path, files: tuple[tuple[str, bytes], ...]) -> None:
    for name in os.listdir(folder):  # noqa: PTH208 - as above
        os.unlink(f"{folder}/{name}")  # noqa: PTH108 - as above
    for name, content in files:
        write_small(f"{folder}/{name}", content)


@contextmanager
def _watched(world: World, remembers: bool) -> Iterator[None]:
    """Steps on the disk are counted, and the clock is wrong."""
    kept: list[tuple[Any, str, Any]] = [(os, name, getattr(os, name)) for name in STEPS]
    free = [
        (os, "fsync", lambda _handle: None),
        (time, "time", partial(world.time, time.time)),
        (tempfile, "_name_sequence", map(str, count())),
        *([(revisions, "load_survey", _parsed)] if remembers else []),
    ]

    def counted(step: Callable[..., Any]) -> Callable[..., Any]:
        def take(*words: Any, **options: Any) -> Any:
            if get_ident() == world.thread:
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


# Half of the time would go into reading the same two surveys again and again.
_parsed = cache(load_survey)
