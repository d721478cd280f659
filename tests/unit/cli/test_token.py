"""Tokens from the command line: written down where nobody else reads, and over nothing that is there."""

import csv
import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sottovoce.aggregator.storage.connect import FILE
from sottovoce.aggregator.storage.sqlite import SQLiteStorage
from sottovoce.cli.main import main

from tests.surveys import survey


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a survey for invited people."""
    storage = SQLiteStorage(tmp_path / FILE)
    storage.publish(survey(access="token"))
    storage.close()
    return tmp_path


def create(data: Path, out: Path) -> Result:
    """Three tokens, written to a file."""
    return CliRunner().invoke(main, ["token", "create", "exam", "--count", "3", "--data", str(data), "--out", str(out)])


def created(data: Path) -> int:
    """Tokens that were ever made."""
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


def test_list_of_tokens_replaces_no_file(data: Path) -> None:
    """An earlier list names tokens that are shown nowhere else; and then none are made."""
    out = data / "links.csv"
    out.write_text("an earlier list")
    ended = create(data, out)

    assert ended.exit_code == 1
    assert out.read_text() == "an earlier list"
    assert created(data) == 0
