"""``staff add``, ``list``, ``disable``, ``enable``, ``delete``, ``recover``: accounts, and the way back in."""

from collections import Counter
from pathlib import Path

import click
from sottovoce.aggregator.accounts.account_invitations import sign_in_link
from sottovoce.aggregator.accounts.accounts import account_number, check_text, find_account, recover
from sottovoce.aggregator.accounts.secrets import new_key
from sottovoce.aggregator.clock import day_of, now
from sottovoce.aggregator.storage.audit_log.events import MACHINE
from sottovoce.cli.command import command
from sottovoce.cli.database import data_option, data_settings, open_storage, served_settings
from sottovoce.cli.terminal import ask
from sottovoce.shared.errors import StorageError


@command(example="sottovoce staff add maria")
@click.argument("name")
@data_option
def add(name: str, data: Path | None) -> None:
    """Add the account NAME, which may do everything, and print its key once.

    An account of this name gets one more key. To give less, use "sottovoce staff invite" and "sottovoce staff grant".
    """
    key, digest = new_key()
    name = check_text(name, "a name")
    open_storage(data_settings(data), create=True).add_researcher(name, digest, MACHINE)
    click.echo(key)
    click.echo(f"{name} may do everything. To give less: sottovoce staff invite, or sottovoce staff grant.", err=True)


@command("list", example="sottovoce staff list")
@data_option
def list_all(data: Path | None) -> None:
    """List the accounts: number, name, number of keys, and if it is an administrator or disabled."""
    tables = open_storage(data_settings(data)).access
    keys = Counter(one.account for one in tables.list_keys())
    for one in tables.accounts():
        count = f"{keys[one.id]} key{'' if keys[one.id] == 1 else 's'}"
        words = [word for word, is_so in (("admin", one.admin), ("disabled", one.disabled_on is not None)) if is_so]
        click.echo("  ".join([account_number(one), one.name, count, *words]))


@command(example="sottovoce staff disable maria")
@click.argument("name")
@data_option
def disable(name: str, data: Path | None) -> None:
    """Disable the account NAME (or number).

    Its sessions end, and its keys no longer work.
    """
    storage = open_storage(data_settings(data))
    storage.access.by(MACHINE).disable(find_account(storage, name).id, day_of(now()))
    click.echo("Disabled. Its sessions are ended, and its keys no longer work.", err=True)


@command(example="sottovoce staff enable maria")
@click.argument("name")
@data_option
def enable(name: str, data: Path | None) -> None:
    """Enable a disabled account again; its keys work again."""
    storage = open_storage(data_settings(data))
    storage.access.by(MACHINE).enable(find_account(storage, name).id)


@command(example="sottovoce staff delete maria")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@data_option
def delete(name: str, yes: bool, data: Path | None) -> None:
    """Delete the account NAME (or number) with its keys, passkeys, sessions and roles.

    Its name stays nowhere but in backups; the audit log keeps its number. Surveys stay. To keep the name, use disable.
    """
    storage = open_storage(data_settings(data))
    found = find_account(storage, name)
    if not yes and not ask(f"Delete the account {found.name} for good?", default=False):
        raise StorageError("the account was not deleted: answer yes when asked, or say --yes")
    storage.access.by(MACHINE).delete(found.id)
    click.echo(f"Deleted. The audit log names it {found.id.hex()}. Backups have the name until they go.", err=True)


@command("recover", example="sottovoce staff recover")
@data_option
def recover_admin(data: Path | None) -> None:
    """Print a link that signs an administrator in, once.

    An account is made if there is no administrator.
    """
    settings = data_settings(data)
    storage = open_storage(settings)
    found = recover(storage)
    click.echo(sign_in_link(storage.access.by(MACHINE), served_settings(settings).url, found.id, day_of(now())))
    click.echo(f"This link signs {found.name} in, once, within a week.", err=True)
