"""Questions to whoever sits at the terminal; without one, the careful answer is taken."""

import sys

import click


def on_terminal() -> bool:
    """Whether somebody can answer."""
    return sys.stdin.isatty()


def ask(question: str, default: bool) -> bool:
    """The answer; the default where nobody can be asked."""
    return click.confirm(question, default=default, err=True) if on_terminal() else default


def ask_for(what: str, expected: str) -> bool:
    """Whether somebody types these very words; False where nobody can be asked."""
    return on_terminal() and click.prompt(what, err=True).strip() == expected
