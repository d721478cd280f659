"""An aggregator as a process: a port for it, and waiting until it is ready, or for nothing."""

import os
import signal
import subprocess
import sys
from urllib.parse import urlsplit

import click
import pytest
from sottovoce.cli.process import capture_signals, end, free_port, wait_until_ready
from sottovoce.shared.errors import StorageError

from tests.commands import run
from tests.conftest import Running


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
    process.stdout.readline()
    with process.stdout:
        assert end(process, seconds=0.1) == -signal.SIGKILL


def check(port: int, *words: str, host: str = "127.0.0.1") -> tuple[int, str]:
    """What the verb says, whatever proxy the environment names."""
    settings = {"SOTTOVOCE_HOST": host, "SOTTOVOCE_PORT": str(port), "http_proxy": "http://127.0.0.1:9"}
    ended = run("healthcheck", *words, env=settings)
    return ended.exit_code, ended.output


@pytest.mark.external
def test_node_that_answers_is_healthy(running: Running) -> None:
    """And ready, with its database there."""
    port = urlsplit(running.url).port or 0
    for host in ("127.0.0.1", "0.0.0.0"):  # noqa: S104 - nobody listens there
        assert check(port, host=host) == (0, "")
        assert check(port, "--ready", host=host) == (0, "")


def test_nobody_is_no_node() -> None:
    """A port at which nobody listens, in words."""
    code, said = check(free_port())

    assert (code, "no node answers" in said, "Traceback" in said) == (1, True, False)


LAST_STEPS = """
import os, signal
from sottovoce.cli.process import capture_signals

class Connection:
    def __del__(self):
        os.kill(os.getpid(), signal.NUMBER)

signal.signal(signal.SIGINT, signal.HANDLER)
with capture_signals() as told:
    Connection()
    print(told.wait(20))
"""

TWICE = """
import os, signal, time
from sottovoce.cli.process import capture_signals
signal.signal(signal.SIGINT, signal.default_int_handler)
with capture_signals() as told:
    os.kill(os.getpid(), signal.SIGINT)
    told.wait()
    print("noted", flush=True)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
"""


def ended(script: str) -> tuple[int, str, str]:
    """How a process of its own ends, and what it said."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("handler", ["default_int_handler", "SIG_IGN"])
@pytest.mark.parametrize("number", ["SIGTERM", "SIGINT"])
def test_order_at_the_end_of_an_object_is_noted(number: str, handler: str) -> None:
    """An exception there is printed and forgotten, and the order with it.

    In the background too, where a shell has Ctrl-C ignored: the server that was started hears it, and who started it
    would stay alone.
    """
    script = LAST_STEPS.replace("NUMBER", number).replace("HANDLER", handler)
    assert ended(script) == (0, "True\n", "")


def test_ctrl_c_after_term_is_not_the_second() -> None:
    """What is put away then is put away whole."""
    script = LAST_STEPS.replace("NUMBER", "SIGTERM").replace("HANDLER", "default_int_handler")
    after = "    os.kill(os.getpid(), signal.SIGINT)\n    print('put away')\n"
    assert ended(script + after) == (0, "True\nput away\n", "")


def test_second_ctrl_c_ends_it_wherever_it_is() -> None:
    """Whoever says it twice does not want to wait."""
    code, out, err = ended(TWICE)
    assert (code, out, err.strip().endswith("KeyboardInterrupt")) == (-signal.SIGINT, "noted\n", True)


def fail_once_told() -> None:
    """The order, and then a failure."""
    with capture_signals() as told:
        os.kill(os.getpid(), signal.SIGTERM)
        assert told.wait(20)
        raise StorageError


def test_failure_after_the_order_is_no_failure() -> None:
    """What was started heard the same Ctrl-C; before any order, a failure is told as one."""
    with pytest.raises(StorageError), capture_signals():
        raise StorageError
    with pytest.raises(click.Abort):
        fail_once_told()


def test_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    with capture_signals():
        assert signal.getsignal(signal.SIGTERM) != before[0]
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
