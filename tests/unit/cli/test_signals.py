"""No order to end is lost, at whatever step it comes."""

import os
import signal
import subprocess
import sys

import click
import pytest
from sottovoce.cli.process import capture_signals
from sottovoce.shared.errors import StorageError

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
    """Those of whoever calls."""
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    with capture_signals():
        assert signal.getsignal(signal.SIGTERM) != before[0]
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
