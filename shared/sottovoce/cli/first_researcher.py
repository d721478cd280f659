"""How the researcher of a fresh database is let in: by a token on the terminal, in a file, or by a link."""

import os
from pathlib import Path

import click
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.web.auth import new_sign_in, new_token
from sottovoce.cli.asking import is_seen_only
from sottovoce.shared.errors import StorageError

NAME = "researcher"


def let_first_researcher_in(storage: Storage, settings: Settings, token_file: Path | None) -> None:
    """
    Make a token and show it once; where what is printed is kept in a log, print a link that dies on first use.

    Args:
        storage: without researchers.
        settings: the address that the link is for.
        token_file: where the token is written to instead of being printed.

    Raises:
        StorageError: the file is there already, or cannot be written.
    """
    if token_file is None and not is_seen_only():
        path, digest = new_sign_in()
        storage.add_researcher(NAME, digest)
        click.echo(f"Researcher's link, good for one sign-in: {settings.url}{path}", err=True)
        return
    token, digest = new_token()
    if token_file is not None:
        # First: a token that could not be written down would let in nobody, and keep the next start from making one.
        _write(token, token_file)
        told = f"Researcher's token: in {token_file}"
    else:
        told = f"Researcher's token, shown only now: {token}"
    storage.add_researcher(NAME, digest)
    click.echo(told, err=True)


def _write(token: str, file: Path) -> None:
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as written:
            written.write(f"{token}\n")
    except OSError:
        raise StorageError("the token's file exists already or cannot be written") from None
