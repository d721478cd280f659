"""``staff``: accounts and the way back in, roles on surveys, and keys for programs and people to sign in.

The first account of a new database signs in by a one-time link, or by a key in a file.
"""

from collections import Counter
from pathlib import Path

import click
from sottovoce.aggregator.accounts.account_invitations import invitation_link, sign_in_link
from sottovoce.aggregator.accounts.accounts import check_scopes, check_text, find_account, recover
from sottovoce.aggregator.accounts.authentication import KEY_DAYS, MOST_KEY_DAYS, new_id, new_key
from sottovoce.aggregator.clock import day_of, now
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.accounts.models import EVERY_SURVEY, ROLES, SCOPES, AccessKey, AccessRefused, Account
from sottovoce.aggregator.storage.audit_log.events import MACHINE
from sottovoce.cli.command import ask, command, create_file
from sottovoce.cli.database import data_option, data_settings, open_storage, served_settings
from sottovoce.shared.errors import StorageError

survey_option = click.option("--survey", default=EVERY_SURVEY, help="Name of the survey. [default: every one]")

METRICS = frozenset({"metrics:read"})
"""Scope of a monitoring program, which is no person and needs no other right."""

FIRST_NAME = "researcher"


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
        click.echo("  ".join([one.number, one.name, count, *words]))


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
            click.echo(f"{one.number}  {one.name}  {role}  {'every survey' if survey == '*' else survey}")


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


@command(
    "create",
    example="sottovoce staff key create maria --scope results:read --days 30\n"
    "sottovoce staff key create prometheus --scope metrics:read --days 366",
)
@click.argument("name")
@click.option("--scope", "scopes", type=click.Choice(SCOPES), multiple=True, help="What it is for. [default: all]")
@click.option("--days", type=click.IntRange(1, MOST_KEY_DAYS), default=KEY_DAYS, help="Days until it expires.")
@click.option("--label", default="command line", help="What it is called in lists.")
@survey_option
@data_option
def create_key(name: str, scopes: tuple[str, ...], days: int, label: str, survey: str, data: Path | None) -> None:
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
    if all(name not in {one.name, one.number} for one in storage.access.accounts()):
        storage.access.by(MACHINE).add_account(Account(new_id(), check_text(name, "a name"), admin=True))
    return find_account(storage, name)


@command("list", example="sottovoce staff key list")
@data_option
def list_keys(data: Path | None) -> None:
    """List all keys: number, account, label, scopes, survey, days left, day of last use."""
    tables, today = open_storage(data_settings(data)).access, day_of(now())
    names = {one.id: one.name for one in tables.accounts()}
    for one in tables.list_keys():
        scopes = "every scope" if one.scopes >= set(SCOPES) else " ".join(sorted(one.scopes))
        survey = "every survey" if one.survey == EVERY_SURVEY else one.survey
        left = f"{one.expires_on - today} days left" if one.expires_on >= today else "expired"
        used = "never used" if one.used_on is None else f"used {today - one.used_on} days ago"
        click.echo("  ".join([one.number, names[one.account], one.label, scopes, survey, left, used]))


@command("revoke", example="sottovoce staff key revoke 4f21\nsottovoce staff key revoke --all maria")
@click.argument("number", metavar="NUMBER|NAME")
@click.option("--all", "every", is_flag=True, help="Revoke all keys of the account NAME instead.")
@click.option("--yes", is_flag=True, help="With --all: do not ask, also about the last account with keys.")
@data_option
def revoke_key(number: str, every: bool, yes: bool, data: Path | None) -> None:
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
    active = {account.id: account.name for account in storage.access.accounts() if account.disabled_on is None}
    names = {active[key.account] for key in storage.access.list_keys() if key.account in active}
    if name not in names:
        raise StorageError(f'no active account "{name}" has keys. Run "sottovoce staff list" to see all accounts')
    if len(names) == 1 and not yes and not ask("Only this account has access to the results. Revoke anyway?", False):
        raise StorageError("nothing was revoked: this is the last account with keys; say --yes to revoke all the same")
    click.echo(f"{storage.access.by(MACHINE).revoke_researcher(name)} revoked; the sessions are ended", err=True)


def let_first_researcher_in(storage: Storage, settings: Settings, key_file: Path | None) -> str:
    """Make an account that is admin and owns every survey, and return the line to print.

    It names a link that dies on first use, or ``key_file``, where a key is written instead. Raises StorageError if that
    file is there already, or cannot be written.
    """
    if key_file is None:
        first = storage.access.by(MACHINE).add_owner(FIRST_NAME)
        link = sign_in_link(storage.access.by(MACHINE), settings.url, first.id, day_of(now()))
        return f"Sign in, once, by this link: {link}"
    key, digest = new_key()
    # First: a key that could not be written would be unusable, and would prevent the next start from making one.
    create_file(key_file, f"{key}\n".encode())
    storage.add_researcher(FIRST_NAME, digest, MACHINE)
    return f"The first account's key: in {key_file}"
