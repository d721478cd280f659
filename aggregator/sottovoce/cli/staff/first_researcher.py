"""Sign-in of the first account of a new database: by a one-time link, or by a key in a file."""

from pathlib import Path

from sottovoce.aggregator.accounts.account_invitations import sign_in_link
from sottovoce.aggregator.accounts.secrets import new_key
from sottovoce.aggregator.clock import day_of, now
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.audit_log.events import MACHINE
from sottovoce.cli.output import create_file

NAME = "researcher"


def let_first_researcher_in(storage: Storage, settings: Settings, key_file: Path | None) -> str:
    """Make an account that is admin and owns every survey, and a link that dies on first use, or write a key down.

    Args:
        storage: without accounts.
        settings: the address that the link is for.
        key_file: where a key is written to, in the place of a link.

    Returns:
        The line to print: the link, or where the key is.

    Raises:
        StorageError: the file is there already, or cannot be written.
    """
    if key_file is None:
        first = storage.access.by(MACHINE).add_owner(NAME)
        link = sign_in_link(storage.access.by(MACHINE), settings.url, first.id, day_of(now()))
        return f"Sign in, once, by this link: {link}"
    key, digest = new_key()
    # First: a key that could not be written would be unusable, and would prevent the next start from making one.
    create_file(key_file, f"{key}\n".encode())
    storage.add_researcher(NAME, digest, MACHINE)
    return f"The first account's key: in {key_file}"
