"""The last word before sending."""

import click
from sottovoce.client.respondent import Respondent
from sottovoce.client.terminal.explanation import stored_set_note
from sottovoce.client.terminal.interview import Interview
from sottovoce.client.terminal.screen import print_line

SEND, STOP = -1, 0
"""What is chosen beside a question's number, which begins at 1."""


def confirm(me: Respondent, interview: Interview, may_change: bool) -> None:
    """
    Ask until the answers are to be sent.

    Args:
        me: who is asked.
        interview: what was answered; a question is asked again in it.
        may_change: a question may be answered again, which answers from a file may not.

    Raises:
        click.Abort: nothing is to be sent.
    """
    most = len(me.asked) if may_change else 0
    choices = f"y, n, or 1 to {most} to answer that question again" if may_change else "y or n"
    while True:
        choice = click.prompt(f"Send? ({choices})", value_proc=lambda text: _choice(text, most), err=True)
        if choice == STOP:
            print_line(f"Nothing was drawn, sent or stored{stored_set_note(me.survey)}.")
            raise click.Abort
        if choice == SEND:
            return
        interview.again(choice)


def _choice(text: str, most: int) -> int:
    """``SEND``, ``STOP`` or a question's number."""
    word = text.strip().lower()
    known = {"y": SEND, "yes": SEND, "n": STOP, "no": STOP} | {str(number): number for number in range(1, most + 1)}
    if word not in known:
        raise click.BadParameter("answer y or n" if not most else f"answer y, n, or a number from 1 to {most}")
    return known[word]
