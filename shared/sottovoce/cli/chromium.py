"""A headless Chromium for audits: found, started, and shown one page at a time without anything reaching a survey."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Error, sync_playwright
from sottovoce.shared.errors import TransportError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NEEDS = "the audit of a served client needs a Chromium: install one, or name its program in CHROMIUM"


@contextmanager
def browser() -> Iterator[Browser]:
    """
    A running Chromium, ended on exit.

    Raises:
        TransportError: there is none, or it does not start.
    """
    with sync_playwright() as driver:
        program = _program() or driver.chromium.executable_path
        if not Path(program).exists():
            raise TransportError(NEEDS)
        # Chromium refuses its sandbox to the system's administrator.
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        try:
            running = driver.chromium.launch(executable_path=program, args=options, env=dict(os.environ))
        except Error:
            raise TransportError(f"Chromium does not start; {NEEDS}") from None
        try:
            yield running
        finally:
            running.close()


def _program() -> str | None:
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)
