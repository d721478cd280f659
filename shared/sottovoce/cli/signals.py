"""TERM and Ctrl-C as something to look at, for a command that has started others and must take them with it."""

import _thread
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

import click
from sottovoce.shared.errors import SurveyError


@contextmanager
def noted_orders() -> Iterator[Event]:
    """
    Turn SIGTERM and SIGINT into an Event; a second Ctrl-C ends the process at once.

    An exception raised from the signal handler could be lost: Python prints and ignores exceptions that occur in an
    object's finalizer, such as that of an unused connection.

    Raises:
        click.Abort: something failed after the order; what was started may have heard the same Ctrl-C.
    """
    told = Event()

    def note(number: int, _: object) -> None:
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        # In a thread: between any two steps of this one, it might hold the event's own lock.
        _thread.start_new_thread(told.set, ())

    # In the background of a script as well, where a shell has Ctrl-C ignored: the server that was started hears it.
    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield told
    except SurveyError:
        if told.is_set():
            raise click.Abort from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
