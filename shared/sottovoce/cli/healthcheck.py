"""``healthcheck``: whether the node on this machine, or in this container, answers."""

import click
import requests
from sottovoce.aggregator.settings import Settings
from sottovoce.shared.errors import StorageError

SECONDS = 4
"""Less than the five that the container's own check is given."""

EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - asked, not listened at
"""Where a node that listens everywhere is asked."""


@click.command()
@click.option("--ready", is_flag=True, help="Also whether it can work on its database.")
def healthcheck(ready: bool) -> None:
    """Ask the node at SOTTOVOCE_HOST and SOTTOVOCE_PORT whether it is alive; exit code 1 if it is not."""
    settings = Settings.from_environment()
    host = EVERY_ADDRESS.get(settings.host, f"[{settings.host}]" if ":" in settings.host else settings.host)
    with requests.Session() as session:
        # A proxy of the environment is for the way out, and would answer for a node that is dead.
        session.trust_env = False
        try:
            reply = session.get(f"http://{host}:{settings.port}/{'readyz' if ready else 'healthz'}", timeout=SECONDS)
        except requests.RequestException:
            raise StorageError("no node answers at SOTTOVOCE_HOST and SOTTOVOCE_PORT") from None
    if not reply.ok:
        raise StorageError("the node answers that it is not ready; /readyz says why")
