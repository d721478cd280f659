"""The last word before sending."""

import click
from sottovoce.client.respondent import Respondent
from sottovoce.client.terminal.interview import Interview
from sottovoce.client.terminal.screen import is_no, is_yes, print_line
from sottovoce.client.words import translate
from sottovoce.shared.arms.arms import samples

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
    choices = [translate("yes_no_or"), *([translate("or_number", most=str(most))] if may_change else [])]
    label = f"{translate('send_now')} ({', '.join(choices)})"
    while True:
        choice = click.prompt(label, value_proc=lambda text: _choice(text, most, ", ".join(choices)), err=True)
        if choice == STOP:
            kept = "may_stop_arms" if me.survey.arms else "stopped_ask" if samples(me.survey) else "stopped"
            print_line(translate(kept))
            raise click.Abort
        if choice == SEND:
            return
        interview.again(choice)


def _choice(text: str, most: int, choices: str) -> int:
    """``SEND``, ``STOP`` or a question's number."""
    if is_yes(text):
        return SEND
    if is_no(text):
        return STOP
    numbers = {str(number): number for number in range(1, most + 1)}
    if text.strip() not in numbers:
        raise click.BadParameter(translate("choose_one_of", choices=choices))
    return numbers[text.strip()]
