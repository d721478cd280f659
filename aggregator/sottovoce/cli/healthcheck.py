"""``healthcheck``: check that the node on this machine, or in this container, responds."""

import click
from sottovoce.aggregator.settings import Settings
from sottovoce.cli.command import command
from sottovoce.cli.process import request_node
from sottovoce.shared.errors import StorageError


@command(example="sottovoce healthcheck --ready")
@click.option("--ready", is_flag=True, help="Also whether it can work on its database.")
def healthcheck(ready: bool) -> None:
    """Ask the node at SOTTOVOCE_HOST and SOTTOVOCE_PORT whether it is alive; exit code 1 if it is not."""
    reply = request_node(Settings.from_environment(), "readyz" if ready else "healthz")
    if reply is None:
        raise StorageError("no node answers at SOTTOVOCE_HOST and SOTTOVOCE_PORT")
    if not reply.ok:
        raise StorageError("the node answers that it is not ready; /readyz says why")
