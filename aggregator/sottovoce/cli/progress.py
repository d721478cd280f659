"""Progress of commands that can take longer than two seconds: on standard error, and only if it is a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


def is_shown() -> bool:
    """Return True if a person watches: standard error is a terminal."""
    return sys.stderr.isatty()


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Show a text with a moving sign until the work is done."""
    if not is_shown():
        yield
        return
    # Imported only here: short commands would wait for it.
    from rich.console import Console

    with Console(stderr=True).status(f"{text} ..."):
        yield
