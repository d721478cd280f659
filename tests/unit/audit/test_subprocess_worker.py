"""Work in a second process comes back whole, or has failed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sottovoce.audit.check import FAILED, PASSED, Check
from sottovoce.audit.subprocess_worker import start_in_fork, surely


def test_checks_come_back() -> None:
    """Whatever was changed in this process is so in the other."""
    secret = str(os.getpid())
    assert start_in_fork("python", "q", lambda: [Check("python", secret, PASSED)])() == [
        Check("python", secret, PASSED)
    ]


def test_work_that_stops_has_failed() -> None:
    for work in (lambda: 1 / 0, lambda: os._exit(3)):
        [check] = start_in_fork("python", "q", work)()  # type: ignore[arg-type]
        assert (check.outcome, check.message) == (FAILED, "the client stops with an error")
    assert surely("python", "q", lambda: 1 / 0)[0].outcome == FAILED  # type: ignore[arg-type, return-value]


ENDED_EARLY = """
import os, signal, subprocess, tempfile
from sottovoce.audit.subprocess_worker import start_in_fork

# In the background of a shell, or under nohup, they are ignored from the start.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

def work():
    with tempfile.TemporaryDirectory():
        subprocess.run(["sh", "-c", "echo $PPID $$; exec sleep 30"])
    return []

start_in_fork("python", "q", work)()
"""

LOST = """
import os, time
from sottovoce.audit.subprocess_worker import start_in_fork

class Connection:
    def __del__(self):
        print(os.getpid(), flush=True)
        time.sleep(2)

def work():
    Connection()
    os.write(1, b"went on\\n")
    time.sleep(600)
    return []

start_in_fork("python", "q", work)()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="nothing is forked elsewhere")
@pytest.mark.parametrize("ended_by", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_ends_with_the_audit(ended_by: signal.Signals, tmp_path: Path) -> None:
    """Whatever signal ends the one process, the other one ends, what that has started, and no folder is left."""
    with subprocess.Popen(
        [sys.executable, "-c", ENDED_EARLY],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        text=True,
    ) as audit:
        assert audit.stdout is not None
        others = [int(number) for number in audit.stdout.readline().split()]
        audit.send_signal(ended_by)
        audit.wait()

        assert len(others) == 2
        assert [number for number in others if not _is_gone(number)] == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="nothing is forked elsewhere")
def test_ends_though_the_order_came_where_exceptions_are_lost() -> None:
    """At the end of an object's life: what follows is begun, and ended soon."""
    command = [sys.executable, "-c", LOST]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as audit:
        other = int(audit.stdout.readline())
        audit.terminate()
        audit.wait()

        # Ends when nobody has it open any more.
        assert audit.stdout.read() == "went on\n"
        assert _is_gone(other)


def _is_gone(number: int) -> bool:
    for _ in range(100):
        try:
            state = Path(f"/proc/{number}/stat").read_text(encoding="ascii").rpartition(") ")[2][0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False
