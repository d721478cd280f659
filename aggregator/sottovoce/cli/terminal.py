"""Questions and progress on a terminal; without one, the safe default is taken, and no progress is shown.

Progress of commands that can take longer than two seconds goes to standard error.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click


def on_terminal() -> bool:
    """Return whether standard input is a terminal, so that a person can answer."""
    return sys.stdin.isatty()


def ask(question: str, default: bool) -> bool:
    """Return the answer, or the default without a terminal."""
    return click.confirm(question, default=default, err=True) if on_terminal() else default


def ask_for(what: str, expected: str) -> bool:
    """Return whether the person types exactly the expected words; False without a terminal."""
    return on_terminal() and click.prompt(what, err=True).strip() == expected


def is_shown() -> bool:
    """Return whether a person watches: standard error is a terminal."""
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
