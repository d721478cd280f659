"""A fork of our program is what a start of it is."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.zygote import PROGRAM

STATUS = ("Umask", "PPid", "Uid", "Groups", "SigBlk", "SigIgn", "CapEff", "NoNewPrivs")


def seen(folder: Path, kill: bool, unusual: dict[str, Any]) -> dict[str, Any]:
    """What the system and the program itself tell of one that waits for its file, and then goes on or is killed."""
    pipe, environment = subprocess.PIPE, {**os.environ, "SOTTOVOCE_DATA": "elsewhere"}
    with subprocess.Popen([*PROGRAM, "lint", "pipe"], cwd=folder, env=environment, start_new_session=True,
                          stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, **unusual) as process:  # fmt: skip
        with (folder / "pipe").open("w") as file:
            own = Path(f"/proc/{process.pid}")
            lines = dict(line.split(":\t", 1) for line in (own / "status").read_text().splitlines())
            told: dict[str, Any] = {name: lines[name] for name in STATUS}
            words = (own / "cmdline").read_bytes()
            told["words"], told["forked"] = words.rstrip(b"\0"), words.endswith(b"\0\0")
            told["folder"] = (own / "cwd").readlink()
            # Without the pipe, which it may be opening at this moment.
            told["files"] = sorted(each.name for each in (own / "fd").iterdir() if each.readlink() != folder / "pipe")
            told["session"] = os.getsid(process.pid) == os.getpgid(process.pid) == process.pid
            if kill:
                process.kill()
            else:
                file.write("name: no survey")
        told["written"], told["code"] = process.communicate(), process.returncode
    return told


@pytest.mark.external
@pytest.mark.parametrize("kill", [False, True])
def test_fork_is_what_a_start_is(tmp_path: Path, kill: bool) -> None:
    os.mkfifo(tmp_path / "pipe")
    # With a umask of its own the program is executed.
    mask = os.umask(0)
    os.umask(mask)
    forked = seen(tmp_path, kill, {})

    assert forked == {**seen(tmp_path, kill, {"umask": mask}), "forked": True}
    assert forked["code"] == (-signal.SIGKILL if kill else 1)
    assert bool(forked["written"][1]) != kill
