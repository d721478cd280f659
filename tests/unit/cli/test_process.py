"""An aggregator as a process: a port for it, and waiting until it is ready, or for nothing."""

import subprocess
import sys

import pytest
from sottovoce.cli.process import free_port, wait_until_ready
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
