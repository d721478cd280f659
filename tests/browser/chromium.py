"""Finds a Chromium: the one that ``CHROMIUM`` names, the system's, else the one in the pinned npm package."""

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
SYSTEM = Path("/usr/bin/chromium")


class Chromium(NamedTuple):
    """An executable and the environment that it runs in."""

    executable: str
    environment: dict[str, str]


def find() -> Chromium:
    """
    A Chromium that starts; raises if there is none, since a browser test that did not run is a failed one.

    The npm package would unpack into the system's temporary folder and trust whatever lies there under that name,
    so it is given a folder of its own.
    """
    for candidate in (os.environ.get("CHROMIUM", ""), str(SYSTEM)):
        if candidate and Path(candidate).exists():
            return Chromium(candidate, dict(os.environ))
    plain = Chromium(_unpack("plain"), dict(os.environ))
    return plain if _starts(plain) else _with_libraries()


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
    target = HERE / "node_modules" / ".chromium" / folder
    target.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(target)}
    command = ["node", "chromium.mjs", *options]
    run = subprocess.run(command, cwd=HERE, env=environment, check=True, capture_output=True, text=True)
    return run.stdout


def _starts(chromium: Chromium) -> bool:
    command = [chromium.executable, "--no-sandbox", "--version"]
    run = subprocess.run(command, env=chromium.environment, capture_output=True, timeout=60, check=False)
    return run.returncode == 0
