"""``key``: what programs, and people, come in with."""

from pathlib import Path

import click
from sottovoce.aggregator.accounts.accounts import check_scopes, check_text, find_account
from sottovoce.aggregator.accounts.secrets import KEY_DAYS, MOST_KEY_DAYS, new_key
from sottovoce.aggregator.clock import day_of, now
from sottovoce.aggregator.storage.accounts.models import EVERY_SURVEY, SCOPES, AccessKey, AccessRefused
from sottovoce.aggregator.storage.audit_log.events import MACHINE
from sottovoce.cli.database import data_option, data_settings, open_storage
from sottovoce.cli.staff.account import survey_option


@click.group()
def key() -> None:
    """Make, list and revoke keys."""


@key.command()
@click.argument("name")
@click.option("--scope", "scopes", type=click.Choice(SCOPES), multiple=True, help="What it is for. [default: all]")
@click.option("--days", type=click.IntRange(1, MOST_KEY_DAYS), default=KEY_DAYS, show_default=True)
@click.option("--label", default="command line", show_default=True, help="What it is called in lists.")
@survey_option
@data_option
def create(name: str, scopes: tuple[str, ...], days: int, label: str, survey: str, data: Path | None) -> None:
    """Make a key of the account NAME (or number); it is shown once."""
    storage = open_storage(data_settings(data))
    secret, digest = new_key()
    given, named = check_scopes(frozenset(scopes or SCOPES)), check_text(label, "a label")
    owner = find_account(storage, name)
    storage.access.by(MACHINE).add_key(AccessKey(digest, owner.id, named, given, survey, day_of(now()) + days))
    click.echo(secret)


@key.command("list")
@data_option
def list_all(data: Path | None) -> None:
    """List all keys: number, account, label, scopes, survey, days left, day of last use."""
    tables, today = open_storage(data_settings(data)).access, day_of(now())
    names = {one.id: one.name for one in tables.accounts()}
    for one in tables.list_keys():
        scopes = "every scope" if one.scopes >= set(SCOPES) else " ".join(sorted(one.scopes))
        survey = "every survey" if one.survey == EVERY_SURVEY else one.survey
        left = f"{one.expires_on - today} days left" if one.expires_on >= today else "expired"
        used = "never used" if one.used_on is None else f"used {today - one.used_on} days ago"
        click.echo("  ".join([one.number, names[one.account], one.label, scopes, survey, left, used]))


@key.command()
@click.argument("number")
@data_option
def revoke(number: str, data: Path | None) -> None:
    """Revoke the key of this NUMBER; the sessions that its account began with keys end."""
    tables = open_storage(data_settings(data)).access.by(MACHINE)
    found = [one for one in tables.list_keys() if one.number == number]
    if not found:
        raise AccessRefused("there is no key of this number; `sottovoce key list` tells all")
    tables.revoke_key(found[0].hash)
