"""``healthcheck``: check that the node on this machine, or in this container, responds."""

import click
import requests
from sottovoce.aggregator.settings import Settings
from sottovoce.cli.command import command
from sottovoce.shared.errors import StorageError

SECONDS = 4
"""Timeout, below the five seconds of the container's own health check."""

EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - asked, not listened at
"""Address to request if a node listens on all interfaces."""


@command(example="sottovoce healthcheck --ready")
@click.option("--ready", is_flag=True, help="Also whether it can work on its database.")
def healthcheck(ready: bool) -> None:
    """Ask the node at SOTTOVOCE_HOST and SOTTOVOCE_PORT whether it is alive; exit code 1 if it is not."""
    reply = _request(Settings.from_environment(), "readyz" if ready else "healthz")
    if reply is None:
        raise StorageError("no node answers at SOTTOVOCE_HOST and SOTTOVOCE_PORT")
    if not reply.ok:
        raise StorageError("the node answers that it is not ready; /readyz says why")


def is_alive(settings: Settings) -> bool:
    """Return True if the node with these settings answers."""
    return _request(settings, "healthz") is not None


def _request(settings: Settings, page: str) -> requests.Response | None:
    """Return the answer of a node on this machine; None if there is none."""
    host = EVERY_ADDRESS.get(settings.host, f"[{settings.host}]" if ":" in settings.host else settings.host)
    with requests.Session() as session:
        # A proxy from the environment could respond in place of a node that is down.
        session.trust_env = False
        try:
            return session.get(f"http://{host}:{settings.port}/{page}", timeout=SECONDS)
        except requests.RequestException:
            return None
