"""``staff invite``, ``grant``, ``revoke``, ``roles``: roles on surveys."""

from pathlib import Path

import click
from sottovoce.aggregator.accounts.account_invitations import invitation_link
from sottovoce.aggregator.accounts.accounts import account_number, find_account
from sottovoce.aggregator.clock import day_of, now
from sottovoce.aggregator.storage.accounts.models import EVERY_SURVEY, ROLES
from sottovoce.aggregator.storage.audit_log.events import MACHINE
from sottovoce.cli.command import command
from sottovoce.cli.database import data_option, data_settings, open_storage, served_settings

survey_option = click.option("--survey", default=EVERY_SURVEY, help="Name of the survey. [default: every one]")


@command(example="sottovoce staff grant maria analyst --survey exam")
@click.argument("name")
@click.argument("role", metavar="ROLE", type=click.Choice(ROLES))
@survey_option
@data_option
def grant(name: str, role: str, survey: str, data: Path | None) -> None:
    """Give the account NAME (or number) a ROLE."""
    storage = open_storage(data_settings(data))
    storage.access.by(MACHINE).grant(find_account(storage, name).id, survey, role)


@command(example="sottovoce staff revoke maria --survey exam")
@click.argument("name")
@survey_option
@data_option
def revoke(name: str, survey: str, data: Path | None) -> None:
    """Take the role of the account NAME (or number) back."""
    storage = open_storage(data_settings(data))
    storage.access.by(MACHINE).revoke_grant(find_account(storage, name).id, survey)


@command(example="sottovoce staff roles")
@data_option
def roles(data: Path | None) -> None:
    """List who has which role on which survey."""
    tables = open_storage(data_settings(data)).access
    for one in tables.accounts():
        for survey, role in tables.grants(one.id).items():
            click.echo(f"{account_number(one)}  {one.name}  {role}  {'every survey' if survey == '*' else survey}")


@command(example="sottovoce staff invite analyst --survey exam")
@click.argument("role", metavar="ROLE", type=click.Choice(ROLES))
@survey_option
@data_option
def invite(role: str, survey: str, data: Path | None) -> None:
    """Print a link by which a new person gets an account with a ROLE.

    The link works once, within a week.
    """
    settings = data_settings(data)
    storage = open_storage(settings)
    click.echo(invitation_link(storage.access.by(MACHINE), served_settings(settings).url, survey, role, day_of(now())))
