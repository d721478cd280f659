"""``researcher``: let people in to the results."""

from pathlib import Path

import click
from sottovoce.aggregator.web.auth import new_token
from sottovoce.cli.database import data_option, data_settings, open_storage


@click.group()
def researcher() -> None:
    """Manage researchers' tokens."""


@researcher.command()
@click.argument("name")
@data_option
def add(name: str, data: Path | None) -> None:
    """Make a token for the researcher NAME; it is shown once."""
    token, digest = new_token()
    open_storage(data_settings(data), create=True).add_researcher(name, digest)
    click.echo(token)
