"""Prompts on a terminal; without one, the safe default is taken."""

import sys

import click


def on_terminal() -> bool:
    """Return True if standard input is a terminal, so that a person can answer."""
    return sys.stdin.isatty()


def ask(question: str, default: bool) -> bool:
    """Return the answer, or the default without a terminal."""
    return click.confirm(question, default=default, err=True) if on_terminal() else default


def ask_for(what: str, expected: str) -> bool:
    """Return True if the person types exactly the expected words; False without a terminal."""
    return on_terminal() and click.prompt(what, err=True).strip() == expected
