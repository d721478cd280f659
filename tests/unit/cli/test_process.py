"""An aggregator as a process: a port for it, and waiting until it is ready, or for nothing."""

import signal
import subprocess
import sys

import pytest
from sottovoce.cli.process import end, free_port, wait_until_ready
from sottovoce.shared.errors import StorageError


def test_free_port_is_none_that_systems_give_away() -> None:
    """Below those of outgoing connections, of which one could be taken before it is bound."""
    assert {20_000 <= free_port() < 32_000 for _ in range(20)} == {True}


def test_nobody_waits_for_a_process_that_has_ended() -> None:
    """It is said at once, not after the time that a start may take."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait(timeout=60)

    with pytest.raises(StorageError, match="did not start"):
        wait_until_ready(f"http://127.0.0.1:{free_port()}", ended, seconds=3600)


def test_process_that_does_not_end_when_told_is_killed() -> None:
    """Nothing that was started is left over, whatever it does."""
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    with process.stdout:
        assert end(process, seconds=0.1) == -signal.SIGKILL
