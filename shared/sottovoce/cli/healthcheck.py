"""``healthcheck``: whether the aggregator on this machine can take traffic, for containers and supervisors."""

import sys
from dataclasses import replace

import click
import requests
from sottovoce.aggregator.settings import Settings

SECONDS = 4.0
"""Longer than the aggregator waits for its database, shorter than supervisors wait for this."""

_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - what is listened on, not what is bound here


@click.command()
@click.option("--host", help="Address that it listens on; SOTTOVOCE_HOST, if it is not given.")
@click.option("--port", type=int, help="Port that it listens on; SOTTOVOCE_PORT, if it is not given.")
def healthcheck(host: str | None, port: int | None) -> None:
    """Ask the aggregator on this machine whether it is ready; exit code 0 if so, 1 with the reason if not."""
    ready, told = ask(Settings.from_environment(), host, port)
    click.echo(told, err=True)
    sys.exit(0 if ready else 1)


def ask(settings: Settings, host: str | None = None, port: int | None = None) -> tuple[bool, str]:
    """
    Whether it is ready, and a sentence about it.

    Args:
        settings: say where it listens.
        host: in the place of theirs.
        port: likewise.
    """
    listens = host or settings.host
    local = replace(settings, host=_ANY_ADDRESS.get(listens, listens), port=port or settings.port, public_url="")
    try:
        with requests.Session() as session:
            # A proxy for the way out has no business here.
            session.trust_env = False
            reply = session.get(f"{local.url}/readyz", headers={"Accept": "application/json"}, timeout=SECONDS)
    except requests.RequestException:
        return False, "Not ready: nothing answers at this address and port."
    if reply.ok:
        return True, "Ready."
    return False, f"Not ready: {_reason(reply)}."


def _reason(reply: requests.Response) -> str:
    try:
        found = reply.json()
        return str(found.get("detail") or found["title"])
    except (ValueError, KeyError, AttributeError):
        return "what answers there is no aggregator"
