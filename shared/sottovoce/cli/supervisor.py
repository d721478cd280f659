"""Orders to end that come while a server starts: none is lost, whichever process gets it and whatever that one does."""

import _thread
import os
import signal
import sys
import time

from granian import Granian

STOPS = {signal.SIGINT, signal.SIGTERM}
"""The orders to end."""


class Overseer(Granian):  # type: ignore[misc]
    """Granian's, but for an order to end that comes while it is busy with something else."""

    def signal_handler_interrupt(self, *_: object, **__: object) -> None:
        """
        Note the order, and wake the main loop in a thread.

        Here, between any two steps of the main thread, it might hold the lock of the event that wakes it, and would
        wait for itself; or be about to clear the event, and never look at the order.
        """
        self.interrupt_signal = True
        _thread.start_new_thread(self._wake, ())

    def _wake(self) -> None:
        while True:
            self.main_loop_interrupt.set()
            time.sleep(0.1)


def hear_orders_in_children() -> None:
    """
    From its first moment on, a worker that still starts ends at once when it is told to.

    With its parent's handlers, which it has until then, it would note the order and never look. What comes during the
    fork itself waits. Ctrl-C, which every process of a terminal gets, is left to the parent, who passes it on.
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
