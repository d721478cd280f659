"""Invitations after a restore: the backup does not know which were redeemed since it was made."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from sottovoce.aggregator.blind.keys_file import KeysFile
from sottovoce.aggregator.blind.redeeming import Redeeming
from sottovoce.aggregator.collect.tokens import create_tokens
from sottovoce.aggregator.storage.journal_words import REISSUED
from sottovoce.aggregator.storage.sqlite import SQLiteStorage
from sottovoce.aggregator.web.problems import Refusal
from sottovoce.cli.main import main

from tests.conftest import FakeClock
from tests.invited import blind_survey, key, prepare, request_of


def test_nothing_is_redeemed_after_a_restore_until_it_is_said_how_many_may_be_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who redeemed before the backup is answered; who did since, and who never did, is told to wait until then."""
    monkeypatch.chdir(tmp_path)
    asked = blind_survey()
    KeysFile("keys")._write({"exam": (key(0),)})
    with_first = SQLiteStorage(Path("first.sqlite"))
    with_first.publish(asked)
    bodies = [request_of(asked, made[:16], prepare(asked)) for made in create_tokens(with_first, "exam", 3)]
    before = redeeming(with_first)
    signed = before.redeem("exam", bodies[0])
    with_first.scrub()
    with_first.close()
    Path("saved.sqlite").write_bytes(Path("first.sqlite").read_bytes())
    run("restore", "saved.sqlite", "--data", "again")
    restored = SQLiteStorage(Path("again/sottovoce.sqlite"))
    after = redeeming(restored)

    assert after.redeem("exam", bodies[0]) == signed
    for body in bodies[1:]:
        with pytest.raises(Refusal, match="busy"):
            after.redeem("exam", body)
    assert "up to 2 persons may report twice" in run("token", "reissue-after-restore", "exam", "--data", "again")
    assert all(after.redeem("exam", body) for body in bodies)
    assert "exam 2" in [entry.about for entry in restored.journal.entries() if entry.what == REISSUED]
    restored.close()


def redeeming(storage: SQLiteStorage) -> Redeeming:
    """Whoever signs for this database."""
    return Redeeming(storage, FakeClock(), KeysFile("keys"))


def run(*words: str) -> str:
    """What a command says."""
    ended = CliRunner().invoke(main, words, catch_exceptions=False)
    assert ended.exit_code == 0, ended.stderr
    return ended.stderr
