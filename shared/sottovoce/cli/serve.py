"""``serve``: the whole embedded aggregator. This process looks after the one that serves, which is ``worker``."""

import os
import socket
import sys
from contextlib import suppress
from pathlib import Path

import click
from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.errors import FatalError
from granian.http import HTTP1Settings
from granian.log import LogLevels
from sottovoce.aggregator.planning.survey_file import read_survey_file
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Storage, StoredSurvey
from sottovoce.cli.database import data_option, data_settings, open_storage
from sottovoce.shared.errors import StorageError

if sys.platform != "win32":
    import resource

CONNECTIONS = 16_384
"""Connections held at once; further ones wait. Those that send nothing cost a few KiB each, and end after a while."""

HEAD_SECONDS = 5
HEAD_BYTES = 8 * 1024
"""Time and room for the head of a request; what is larger or slower is no browser."""


@click.command()
@click.argument("survey", type=click.Path(path_type=Path), required=False)
@click.option("--host", default=None, help="Address to listen on. [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(1, 65535), default=None, help="Port to listen on. [default: 8000]")
@data_option
def serve(survey: Path | None, host: str | None, port: int | None, data: Path | None) -> None:
    """Run the aggregator, and publish the file SURVEY if one is named."""
    found = data_settings(data)
    settings = Settings(**{**vars(found), "host": host or found.host, "port": port or found.port})
    parsed = read_survey_file(survey) if survey else None
    _check_address(settings)
    storage = open_storage(settings, create=True)
    if parsed is not None:
        storage.publish(parsed)
    _first_token(storage)
    for row in storage.surveys():
        click.echo(f"Survey {row.name}: {respondent_link(settings, row)}", err=True)
    storage.close()
    click.echo(f"Dashboard: {settings.url}/dashboard/", err=True)
    run(settings)


def respondent_link(settings: Settings, survey: StoredSurvey, wave: int = 0) -> str:
    """The link that respondents are given."""
    return settings.link(survey.name, survey.digest, wave)


def run(settings: Settings, application: str = "sottovoce.cli.worker:make_app") -> None:
    """Serve until told to stop: one worker process, respawned if it dies."""
    os.environ.update(settings.to_environment())
    _allow_many_files()
    server = Granian(
        application,
        address=settings.host,
        port=settings.port,
        interface=Interfaces.ASGI,
        factory=True,
        workers=1,
        # In HTTP/2 one connection takes the places, and the memory, of hundreds; browsers speak it through TLS only.
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=HEAD_SECONDS * 1000, max_buffer_size=HEAD_BYTES),
        backpressure=CONNECTIONS,
        backlog=4096,
        websockets=False,
        log_access=False,
        log_level=LogLevels.warning,
        respawn_failed_workers=True,
        workers_kill_timeout=5,
    )
    try:
        server.serve()
    except FatalError:
        sys.exit(1)


def _allow_many_files() -> None:
    """Open as many files, of which each connection is one, as the system allows: its usual limit is 1,024."""
    if sys.platform != "win32":
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        # Some systems name no limit, and then refuse to set none.
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _check_address(settings: Settings) -> None:
    """Find out now, in words, whether the address can be listened on."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError:
            raise StorageError("the address is in use or not allowed; choose another with --host or --port") from None


def _first_token(storage: Storage) -> None:
    if not storage.has_researchers():
        # Only for a fresh database: what it brings along takes as long to load as all the rest.
        from sottovoce.aggregator.web.auth import new_token

        token, digest = new_token()
        storage.add_researcher("researcher", digest)
        click.echo(f"Researcher's token, shown only now: {token}", err=True)
