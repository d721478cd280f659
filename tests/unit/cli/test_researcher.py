"""Who is let in, from the command line: listed, and let in no more."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sottovoce.aggregator.accounts.authentication import key_hash
from sottovoce.aggregator.storage.connect import FILE
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.cli.main import main


def run(data: Path, *words: str, typed: str = "") -> Result:
    """The command, with what is typed."""
    return CliRunner().invoke(main, ["staff", *words, "--data", str(data)], input=typed)


def accounts(data: Path) -> list[str]:
    """Lines of the list of accounts, without their numbers."""
    return [line.partition("  ")[2] for line in run(data, "list").stdout.splitlines()]


@pytest.fixture
def tokens(tmp_path: Path) -> dict[str, str]:
    """A token of Ann's and two of Ben's, the later one kept here."""
    return {name: run(tmp_path, "add", name).stdout.strip() for name in ("ben", "ann", "ben")}


def test_list_names_each_with_the_number_of_keys(tmp_path: Path, tokens: dict[str, str]) -> None:
    """Never a token or its hash."""
    assert tokens.keys() == {"ann", "ben"}
    assert accounts(tmp_path) == ["ann  1 key  admin", "ben  2 keys  admin"]


def test_revoked_researcher_is_let_in_no_more(tmp_path: Path, tokens: dict[str, str]) -> None:
    """Neither by a token nor by a session that was begun; others are not touched."""
    storage = SQLiteStorage(tmp_path / FILE)
    for name, token in tokens.items():
        storage.access.start_session_by_key(name.encode(), key_hash(token), 1000)
    assert run(tmp_path, "key", "revoke", "--all", "ben").exit_code == 0

    assert [storage.access.key(key_hash(tokens[name]), 0) is not None for name in ("ann", "ben")] == [True, False]
    assert [storage.access.session(name, 1001) is not None for name in (b"ann", b"ben")] == [True, False]
    storage.close()
    assert accounts(tmp_path) == ["ann  1 key  admin", "ben  0 keys  admin"]
    assert 'no active account "ben" has keys' in run(tmp_path, "key", "revoke", "--all", "ben").stderr


def test_last_researcher_is_asked_about(
    tmp_path: Path, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a terminal, and for a no, nothing is revoked; --yes does not ask."""
    assert tokens
    run(tmp_path, "key", "revoke", "--all", "ben")
    refused = run(tmp_path, "key", "revoke", "--all", "ann")
    monkeypatch.setattr("sottovoce.cli.command.on_terminal", lambda: True)
    declined = run(tmp_path, "key", "revoke", "--all", "ann", typed="n\n")

    for result in (refused, declined):
        assert result.exit_code == 1
        assert "nothing was revoked" in result.stderr
    assert "ann  1 key  admin" in accounts(tmp_path)
    assert run(tmp_path, "key", "revoke", "--all", "ann", "--yes").exit_code == 0
    assert "ann  0 keys  admin" in accounts(tmp_path)
