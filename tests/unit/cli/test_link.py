"""Links from the command line: tokens that nobody else reads, written over nothing that is there, and codes."""

import csv
import errno
import json
import os
import re
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import Result
from sottovoce.aggregator.storage.connect import FILE
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.cli.database import ADDRESS

from tests.commands import refused, run
from tests.exported import published
from tests.qr_reader import read_qr
from tests.surveys import months, survey
from tests.unit.shared.test_schema import validator


@pytest.fixture
def data(tmp_path: Path) -> Path:
    published(tmp_path, survey(access="token")).close()
    return tmp_path


def create(data: Path, out: Path) -> Result:
    return run("link", "create", "exam", "--count", "3", "--data", data, "--out", out)


def created(data: Path) -> int:
    storage = SQLiteStorage(data / FILE)
    try:
        return storage.token_counts(1).created
    finally:
        storage.close()


def test_list_of_tokens_is_for_its_owner_only(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads it can answer in somebody's place; so it is by itself, whatever the process allows."""
    out = data / "links.csv"
    former = os.umask(0o022)
    with monkeypatch.context() as patch:
        patch.setattr(os, "umask", lambda _: 0o022)
        assert create(data, out).exit_code == 0
    os.umask(former)

    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    with out.open(newline="") as file:
        assert len({row["token"] for row in csv.DictReader(file)}) == created(data) == 3


def test_killed_command_leaves_no_token_that_is_on_no_list(data: Path) -> None:
    """What is written comes before what is stored, so that all of it can be taken back."""
    out = data / "links.csv"
    words = ["link", "create", "exam", "--count", "60000", "--data", str(data), "--out", str(out)]
    with subprocess.Popen([sys.executable, "-m", "sottovoce.cli", *words]) as process:
        while not (made := created(data)):
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()

    assert made < 60_000
    ended = run("link", "revoke", "exam", out, "--data", data)
    storage = SQLiteStorage(data / FILE)
    counts = storage.token_counts(1)
    storage.close()
    assert (ended.exit_code, counts.revoked, counts.unspent) == (0, counts.created, 0)


def test_no_token_is_stored_whose_list_may_not_be_on_the_disk(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems tell of a full disk at the last step only; and standard output may be closed."""

    def fails(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fails)
        assert "no space left on device" in create(data, data / "links.csv").stderr
    words = [sys.executable, "-m", "sottovoce.cli", "link", "create", "exam", "--count", "3", "--data", str(data)]
    ended = subprocess.run(["/bin/sh", "-c", '"$@" >&-', "sh", *words], capture_output=True, text=True, check=False)
    assert (ended.returncode, "no link was made" in ended.stderr) == (1, True)
    assert created(data) == 0


def test_lists_and_cards_replace_no_file(data: Path) -> None:
    """An earlier list names tokens that are shown nowhere else; and then none are made."""
    out = data / "links.csv"
    out.write_text("an earlier list")
    refused(create(data, out))
    assert out.read_text() == "an earlier list"
    assert created(data) == 0

    cards = data / "cards.html"
    cards.write_text("earlier cards")
    options = ["--count", "3", "--cards", str(cards), "--data", str(data)]

    assert run("link", "create", "exam", *options).exit_code == 1
    assert created(data) == 0


@pytest.mark.parametrize(("kept", "told"), [("http://127.0.0.1:8123", False), ("nonsense\n", True), (None, True)])
def test_links_are_for_the_address_that_served_the_folder(data: Path, kept: str | None, told: bool) -> None:
    """Without one that can be believed, the verb says what it takes for the address, and what changes it."""
    if kept is not None:
        (data / ADDRESS).write_text(kept)
    result = create(data, data / "list.csv")

    address = "http://127.0.0.1:8000" if told else kept
    with (data / "list.csv").open(newline="") as file:
        assert all(row["link"].startswith(f"{address}/s/exam#d=") for row in csv.DictReader(file))
    assert ("SOTTOVOCE_PUBLIC_URL" in result.stderr) == told


def test_address_that_is_set_comes_before_the_one_that_was_served(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy in front is known to its operator only."""
    (data / ADDRESS).write_text("http://127.0.0.1:8123")
    monkeypatch.setenv("SOTTOVOCE_PUBLIC_URL", "https://survey.example.org")
    create(data, data / "list.csv")

    assert "https://survey.example.org/s/exam#d=" in (data / "list.csv").read_text()


def test_list_for_a_try_out_says_so_first(tmp_path: Path) -> None:
    """And is taken back like any other: what stands before the tokens is none."""
    published(tmp_path, survey(access="token", trial=True)).close()
    out = tmp_path / "links.csv"
    assert create(tmp_path, out).exit_code == 0
    assert out.read_text().splitlines()[:2] == ["Test run: not the real survey.", "token,link,warning"]

    ended = run("link", "revoke", "exam", out, "--data", tmp_path)
    assert (ended.exit_code, ended.stderr) == (0, "3 tokens revoked\n")


def test_export_of_a_try_out_says_so_first(tmp_path: Path) -> None:
    published(tmp_path, survey(trial=True), survey(name="real")).close()
    tried, real = (run("results", "export", name, "--data", tmp_path) for name in ("exam", "real"))

    assert tried.stdout.splitlines()[1] == '  "trial": true,'
    assert tried.stderr.splitlines()[0] == "Test run: not the real survey."
    assert "trial" not in real.stdout
    validator("export").validate(json.loads(tried.stdout))


def test_cards_hold_the_links_that_were_made(data: Path) -> None:
    cards = data / "cards.html"
    options = ["--count", "9", "--cards", str(cards), "--language", "ar", "--data", str(data)]
    done = run("link", "create", "exam", *options)
    page = cards.read_text(encoding="utf-8")

    assert (done.exit_code, done.stdout) == (0, "")
    assert len(set(re.findall("&amp;t=([0-9A-Z]{18})<", page))) == created(data) == 9
    assert (page.count('class="sheet"'), page.count("<svg")) == (2, 9)
    assert stat.S_IMODE(cards.stat().st_mode) == 0o600


@pytest.fixture
def panel(tmp_path: Path) -> Path:
    published(tmp_path, survey(waves=months(3))).close()
    return tmp_path


def qr(panel: Path, name: str, *more: str) -> Result:
    """The verb, with a file in the data folder."""
    return run("survey", "qr", "exam", "--out", panel / name, "--data", panel, *more)


def test_picture_leads_to_the_link_that_is_told(panel: Path) -> None:
    done = qr(panel, "exam.png", "--wave", "2")
    (link,) = read_qr((panel / "exam.png").read_bytes())

    assert link.endswith("&w=2")
    assert done.stderr.strip().endswith(link)


def test_ending_says_what_is_made(panel: Path) -> None:
    assert qr(panel, "exam.svg").exit_code == qr(panel, "exam.html", "--language", "de").exit_code == 0
    assert (panel / "exam.svg").read_text().startswith("<?xml")
    assert '<html lang="de"' in (panel / "exam.html").read_text()


@pytest.mark.parametrize(("name", "more"), [("exam.pdf", ()), ("exam", ()), ("exam.svg", ("--wave", "3"))])
def test_what_cannot_be_drawn_is_refused(panel: Path, name: str, more: tuple[str, ...]) -> None:
    assert qr(panel, name, *more).exit_code != 0
    assert not (panel / name).exists()


def test_code_replaces_no_file(panel: Path) -> None:
    (panel / "exam.svg").write_text("mine")

    assert qr(panel, "exam.svg").exit_code == 1
    assert (panel / "exam.svg").read_text() == "mine"
