"""Finds a Chromium: the one that ``CHROMIUM`` names, the system's, else the one in the pinned npm package."""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Playwright

HERE = Path(__file__).parent
SYSTEM = Path("/usr/bin/chromium")
SHARED = Path("/dev/shm")  # noqa: S108 - the kernel's, and nothing is put there by name

ROOM = 2_000_000_000
"""Bytes of memory for files that several browsers fill in part; containers often have 64 MB, and pages crash."""


class Chromium(NamedTuple):
    """An executable and the environment that it runs in."""

    executable: str
    environment: dict[str, str]


def find() -> Chromium:
    """A Chromium that starts; raises if there is none, since a browser test that did not run is a failed one.

    The npm package would unpack into the system's temporary folder and trust whatever lies there under that name,
    so it is given a folder of its own.
    """
    for candidate in (os.environ.get("CHROMIUM", ""), str(SYSTEM)):
        if candidate and Path(candidate).exists():
            return Chromium(candidate, dict(os.environ))
    plain = Chromium(_unpack("plain"), dict(os.environ))
    return plain if _starts(plain) else _with_libraries()


def launch(driver: Playwright) -> Browser:
    """A headless browser; where there is room it shares memory as the kernel does it, since files take a tenth more.

    It makes no page's process before one is asked for: most would be made for a visit that ends, another tenth.
    """
    executable, environment = find()
    roomy = SHARED.is_dir() and shutil.disk_usage(SHARED).free > ROOM
    return driver.chromium.launch(
        executable_path=executable,
        env=dict(environment),
        args=["--no-sandbox", "--renderer-process-limit=1"],
        ignore_default_args=["--disable-dev-shm-usage"] if roomy else [],
    )


def _with_libraries() -> Chromium:
    executable = _unpack("libraries", "--libraries")
    libraries = f"{Path(executable).parent}/al2023/lib:{os.environ.get('LD_LIBRARY_PATH', '')}"
    found = Chromium(executable, {**os.environ, "LD_LIBRARY_PATH": libraries})
    if not _starts(found):
        raise RuntimeError("Chromium does not start here; set CHROMIUM to one that does")
    return found


def _unpack(folder: str, *options: str) -> str:
    if not (HERE / "node_modules" / "@sparticuz").is_dir():
        raise RuntimeError("no Chromium: run `make test`, or `npm ci` in tests/browser, or set CHROMIUM")

    def fill(target: Path) -> None:
        environment = {**os.environ, "TMPDIR": str(target)}
        subprocess.run(["node", "chromium.mjs", *options], cwd=HERE, env=environment, check=True, capture_output=True)

    return str(filled_once(HERE / "node_modules" / ".chromium" / folder, fill) / "chromium")


def filled_once(folder: Path, fill: Callable[[Path], None]) -> Path:
    """``folder``, filled by the first that asks for it while the others wait, and never seen half full.

    The processes of one run all want the browser at the same moment, and a program that is still being written
    cannot be started; one that was cut off while it was written must not be taken for whole by the next run.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            unfinished = folder.with_suffix(".unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            fill(unfinished)
            unfinished.rename(folder)
    return folder


def _starts(chromium: Chromium) -> bool:
    command = [chromium.executable, "--no-sandbox", "--version"]
    run = subprocess.run(command, env=chromium.environment, capture_output=True, timeout=60, check=False)
    return run.returncode == 0
