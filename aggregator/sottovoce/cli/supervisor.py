"""Signal handling while a server starts: no SIGTERM or SIGINT is lost, whichever process receives it."""

import _thread
import os
import signal
import sys
import time

from granian import Granian

STOPS = {signal.SIGINT, signal.SIGTERM}
"""The signals that stop the server."""


class Supervisor(Granian):  # type: ignore[misc]
    """Granian's server, which also handles a stop signal that arrives while its main loop is busy."""

    def signal_handler_interrupt(self, *_: object, **__: object) -> None:
        """Record the signal, and wake the main loop from a thread.

        The handler interrupts the main thread. That may hold the lock of the event that wakes it (a deadlock), or be
        about to clear the event (a lost signal).
        """
        self.interrupt_signal = True
        _thread.start_new_thread(self._wake, ())

    def _wake(self) -> None:
        while True:
            self.main_loop_interrupt.set()
            time.sleep(0.1)


def hear_orders_in_children() -> None:
    """Make a starting worker end at once on SIGTERM.

    With the handlers inherited from its parent it would record the signal and never act. A signal during the fork is
    blocked until after it. SIGINT goes to every process of a terminal; the parent handles it and stops the workers.
    """
    if sys.platform == "win32":
        return

    def begin() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        release()

    def release() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)

    os.register_at_fork(
        before=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, STOPS), after_in_parent=release, after_in_child=begin
    )
