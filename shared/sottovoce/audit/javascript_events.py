"""The part of an audit that lets everything happen to the browser's client, in every order, under node."""

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from threading import Timer
from typing import IO, Any

from sottovoce.audit.check import FAILED, NOT_DONE, Check
from sottovoce.audit.device_events import MOST_WAYS, check_device, subject_of
from sottovoce.audit.device_state import Happened, State, Way, last_named, names_of
from sottovoce.audit.node import laid_out
from sottovoce.audit.small_surveys import Scenario

SECONDS = 3600
"""What takes longer is stopped, and has failed."""

_READS = "async function loadSurvey(bytes) {"
_REMEMBERS = "const loadSurvey = globalThis.remembering(readSurvey);\nasync function readSurvey(bytes) {"

_LACK = "node is not installed; the JavaScript client was not run"
_BROKEN = "the scripts do not run under node as they should"


class BrokenDevice(Exception):
    """What an event does to the client cannot be told."""


@dataclass
class BrowserDevice:
    """
    The browser's client, in a process of its own that is asked line by line.

    Attributes:
        scenario: the small survey.
        orders: to the process.
        replies: from it.
        runs: of the client until now, one event each along one way of its coins.
    """

    scenario: Scenario
    orders: IO[str]
    replies: IO[str]
    runs: int = 0

    def ways(self, state: State, event: str, truth: int) -> Iterator[tuple[Way, Fraction]]:
        """
        What one event makes of a state, along each way of the coins.

        Args:
            state: before it.
            event: one of ``EVENTS``.
            truth: which of the scenario's answers are given, if any are.

        Raises:
            BrokenDevice: it cannot be followed.
        """
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
        runs, ways = self._ask(order)
        self.runs += runs
        for ((happened, kills, looked, timed), _), likely in ways:
            killed = tuple(_happened(state, kill) for kill in kills)
            yield Way(_happened(state, happened), killed, looked, timed), Fraction(likely)

    def charged(self, state: State) -> float:
        """What the ledger says is spent."""
        return float(self._ask({"files": _files(state)}))

    def _ask(self, order: Mapping[str, object]) -> Any:  # noqa: ANN401 - whatever it replies
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
    """
    Every course of events of the browser's client.

    Args:
        scripts: from ``page.opened()``.
        scenarios: the small surveys.
        lengths: most events in a course, by the scenario's name.
    """
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
    """
    The client, ready for events.

    Args:
        node: the program.
        scripts: from ``page.opened()``.
        scenario: the small survey.
    """
    with laid_out(node, scripts, "javascript_events.mjs") as command:
        pipe = subprocess.PIPE
        with subprocess.Popen(  # noqa: S603 - the program that was found, and our own driver
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, encoding="utf-8"
        ) as process:
            watch = Timer(SECONDS, process.kill)
            watch.start()
            try:
                assert process.stdin is not None  # noqa: S101 - they are pipes
                assert process.stdout is not None  # noqa: S101
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


def _happened(before: State, told: Mapping[str, Any]) -> Happened:
    records = tuple((json.dumps(place), content.encode("latin-1")) for *place, content in told["files"])
    stored = tuple((report_id, body.encode()) for report_id, body in told["stored"])
    spent = tuple((token, report_id) for token, report_id in told["spent"])
    wire = tuple((kind, name, body.encode()) for kind, name, body in told["wire"])
    end = State(records, stored, spent, told["revised"], told["token"], last_named(before, wire))
    return Happened(end, wire, told["killed"])
