"""Turn SIGTERM and SIGINT into an Event, so that child processes can be stopped first."""

import _thread
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

import click
from sottovoce.shared.errors import SurveyError


@contextmanager
def capture_signals() -> Iterator[Event]:
    """Turn SIGTERM and SIGINT into an Event; a second Ctrl-C ends the process at once.

    An exception raised from the signal handler could be lost: Python prints and ignores exceptions that occur in an
    object's finalizer, such as an unused connection's.

    Raises:
        click.Abort: something failed after the signal; a child process may have received the same Ctrl-C.
    """
    stop_requested = Event()

    def note(number: int, _: object) -> None:
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        # In a thread: the signal may interrupt this thread while it holds the event's lock, which would deadlock.
        _thread.start_new_thread(stop_requested.set, ())

    # Also if a shell ignores SIGINT for a background job: the server that was started still receives it.
    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop_requested
    except SurveyError:
        if stop_requested.is_set():
            raise click.Abort from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
