"""Backups that a timer makes: whatever runs them, a file is gone before what it holds falls due."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage

from tests.surveys import survey
from tests.unit.test_deploy import DEPLOY, text

KEPT_DAYS = 7


def from_systemd(folder: Path) -> list[str]:
    """What the unit runs, with systemd's words replaced as it does."""
    lines = [line.partition("=") for line in text("sottovoce-backup.service").splitlines()]
    commands = [value for name, _, value in lines if name in {"ExecStartPre", "ExecStart"}]
    return [
        each.replace("%S/sottovoce/backups", str(folder)).replace("%%", "%").replace("$$", "$") for each in commands
    ]


def from_compose(folder: Path) -> list[str]:
    """What the service runs."""
    (command,) = yaml.safe_load(text("compose.yaml"))["services"]["backup"]["command"]
    return [command.replace("$$", "$").replace("/backups", str(folder))]


def from_kubernetes(folder: Path) -> list[str]:
    """What the two containers run, one after the other."""
    (job,) = [each for each in yaml.safe_load_all(text("kubernetes/backup.yaml")) if each["kind"] == "CronJob"]
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    commands = (shlex.join(pod[part][0]["command"]) for part in ("initContainers", "containers"))
    return [command.replace("/backups", str(folder)) for command in commands]


@pytest.mark.parametrize("commands", [from_systemd, from_compose, from_kubernetes])
def test_new_backup_replaces_the_last(tmp_path: Path, commands: Callable[[Path], list[str]]) -> None:
    """The commands are run twice: one file is there, a newer one; a forgotten one of the seventh day goes."""
    with closing(SQLiteStorage(tmp_path / "sottovoce.sqlite")) as storage:
        storage.publish(survey())
    folder, programs = tmp_path / "backups", tmp_path / "programs"
    folder.mkdir()
    programs.mkdir()
    (programs / "sottovoce").write_text(f'#!/bin/sh\nexec {sys.executable} -m sottovoce.cli "$@"\n')
    (programs / "sottovoce").chmod(0o755)
    for name, days in (("sixth.sqlite", 6.02), ("seventh.sqlite", 6.98), ("other", 30.0)):
        (folder / name).touch()
        os.utime(folder / name, (time.time() - days * 86400,) * 2)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "SOTTOVOCE_DATA": str(tmp_path)}
    made = []
    for command in commands(folder) * 2:
        here = command.replace("/opt/sottovoce/bin", str(programs))
        subprocess.run(["sh", "-c", here], env=environment, check=True, capture_output=True, timeout=60)
        made += [path.stat().st_ino for path in folder.glob("last.sqlite")]

    assert {path.name for path in folder.iterdir()} == {"sixth.sqlite", "other", "last.sqlite"}
    assert len(set(made)) == 2
    assert (folder / "last.sqlite").stat().st_size > 0


@pytest.mark.parametrize("commands", [from_systemd, from_compose, from_kubernetes])
def test_file_is_deleted_on_the_day_until_which_it_may_be_kept(commands: Callable[[Path], list[str]]) -> None:
    """Half a day before at most, so that a run that is a little early does not leave it for another day."""
    told = "\n".join(commands(Path("/folder")))

    assert f"--keep-days {KEPT_DAYS} " in told
    assert f"+{(2 * KEPT_DAYS - 1) * 720}" in told


def test_timers_run_each_hour() -> None:
    """At the same minute, a little after midnight in UTC, by when the aggregator has forgotten what fell due."""
    (job,) = [each for each in yaml.safe_load_all(text("kubernetes/backup.yaml")) if each["kind"] == "CronJob"]

    assert "OnCalendar=*-*-* *:15:00 UTC" in text("sottovoce-backup.timer").splitlines()
    assert (job["spec"]["schedule"], job["spec"]["timeZone"]) == ("15 * * * *", "Etc/UTC")


def test_systemd_accepts_the_timer_and_its_unit(tmp_path: Path) -> None:
    """Where systemd is; everywhere, the unit has the aggregator's user, database and bounds."""
    served, saved = (set(text(f"{name}.service").splitlines()) for name in ("sottovoce", "sottovoce-backup"))
    own = {"[Install]", "WantedBy=multi-user.target", "Wants=network-online.target", "After=network-online.target"}
    for_serving = ("Description", "ExecStart", "Restart", "KillMode", "Timeout", "Limit", "Memory", "StateDirectory=")
    # Keys of blind links are for who signs.
    for_serving += ("Environment=SOTTOVOCE_BLIND_KEYS_FILE", "Environment=SOTTOVOCE_ANALYSIS_MEMORY")
    bounds = {line for line in served - own if not line.startswith(for_serving)} | {"MemoryDenyWriteExecute=yes"}
    assert bounds - saved == set()
    assert "User=sottovoce" in saved
    analyze = shutil.which("systemd-analyze")
    if analyze:
        for path in DEPLOY.glob("sottovoce*.*"):
            (tmp_path / path.name).write_text(path.read_text().replace("/opt/sottovoce/bin/sottovoce", "/bin/true"))
        units = sorted(tmp_path.glob("*backup*"))
        command = [analyze, "verify", "--man=no", *units]
        tried = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (tried.returncode, tried.stderr) == (0, "")
