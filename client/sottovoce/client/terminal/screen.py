"""Print messages for the person on standard error: standard output is reserved for the bytes that were sent."""

import time
from math import ceil

import click
from sottovoce.client.transport import Transport
from sottovoce.client.words import catalogue, translate


def heading(text: str) -> None:
    """Print the heading of a section."""
    click.secho(f"\n{text}", bold=True, err=True)


def print_line(text: str) -> None:
    """Print one paragraph unchanged on standard error."""
    click.echo(text, err=True)


def notifying_transport(origin: str) -> Transport:
    """Return a transport that prints a message before it waits to retry."""

    def sleep(seconds: float) -> None:
        print_line(translate("retrying", seconds=str(ceil(seconds))))
        time.sleep(seconds)

    return Transport(origin, sleep=sleep)


def is_yes(text: str) -> bool:
    """Say whether a text is yes, or its first letter, in the chosen language or in English."""
    return _says(text, "yes")


def is_no(text: str) -> bool:
    """Say whether a text is no, or its first letter, in the chosen language or in English."""
    return _says(text, "no")


def _says(text: str, key: str) -> bool:
    word = text.strip().casefold()
    known = [each[key].casefold() for each in (catalogue(), {key: translate(key)})]
    return word in {*known, *(each[0] for each in known)}


def confirm(question: str, default: bool | None) -> bool:
    """Ask a whole sentence until the person answers yes or no; an empty answer means ``default``, if it is not None."""

    def parse(text: str) -> bool:
        if default is not None and not text.strip():
            return default
        if is_yes(text) or is_no(text):
            return is_yes(text)
        raise click.BadParameter(translate("choose_one_of", choices=translate("yes_no_or")))

    empty = None if default is None else ""
    label = f"{question} [{translate('yes_no_or')}]"
    return bool(click.prompt(label, value_proc=parse, default=empty, show_default=False, err=True))


def confirm_or_abort(question: str, default: bool) -> None:
    """Ask a whole sentence; raise click.Abort if the person says no. ``default`` is the meaning of an empty answer."""
    if not confirm(question, default):
        raise click.Abort
