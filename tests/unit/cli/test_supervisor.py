"""The process that looks after the worker: no order to end is lost, at whatever step it comes."""

import signal
import subprocess
import sys

from granian.constants import Interfaces
from sottovoce.cli.server import Supervisor

FORK = """
import os, signal, time
from sottovoce.cli.server import hear_orders_in_children
noted = lambda *_: None
signal.signal(signal.SIGTERM, noted), signal.signal(signal.SIGINT, noted)
os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.NUMBER))
hear_orders_in_children()
child = os.fork()
if not child:
    time.sleep(0.3)
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), len(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
"""


def fork(number: signal.Signals) -> str:
    """How a child ends that gets this signal as the first thing after its fork, and what the parent holds back."""
    script = FORK.replace("NUMBER", number.name)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()


def test_child_that_is_told_to_end_as_the_first_thing_ends() -> None:
    """The order waits for the moment at which the child has put its parent's handlers off."""
    assert fork(signal.SIGTERM) == f"{-signal.SIGTERM} 0"


def test_child_leaves_ctrl_c_to_its_parent() -> None:
    """Who passes it on; else the parent would take the child's end for a failure."""
    assert fork(signal.SIGINT) == "7 0"


def test_order_to_end_is_noted_while_the_main_loop_is_busy() -> None:
    """Held up by nothing, though the main thread holds the event's lock; and heard, though the event is cleared."""
    server = Supervisor("none", interface=Interfaces.RSGI)
    interrupt = server.main_loop_interrupt
    with interrupt._cond:
        server.signal_handler_interrupt(signal.SIGTERM, None)
        assert not interrupt.is_set()
    assert interrupt.wait(timeout=20)
    interrupt.clear()
    assert interrupt.wait(timeout=20)
    assert server.interrupt_signal
