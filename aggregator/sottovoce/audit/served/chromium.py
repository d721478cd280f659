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
"""Seconds without any progress after which a page is given up."""

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


class Watchdog:
    """A watchdog that calls ``end`` once nothing has been heard for so many seconds."""

    def __init__(self, seconds: float, end: Callable[[], None] = give_up) -> None:
        self._seconds, self._end = seconds, end
        self._timer: threading.Timer | None = None

    def heard(self) -> None:
        """Restart the time limit after progress."""
        self.stop()
        self._timer = threading.Timer(self._seconds, self._end)
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        """Stop waiting; the process goes on."""
        if self._timer is not None:
            self._timer.cancel()

    def __enter__(self) -> "Watchdog":
        self.heard()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
