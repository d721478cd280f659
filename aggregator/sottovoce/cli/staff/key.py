"""``staff key``: keys for programs and people to sign in."""

from pathlib import Path

import click
from sottovoce.aggregator.accounts.accounts import account_number, check_scopes, check_text, find_account
from sottovoce.aggregator.accounts.secrets import KEY_DAYS, MOST_KEY_DAYS, new_id, new_key
from sottovoce.aggregator.clock import day_of, now
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.accounts.models import EVERY_SURVEY, SCOPES, AccessKey, AccessRefused, Account
from sottovoce.aggregator.storage.audit_log.events import MACHINE
from sottovoce.cli.command import command
from sottovoce.cli.database import data_option, data_settings, open_storage
from sottovoce.cli.staff.role import survey_option
from sottovoce.cli.terminal import ask
from sottovoce.shared.errors import StorageError

METRICS = frozenset({"metrics:read"})
"""Scope of a monitoring program, which is no person and needs no other right."""


@command(
    example="sottovoce staff key create maria --scope results:read --days 30\n"
    "sottovoce staff key create prometheus --scope metrics:read --days 366"
)
@click.argument("name")
@click.option("--scope", "scopes", type=click.Choice(SCOPES), multiple=True, help="What it is for. [default: all]")
@click.option(
    "--days", type=click.IntRange(1, MOST_KEY_DAYS), default=KEY_DAYS, show_default=True, help="Days until it expires."
)
@click.option("--label", default="command line", show_default=True, help="What it is called in lists.")
@survey_option
@data_option
def create(name: str, scopes: tuple[str, ...], days: int, label: str, survey: str, data: Path | None) -> None:
    """Make a key of the account NAME (or number); it is shown once.

    With --scope metrics:read alone, a missing account is made: for monitoring, without a role on any survey.
    """
    storage = open_storage(data_settings(data))
    secret, digest = new_key()
    given, named = check_scopes(frozenset(scopes or SCOPES)), check_text(label, "a label")
    owner = _monitoring(storage, name) if given == METRICS else find_account(storage, name)
    storage.access.by(MACHINE).add_key(AccessKey(digest, owner.id, named, given, survey, day_of(now()) + days))
    click.echo(secret)


def _monitoring(storage: Storage, name: str) -> Account:
    """Return the account with this name or number, or a new one: an admin whose one key cannot sign a person in."""
    if all(name not in {one.name, account_number(one)} for one in storage.access.accounts()):
        storage.access.by(MACHINE).add_account(Account(new_id(), check_text(name, "a name"), admin=True))
    return find_account(storage, name)


@command("list", example="sottovoce staff key list")
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


@command(example="sottovoce staff key revoke 4f21\nsottovoce staff key revoke --all maria")
@click.argument("number", metavar="NUMBER|NAME")
@click.option("--all", "every", is_flag=True, help="Revoke all keys of the account NAME instead.")
@click.option("--yes", is_flag=True, help="With --all: do not ask, also about the last account with keys.")
@data_option
def revoke(number: str, every: bool, yes: bool, data: Path | None) -> None:
    """Revoke the key of this NUMBER, or all keys of an account.

    The sessions that its account began with keys end.
    """
    storage = open_storage(data_settings(data))
    if every:
        _revoke_all(storage, number, yes)
        return
    found = [one for one in storage.access.list_keys() if one.number == number]
    if not found:
        raise AccessRefused(f'the key "{number}" was not found. Run "sottovoce staff key list" to see all keys')
    storage.access.by(MACHINE).revoke_key(found[0].hash)


def _revoke_all(storage: Storage, name: str, yes: bool) -> None:
    names = _names_with_keys(storage)
    if name not in names:
        raise StorageError(f'no active account "{name}" has keys. Run "sottovoce staff list" to see all accounts')
    if len(names) == 1 and not yes and not ask("Only this account has access to the results. Revoke anyway?", False):
        raise StorageError("nothing was revoked: this is the last account with keys; say --yes to revoke all the same")
    click.echo(f"{storage.access.by(MACHINE).revoke_researcher(name)} revoked; the sessions are ended", err=True)


def _names_with_keys(storage: Storage) -> set[str]:
    active = {account.id: account.name for account in storage.access.accounts() if account.disabled_on is None}
    return {active[key.account] for key in storage.access.list_keys() if key.account in active}
