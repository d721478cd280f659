"""Invitations after a restore: the backup does not know which were redeemed since it was made."""

from pathlib import Path

import pytest
from click.testing import Result
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.invitations.key_file import KeysFile
from sottovoce.aggregator.invitations.redemption import Redeeming
from sottovoce.aggregator.invitations.tokens import create_tokens
from sottovoce.aggregator.storage.audit_log.events import REISSUED
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage

from tests.commands import done, run as command
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
    said = run("db", "restore", "saved.sqlite", "--data", "again")
    assert "exam: 2 invitations are on hold since the restore of" in said
    assert said.endswith("until you run: sottovoce link reissue exam --data again\n")
    assert said.splitlines()[-1] in run("db", "doctor", "--data", "again")
    run("survey", "close", "exam", "--data", "again", "--yes")
    assert "held" not in run("db", "doctor", "--data", "again")
    assert said.splitlines()[-1] in run("survey", "reopen", "exam", "--data", "again")
    assert "\nheld 2\n" in invoke("link", "stats", "exam", "--data", "again").stdout
    restored = SQLiteStorage(Path("again/sottovoce.sqlite"))
    after = redeeming(restored)

    assert after.redeem("exam", bodies[0]) == signed
    for body in bodies[1:]:
        with pytest.raises(Refusal, match="busy"):
            after.redeem("exam", body)
    refused = invoke("link", "reissue", "exam", "--data", "again")
    assert (refused.exit_code, "say --yes" in refused.stderr) == (1, True)
    assert "made after the backup (link revoke)" in refused.stderr
    with pytest.raises(Refusal, match="busy"):
        after.redeem("exam", bodies[1])
    let_go = run("link", "reissue", "exam", "--data", "again", "--yes")
    assert "such links are valid again" in let_go
    assert let_go.endswith("2 can be redeemed again: up to 2 people may report twice.\n")
    assert all(after.redeem("exam", body) for body in bodies)
    assert "held" not in run("db", "doctor", "--data", "again")
    assert "No invitation" in run("link", "reissue", "exam", "--data", "again")
    assert "exam 2" in [entry.about for entry in restored.journal.entries() if entry.what == REISSUED]
    restored.close()


def redeeming(storage: SQLiteStorage) -> Redeeming:
    return Redeeming(storage, FakeClock(), KeysFile("keys"))


def run(*words: str) -> str:
    ended = done(invoke(*words))
    return ended.stderr


def invoke(*words: str) -> Result:
    return command(*words, catch_exceptions=False)
