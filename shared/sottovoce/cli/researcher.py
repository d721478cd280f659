"""``researcher``: let people in to the results."""

from collections import Counter
from pathlib import Path

import click
from sottovoce.aggregator.web.auth import new_token
from sottovoce.cli.asking import ask
from sottovoce.cli.database import data_option, data_settings, open_storage
from sottovoce.shared.errors import StorageError


@click.group()
def researcher() -> None:
    """Make, list and revoke researchers' tokens."""


@researcher.command()
@click.argument("name")
@data_option
def add(name: str, data: Path | None) -> None:
    """Make a token for the researcher NAME; it is shown once."""
    token, digest = new_token()
    open_storage(data_settings(data), create=True).add_researcher(name, digest)
    click.echo(token)


@researcher.command("list")
@data_option
def list_all(data: Path | None) -> None:
    """List the researchers, and how many tokens each has."""
    for name, tokens in Counter(open_storage(data_settings(data)).researchers()).items():
        click.echo(f"{name}  {tokens} token{'s' if tokens > 1 else ''}")


@researcher.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask, also about the last researcher.")
@data_option
def revoke(name: str, yes: bool, data: Path | None) -> None:
    """Take back all tokens of the researcher NAME, and end the sessions."""
    storage = open_storage(data_settings(data))
    names = set(storage.researchers())
    if name not in names:
        raise StorageError("there is no researcher of this name")
    if len(names) == 1 and not yes and not ask("Nobody else is let in to the results. Revoke all the same?", False):
        raise StorageError("nothing was revoked: this is the last researcher; say --yes to revoke all the same")
    click.echo(f"{storage.revoke_researcher(name)} revoked; the sessions are ended", err=True)
