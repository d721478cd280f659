"""``account``, ``access``, ``invite``: who is let in, to what, and the way back in."""

from pathlib import Path

import click
from sottovoce.aggregator.accounts.account_invitations import invitation_link, sign_in_link
from sottovoce.aggregator.accounts.accounts import account_number, find_account, recover
from sottovoce.aggregator.clock import day_of, now
from sottovoce.aggregator.storage.accounts.models import EVERY_SURVEY, ROLES
from sottovoce.aggregator.storage.audit_log.events import MACHINE
from sottovoce.cli.database import data_option, data_settings, open_storage, served_settings

survey_option = click.option("--survey", default=EVERY_SURVEY, help="Name of the survey. [default: every one]")


@click.group()
def account() -> None:
    """List, disable and enable accounts of staff; find the way back in."""


@account.command("list")
@data_option
def list_all(data: Path | None) -> None:
    """List the accounts: number, name, and whether each is an admin or disabled."""
    for one in open_storage(data_settings(data)).access.accounts():
        words = [word for word, is_so in (("admin", one.admin), ("disabled", one.disabled_on is not None)) if is_so]
        click.echo("  ".join([account_number(one), one.name, *words]))


@account.command()
@click.argument("name")
@data_option
def disable(name: str, data: Path | None) -> None:
    """Let the account NAME (or number) in no more, and end its sessions."""
    storage = open_storage(data_settings(data))
    storage.access.by(MACHINE).disable(find_account(storage, name).id, day_of(now()))
    click.echo("disabled; its sessions are ended, and its keys no longer work", err=True)


@account.command()
@click.argument("name")
@data_option
def enable(name: str, data: Path | None) -> None:
    """Let a disabled account in again; its keys are good again."""
    storage = open_storage(data_settings(data))
    storage.access.by(MACHINE).enable(find_account(storage, name).id)


@account.command("recover")
@data_option
def recover_admin(data: Path | None) -> None:
    """Print a link that signs an admin in, once; an account is made if there is no admin."""
    settings = data_settings(data)
    storage = open_storage(settings)
    found = recover(storage)
    click.echo(sign_in_link(storage.access.by(MACHINE), served_settings(settings).url, found.id, day_of(now())))
    click.echo(f"This link signs {found.name} in, once, within a week.", err=True)


@click.group()
def access() -> None:
    """Give, take back and list roles on surveys."""


@access.command()
@click.argument("name")
@click.argument("role", type=click.Choice(ROLES))
@survey_option
@data_option
def grant(name: str, role: str, survey: str, data: Path | None) -> None:
    """Give the account NAME (or number) a ROLE."""
    storage = open_storage(data_settings(data))
    storage.access.by(MACHINE).grant(find_account(storage, name).id, survey, role)


@access.command()
@click.argument("name")
@survey_option
@data_option
def revoke(name: str, survey: str, data: Path | None) -> None:
    """Take the role of the account NAME (or number) back."""
    storage = open_storage(data_settings(data))
    storage.access.by(MACHINE).revoke_grant(find_account(storage, name).id, survey)


@access.command("list")
@data_option
def list_grants(data: Path | None) -> None:
    """List who has which role on which survey."""
    tables = open_storage(data_settings(data)).access
    for one in tables.accounts():
        for survey, role in tables.grants(one.id).items():
            click.echo(f"{account_number(one)}  {one.name}  {role}  {'every survey' if survey == '*' else survey}")


@click.command()
@click.argument("role", type=click.Choice(ROLES))
@survey_option
@data_option
def invite(role: str, survey: str, data: Path | None) -> None:
    """Print a link for one new account with a ROLE; it is valid once, for a week."""
    settings = data_settings(data)
    storage = open_storage(settings)
    click.echo(invitation_link(storage.access.by(MACHINE), served_settings(settings).url, survey, role, day_of(now())))
