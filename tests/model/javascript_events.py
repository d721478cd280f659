"""The part of an audit that lets everything happen to the browser's client, in every order, under node."""

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from pathlib import Path
from threading import Timer
from typing import IO, Any

from sottovoce.audit.check import FAILED, NOT_DONE, Check
from sottovoce.audit.run import laid_out

from tests.model.device_events import MOST_WAYS, check_device, subject_of
from tests.model.device_state import Happened, State, Way, last_named, names_of
from tests.model.small_surveys import Scenario

SECONDS = 3600
"""What takes longer is stopped, and has failed."""

_READS = "async function loadSurvey(bytes) {"
_REMEMBERS = "const loadSurvey = globalThis.remembering(readSurvey);\nasync function readSurvey(bytes) {"

Files = tuple[tuple[str, bytes], ...]
"""Of a state: names and contents."""

_LACK = "node is not installed; the JavaScript client was not run"
_BROKEN = "the scripts do not run under node as they should"


class BrokenDevice(Exception):
    """What an event does to the client cannot be told."""


class Told:
    """What a process has told of states, each text once: what comes again and again is the same object, too."""

    def __init__(self) -> None:
        self.texts: list[Any] = []
        self.record = cache(self._record)
        self._bytes = cache(lambda number: self.texts[number].encode())
        self._known: dict[tuple[int, int], Happened] = {}

    def happened(self, number: int, before: State) -> Happened:
        known = self._known.get((number, before.named))
        if known is None:
            known = self._known[number, before.named] = self._happened(json.loads(self.texts[number]), before)
        return known

    def _happened(self, told: Sequence[Any], before: State) -> Happened:
        files, stored, spent, revised, token, passed, killed = told
        texts = self.texts
        records = tuple(self.record(*places) for places in _by(4, files))
        bodies = tuple((texts[report_id], self._bytes(body)) for report_id, body in _by(2, stored))
        used = tuple((texts[link], texts[report_id]) for link, report_id in _by(2, spent))
        wire = tuple((texts[kind], texts[name], self._bytes(body)) for kind, name, body in _by(3, passed))
        return Happened(State(records, bodies, used, revised, token, last_named(before, wire)), wire, killed)

    def _record(self, *numbers: int) -> tuple[str, bytes]:
        *place, content = (self.texts[number] for number in numbers)
        return json.dumps(place), content.encode("latin-1")


def _by(count: int, numbers: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return zip(*[iter(numbers)] * count, strict=True)


@dataclass
class BrowserDevice:
    """The browser's client, a process that is asked line by line; ``runs`` are of one event along one way of coins."""

    scenario: Scenario
    orders: IO[str]
    replies: IO[str]
    runs: int = 0
    told: Told = field(default_factory=Told)
    spent: dict[Files, float] = field(default_factory=dict)

    def ways(self, state: State, event: str, truth: int) -> Iterator[tuple[Way, Fraction]]:
        """What one of ``EVENTS`` makes of a state, along each way of the coins; BrokenDevice if it is not followed."""
        order = {
            "scenario": self.scenario.name,
            "event": event,
            "truth": truth,
            "files": _files(state),
            "stored": [(report_id, body.decode()) for report_id, body in state.stored],
            "spent": state.spent,
            "revised": state.revised,
            "token": state.token,
            "names": names_of(state),
        }
        runs, texts, ways = self._ask(order)
        self.runs += runs
        self.told.texts += texts
        for (happened, kills, looked, timed), _, likely in ways:
            killed = tuple(self.told.happened(kill, state) for kill in kills)
            yield Way(self.told.happened(happened, state), killed, looked, timed), Fraction(likely)

    def charged(self, state: State) -> float:
        """What the ledger says is spent."""
        # It is asked of nothing but the files.
        if state.files not in self.spent:
            self.spent[state.files] = float(self._ask({"files": _files(state)}))
        return self.spent[state.files]

    def _ask(self, order: Mapping[str, object]) -> Any:
        try:
            self.orders.write(f"{json.dumps(order)}\n")
            self.orders.flush()
            reply = json.loads(self.replies.readline())
        except (OSError, ValueError):
            reply = None
        if reply is None:
            raise BrokenDevice
        return reply


def check_javascript_events(
    scripts: Mapping[str, str], scenarios: Sequence[Scenario], lengths: Mapping[str, int]
) -> list[Check]:
    """Every course of events of the browser's client; ``lengths`` are by the scenario's name."""
    node = shutil.which("node")
    if node is None:
        return [Check("javascript", subject_of(scenario), NOT_DONE, message=_LACK) for scenario in scenarios]
    return [_check(node, scripts, scenario, lengths[scenario.name]) for scenario in scenarios]


def _check(node: str, scripts: Mapping[str, str], scenario: Scenario, length: int) -> Check:
    try:
        with ExitStack() as stack:
            device = stack.enter_context(browser_device(node, scripts, scenario))
            if length == 1:
                return check_device("javascript", scenario, length, device, None)
            quicker = stack.enter_context(browser_device(node, remembering_scripts(scripts), scenario))
            return check_device("javascript", scenario, length, device, quicker)
    except (BrokenDevice, OSError, LookupError, ValueError, TypeError):
        return Check("javascript", subject_of(scenario), FAILED, message=_BROKEN)


@contextmanager
def browser_device(node: str, scripts: Mapping[str, str], scenario: Scenario) -> Iterator[BrowserDevice]:
    """The client, ready for events; ``scripts`` are from ``page.opened()``."""
    own = {part.name: part.read_text(encoding="utf-8") for part in Path(__file__).parent.glob("*.mjs")}
    with laid_out(node, {**scripts, **own}, "javascript_events.mjs") as command:
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, encoding="utf-8"
        ) as process:
            watch = Timer(SECONDS, process.kill)
            watch.start()
            try:
                assert process.stdout is not None
                process.stdin.write(f"{json.dumps(_begin(scripts, scenario))}\n")
                # Else it may be that it is written first when the process has ended.
                process.stdin.flush()
                yield BrowserDevice(scenario, process.stdin, process.stdout)
            finally:
                watch.cancel()
                process.kill()


def _begin(scripts: Mapping[str, str], scenario: Scenario) -> dict[str, object]:
    versions = [survey.canonical.decode() for survey in (scenario.survey, scenario.corrected)]
    told = {"versions": versions, "answers": scenario.answers}
    return {"scripts": list(scripts), "scenarios": {scenario.name: told}, "most": MOST_WAYS}


def remembering_scripts(scripts: Mapping[str, str]) -> dict[str, str]:
    """The scripts, which read a survey from the same bytes once: a quarter of the time would else go into that."""
    return {name: script.replace(_READS, _REMEMBERS) for name, script in scripts.items()}


def _files(state: State) -> list[list[str]]:
    """Records of the database: its name, the store's, the key and the bytes."""
    return [[*json.loads(name), content.decode("latin-1")] for name, content in state.files]
