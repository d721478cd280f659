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
    What is set when the process is told to end, by TERM or by Ctrl-C; a second Ctrl-C ends it wherever it is.

    Raised as an exception at whatever step the order comes, it is lost where that is the end of an object's life (a
    connection that nobody needs any more, for one), whose exceptions Python prints and forgets.

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
