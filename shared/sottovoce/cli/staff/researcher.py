"""``researcher``: let people in to the results."""

from collections import Counter
from pathlib import Path

import click
from sottovoce.aggregator.accounts.secrets import new_key
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.audit_log.events import MACHINE
from sottovoce.cli.database import data_option, data_settings, open_storage
from sottovoce.cli.prompts import ask
from sottovoce.shared.errors import StorageError


@click.group()
def researcher() -> None:
    """Accounts that may do everything, each with its keys."""


@researcher.command()
@click.argument("name")
@data_option
def add(name: str, data: Path | None) -> None:
    """Make a key, shown once, for the account NAME, which is admin and owns every survey."""
    key, digest = new_key()
    open_storage(data_settings(data), create=True).add_researcher(name, digest, MACHINE)
    click.echo(key)
    click.echo(f"{name} has an account that may do everything; `invite` and `access grant` give less.", err=True)


@researcher.command("list")
@data_option
def list_all(data: Path | None) -> None:
    """List the accounts that have keys, and how many each."""
    for name, keys in _keys(open_storage(data_settings(data))).items():
        click.echo(f"{name}  {keys} key{'s' if keys > 1 else ''}")


@researcher.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask, also about the last researcher.")
@data_option
def revoke(name: str, yes: bool, data: Path | None) -> None:
    """Take back all keys of the account NAME, and end the sessions."""
    storage = open_storage(data_settings(data))
    names = set(_keys(storage))
    if name not in names:
        raise StorageError("there is no researcher of this name")
    if len(names) == 1 and not yes and not ask("Only this account has access to the results. Revoke anyway?", False):
        raise StorageError("nothing was revoked: this is the last researcher; say --yes to revoke all the same")
    click.echo(f"{storage.access.by(MACHINE).revoke_researcher(name)} revoked; the sessions are ended", err=True)


def _keys(storage: Storage) -> Counter[str]:
    """Count the keys of each active account, sorted by its name."""
    names = {account.id: account.name for account in storage.access.accounts() if account.disabled_on is None}
    return Counter(sorted(names[key.account] for key in storage.access.list_keys() if key.account in names))
