"""Messages for the person: on standard error, because standard output is reserved for the bytes that were sent."""

import time
from math import ceil

import click
from sottovoce.client.transport import Transport


def heading(text: str) -> None:
    """Print the heading of a section."""
    click.secho(f"\n{text}", bold=True, err=True)


def print_line(text: str) -> None:
    """Print one paragraph unchanged on standard error."""
    click.echo(text, err=True)


def notifying_transport(origin: str) -> Transport:
    """Return a transport that prints a message before it waits to retry."""

    def sleep(seconds: float) -> None:
        print_line(f"The aggregator did not answer, or is busy; trying again in {ceil(seconds)} s.")
        time.sleep(seconds)

    return Transport(origin, sleep=sleep)
