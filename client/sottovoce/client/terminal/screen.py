"""What a person is told: always on standard error, since standard output belongs to the bytes that were sent."""

import time
from math import ceil

import click
from sottovoce.client.transport import Transport


def heading(text: str) -> None:
    """The beginning of another part."""
    click.secho(f"\n{text}", bold=True, err=True)


def tell(text: str) -> None:
    """One paragraph, as it is."""
    click.echo(text, err=True)


def patient(origin: str) -> Transport:
    """A transport that says so when it waits."""

    def sleep(seconds: float) -> None:
        tell(f"The aggregator did not answer, or is busy; trying again in {ceil(seconds)} s.")
        time.sleep(seconds)

    return Transport(origin, sleep=sleep)
