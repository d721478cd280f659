"""Questions to whoever sits at the terminal; without one, the careful answer is taken."""

import os
import sys

import click

FIRST = 1
"""The number of the process that a container, or the system, was started with."""


def on_terminal() -> bool:
    """Whether somebody can answer."""
    return sys.stdin.isatty()


def is_seen_only() -> bool:
    """
    Whether what is told on standard error is seen by whoever sits there, and kept nowhere.

    Not where it goes to a file, a pipe or a supervisor; nor where this is what a container runs, by itself or below
    the little process that reaps others: its log has what its terminal shows.
    """
    return sys.stderr.isatty() and FIRST not in {os.getpid(), os.getppid()}


def ask(question: str, default: bool) -> bool:
    """The answer; the default where nobody can be asked."""
    return click.confirm(question, default=default, err=True) if on_terminal() else default


def ask_for(what: str, expected: str) -> bool:
    """Whether somebody types these very words; False where nobody can be asked."""
    return on_terminal() and click.prompt(what, err=True).strip() == expected
