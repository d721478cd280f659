"""Run the Python client for an audit, as a program of its own: jobs come line by line, each in a process of its own.

In:   {home, origin, visits: [{link, tape, answers, before, allowance, present, end}]}
Out:  {visits: [{messages, used, spent}], status}

A visit is one person with one link: she answers ``before`` in vain where there is something, answers, sends again where
that is needed, and then does ``end``: "", "look", "withdraw" or "forget". ``messages`` are what the library returned or
raised. Randomness comes from the tape through the parameter that the library offers for it.
"""

import atexit
import gc
import json
import logging
import os
import select
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from sottovoce.client.draws import Draws
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.respondent import Respondent
from sottovoce.client.transport import Transport
from sottovoce.shared.accounting import Allowance
from sottovoce.shared.errors import NotYet, SurveyError, TransportError

RUN_TIMEOUT_SECONDS = 20
"""A run takes milliseconds; a thread that waits for longer would keep its process from ending."""

_FAILED_TRIES = 2
_ORDINARY = 1_700_000_000


class _Tape:
    """Random bytes to read once."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.used = 0

    def read(self, count: int) -> bytes:
        """Return the next bytes; fewer at the end, which the client must refuse."""
        self.used += count
        return self._content[self.used - count : self.used]


class _Visit:
    def __init__(self, job: dict[str, Any], visit: dict[str, Any]) -> None:
        self._tape = _Tape(bytes.fromhex(visit["tape"]))
        self._visit = visit
        self._job = job
        self._moment = visit["present"] or _ORDINARY
        self.messages: list[str] = []

    def perform(self) -> dict[str, Any]:
        me = None
        try:
            me = self._begin()
            if self._visit["end"] != "look":
                self._answer(me)
        except Exception as error:  # whatever it is, it is how the visit ends
            self._note_error(error)
        return {"messages": self.messages, "used": self._tape.used, "spent": 0.0 if me is None else me.spent}

    def _begin(self) -> Respondent:
        question, total = self._visit["allowance"] or (None, None)
        most = float("inf")
        allowance = Allowance(most if question is None else question, most if total is None else total)
        transport = Transport(self._job["origin"], sleep=lambda _seconds: None)
        options = {"draws": Draws(self._tape.read), "allowance": allowance, "clock": self._clock}
        ledger = FileLedger(Path(self._job["home"]) / "ledger")
        return Respondent.connect(self._visit["link"], ledger, reach=lambda _origin: transport, **options)

    def _answer(self, me: Respondent) -> None:
        self.messages.append(" ".join(question.name for question in me.asked))
        me.redeem()
        if self._visit["before"] is not None:
            try:
                me.record(self._visit["before"])
            except SurveyError as error:
                self._note_error(error)
        self.messages.append(json.dumps(self._sent(me), sort_keys=True))
        if self._visit["end"] == "withdraw":
            me.withdraw()
        elif self._visit["end"] == "forget":
            for name in me.ledger.names():  # type: ignore[attr-defined]
                me.ledger.forget(name)  # type: ignore[attr-defined]

    def _sent(self, me: Respondent) -> dict[str, Any]:
        """Return the receipt. After a wait or a refusal the report is sent again."""
        send: Callable[[], dict[str, Any]] = partial(me.answer, self._visit["answers"])
        for _ in range(_FAILED_TRIES):
            try:
                return send()
            except NotYet as waits:
                self._note_error(waits)
                self._moment = waits.send_at
            except TransportError as refused:
                self._note_error(refused)
            send = me.send
        return send()

    def _note_error(self, error: Exception) -> None:
        self.messages.append(" ".join([type(error).__name__, str(error), *getattr(error, "__notes__", [])]))

    def _clock(self) -> datetime:
        return datetime.fromtimestamp(self._moment, UTC)


def main() -> None:
    """Run every job that comes on standard input; outcomes go to the descriptor that the first argument names."""
    with os.fdopen(int(sys.argv[1]), "w", encoding="utf-8") as replies:
        for line in sys.stdin:
            replies.write(f"{_run(line)}\n")
            replies.flush()


def _run(line: str) -> str:
    """Return the outcome of one job, run in a fork of this process that ends as programs end."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receiving)
        _become(line, os.fdopen(sending, "w", encoding="utf-8"))
    os.close(sending)
    with os.fdopen(receiving, encoding="utf-8") as pipe:
        text = pipe.read() if select.select([pipe], [], [], RUN_TIMEOUT_SECONDS)[0] else ""
    outcome = json.loads(text or '{"visits": [], "modules": []}')
    _load(outcome["modules"])
    _, status = os.waitpid(child, 0)
    return json.dumps({"visits": outcome["visits"], "status": status})


def _load(modules: list[str]) -> None:
    """Load once what each run would else load for itself."""
    for name in modules:
        if name not in sys.modules:
            with suppress(Exception):
                import_module(name)
    gc.freeze()


def _become(line: str, replies: TextIO) -> None:
    job = json.loads(line)
    os.chdir(job["home"])
    signal.alarm(RUN_TIMEOUT_SECONDS)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123 - for as long as the process lives
    # Programs that use the library may print its log.
    logging.basicConfig(level=logging.NOTSET, format="%(name)s %(message)s")
    found = [_Visit(job, visit).perform() for visit in job["visits"]]
    with replies:
        replies.write(json.dumps({"visits": found, "modules": [*sys.modules]}))
    # What is left for the end of a program has its time; to take the interpreter down takes longer than all the rest.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    try:
        main()
    except Exception:
        traceback.print_exc()
        sys.exit(1)
