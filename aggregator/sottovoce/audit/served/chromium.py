"""Start a headless Chromium for audits, shown one page at a time without anything reaching a survey."""

import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Error, sync_playwright
from sottovoce.shared.errors import TransportError

TIMEOUT_SECONDS = 300.0
"""Seconds after which the visits to a page are given up."""

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NEEDS = "the audit of a served client needs a Chromium: install one, or name its program in CHROMIUM"


def program() -> str | None:
    """Find a Chromium: as ``CHROMIUM`` says, on the path, or None for the driver's own. Raises TransportError if the
    program that ``CHROMIUM`` names does not exist.
    """
    named = os.environ.get("CHROMIUM")
    if named and shutil.which(named) is None:
        raise TransportError(f"CHROMIUM names no program that could be started; {NEEDS}")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def browser() -> Iterator[Browser]:
    """Start a Chromium, ended on exit; raises TransportError if there is none, or it does not start."""
    named = program()
    with sync_playwright() as driver:
        executable = named or driver.chromium.executable_path
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


def give_up() -> None:
    """End this process, whatever its other threads wait for; the browser ends with it.

    Some of the driver's calls have no limit of their own, and a page that never stops working holds them for ever.
    """
    sys.stderr.write("sottovoce: the served form keeps the browser busy without end; it was given up\n")
    sys.stderr.flush()
    os._exit(1)


@contextmanager
def limited(seconds: float = TIMEOUT_SECONDS, end: Callable[[], None] = give_up) -> Iterator[None]:
    """Call ``end`` if the work within takes more than so many seconds."""
    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
