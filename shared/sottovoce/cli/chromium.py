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


def program() -> str | None:
    """
    Where a Chromium is: as ``CHROMIUM`` says, on the path, or None for the driver's own.

    Raises:
        TransportError: the one that is named is not there.
    """
    named = os.environ.get("CHROMIUM")
    if named and shutil.which(named) is None:
        raise TransportError(f"CHROMIUM names no program that could be started; {NEEDS}")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def browser() -> Iterator[Browser]:
    """
    A running Chromium, ended on exit.

    Raises:
        TransportError: there is none, or it does not start.
    """
    with sync_playwright() as driver:
        executable = program() or driver.chromium.executable_path
        if not Path(executable).exists():
            raise TransportError(NEEDS)
        # Chromium refuses its sandbox to the system's administrator.
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        try:
            running = driver.chromium.launch(executable_path=executable, args=options, env=dict(os.environ))
        except Error:
            raise TransportError(f"Chromium does not start; {NEEDS}") from None
        try:
            yield running
        finally:
            running.close()
