"""``link hold``, ``link reissue``: personal links, once an old copy of a database is put back."""

from pathlib import Path

import click
from sottovoce.aggregator.invitations.hold_messages import people, reissue_words
from sottovoce.aggregator.invitations.tokens import held_of, reissue_after_restore, token_counts
from sottovoce.aggregator.storage.audit_log.events import MACHINE, RESTORED
from sottovoce.aggregator.surveys.database_clock import present
from sottovoce.cli.command import command
from sottovoce.cli.database import data_option, data_settings, open_storage, open_survey
from sottovoce.cli.db.restore_steps import print_held
from sottovoce.cli.terminal import ask
from sottovoce.shared.errors import StorageError


@command(example="sottovoce link hold")
@data_option
def hold(data: Path | None) -> None:
    """Hold all invitations, since an old copy of the database was put back without `sottovoce db restore`."""
    storage = open_storage(data_settings(data))
    storage.hold_invitations(int(present(storage).timestamp()))
    storage.journal.append(RESTORED, MACHINE)
    print_held(storage, data)


@command(example="sottovoce link reissue exam")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@data_option
def reissue(name: str, yes: bool, data: Path | None) -> None:
    """Let invitations to the survey NAME be redeemed again that were good when the restored backup was made."""
    storage = open_survey(data, name)
    on_hold = held_of(token_counts(storage, name))
    if on_hold is None:
        click.echo("No invitation to this survey is held.", err=True)
        return
    click.echo(reissue_words(on_hold), err=True)
    if not yes and not ask("Let them be redeemed?", default=False):
        raise StorageError("none can be redeemed yet: answer yes when asked, or say --yes")
    let_go = reissue_after_restore(storage, name, MACHINE)
    click.echo(f"{let_go} can be redeemed again: up to {people(let_go)} may report twice.", err=True)
