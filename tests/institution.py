"""A real OpenID Connect provider (npm ``oidc-provider``) as a process of its own, on this machine."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests
from playwright.sync_api import Page
from sottovoce.cli.process import free_port

HERE = Path(__file__).parent / "oidc"
CLIENT = "sottovoce"
SECRET = "the secret that the institution gave"


@dataclass(frozen=True)
class Institution:
    """A provider that lets any name in by any password."""

    issuer: str
    process: "subprocess.Popen[str]"

    def set_clock(self, seconds: int) -> None:
        self._rig(f"clock?seconds={seconds}")

    def set_hanging(self, seconds: int) -> None:
        """Let it keep everybody waiting."""
        self._rig(f"hang?seconds={seconds}")

    def rotate_keys(self) -> None:
        """Let it sign with another key, and name no other."""
        self._rig("rotate")

    def _rig(self, what: str) -> None:
        requests.post(f"{self.issuer}/rig/{what}", timeout=10).raise_for_status()


@contextmanager
def institution(callback: str) -> Iterator[Institution]:
    """A provider that knows one client, whose browsers come back to ``callback``."""
    if not (HERE / "node_modules").is_dir():
        raise RuntimeError("no provider: run `make test`, or `npm ci` in tests/oidc")
    port = free_port()
    command = ["node", "provider.mjs", str(port), CLIENT, SECRET, callback]
    process = subprocess.Popen(command, cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        while process.stdout.readline().strip() != "ready":
            assert process.poll() is None, "the provider did not start"
        yield Institution(f"http://localhost:{port}", process)
    finally:
        process.terminate()
        process.wait(timeout=20)
        process.stdout.close()


def sign_in_there(page: Page, name: str) -> None:
    """On the provider's own pages: a name, any password, and consent."""
    page.fill("input[name=login]", name)
    page.fill("input[name=password]", "any")
    page.click("button[type=submit]")
    page.wait_for_load_state()
    page.click("button[type=submit]")
