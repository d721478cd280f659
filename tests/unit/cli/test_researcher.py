"""Who is let in, from the command line: listed, and let in no more."""

import re
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sottovoce.aggregator.accounts.authentication import KEY_PREFIX, authenticate_key, key_hash, link_hash
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.connect import FILE
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.cli.main import main
from sottovoce.cli.staff import let_first_researcher_in
from sottovoce.shared.errors import StorageError


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


SETTINGS = Settings(public_url="https://survey.example.org")


def test_start_prints_a_link_whose_secret_is_no_key(storage: SQLiteStorage) -> None:
    """Whoever reads the log later finds nothing that lets in once it was used, and no key."""
    printed = let_first_researcher_in(storage, SETTINGS, None)
    link = re.search(r"https://survey\.example\.org/dashboard/sign-in\?link=(\S+)", printed)

    assert link
    assert KEY_PREFIX not in printed
    assert authenticate_key(storage, f"Bearer {link[1]}", 0) is None
    assert storage.access.start_session_by_key(b"s", key_hash(link[1]), 0) is None
    account = storage.access.start_session_by_link(b"s", link_hash(link[1]), 0)
    assert account is not None
    assert (account.name, account.admin, storage.access.grants(account.id)) == ("researcher", True, {"*": "owner"})
    assert storage.access.start_session_by_link(b"t", link_hash(link[1]), 0) is None


def test_key_is_written_for_its_user_alone_and_not_printed(tmp_path: Path, storage: SQLiteStorage) -> None:
    """And no link is printed: the file is what lets in."""
    file = tmp_path / "key"
    printed = let_first_researcher_in(storage, SETTINGS, file)
    key = file.read_text().strip()
    found = authenticate_key(storage, f"Bearer {key}", 0)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert key not in printed
    assert "link=" not in printed
    assert found is not None
    assert (found[0].name, found[0].admin) == ("researcher", True)


def test_key_that_cannot_be_written_is_not_made(tmp_path: Path, storage: SQLiteStorage) -> None:
    """Else the next start would find an account, and make no other; what is in the file stays."""
    (tmp_path / "token").write_text("kept")
    for file in (tmp_path / "token", tmp_path / "nowhere" / "token"):
        with pytest.raises(StorageError, match=r"exists already|does not exist"):
            let_first_researcher_in(storage, SETTINGS, file)

    assert (tmp_path / "token").read_text() == "kept"
    assert not storage.access.has_accounts()
