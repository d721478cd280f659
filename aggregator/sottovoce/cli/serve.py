"""``serve``: the whole embedded aggregator."""

import os
from collections.abc import Iterator
from pathlib import Path

import click
from sottovoce.aggregator.invitations.key_file import with_moduli
from sottovoce.aggregator.settings import PREFIX, Settings
from sottovoce.aggregator.storage.audit_log.events import MACHINE
from sottovoce.aggregator.storage.connect import file_of
from sottovoce.aggregator.surveys.lifecycle import is_deleted, next_revision
from sottovoce.aggregator.surveys.privacy_limit import check_affordable
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.cli import database
from sottovoce.cli.command import FILE, PATH, command
from sottovoce.cli.server import bind, run


@command(example="sottovoce serve exam.yaml --port 8000")
@click.argument("survey", type=PATH, required=False)
@click.option("--host", help="Address to listen on. [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on. [default: 8000]")
@click.option("--token-file", type=FILE, help="New file for the first account's key, in the place of a link.")
@database.data_option
def serve(survey: Path | None, host: str | None, port: int | None, token_file: Path | None, data: Path | None) -> None:
    """Run the aggregator, and publish the file SURVEY if one is named."""
    found = database.data_settings(data)
    settings = Settings(**{**vars(found), "host": host or found.host, "port": port or found.port})
    parsed = read_survey_file(survey) if survey else None
    if parsed is not None:
        check_affordable(parsed)
    bind(settings).close()
    database.prepare_migration(settings, waits=True)
    storage = database.open_storage(settings, create=True, migrates=True)
    lines = []
    if parsed is not None and is_deleted(storage, parsed.name):
        lines.append(f"Warning: {survey} is not published: its survey was deleted, and devices remember its name.")
    elif parsed is not None:
        storage.publish(next_revision(storage, with_moduli(storage, parsed, settings)), who=MACHINE)
    if not storage.access.has_accounts():
        # Only for a fresh database: what it brings along takes as long to load as all the rest.
        from sottovoce.cli.staff import let_first_researcher_in

        lines.append(let_first_researcher_in(storage, settings, token_file))
    lines += [f"Survey {row.name}: {settings.link(row.name, row.digest)}" for row in storage.surveys()]
    storage.close()
    database.note_address(settings)
    place = database.database_name(settings.database, file_of(settings.database, settings.data))
    run(settings, lines=[*lines, f"Data: {place}", f"Dashboard: {settings.url}/dashboard/", *notes(settings)])


def notes(settings: Settings) -> Iterator[str]:
    """List what the settings leave open, and what is set in vain."""
    if not settings.hosts:
        yield "Any host name is accepted: set SOTTOVOCE_PUBLIC_URL, or the names in SOTTOVOCE_TRUSTED_HOSTS."
    if os.environ.get(f"{PREFIX}EMBED_ORIGINS"):
        yield f"{PREFIX}EMBED_ORIGINS is ignored: no page may hold the form in a frame any more. Link to it instead."
