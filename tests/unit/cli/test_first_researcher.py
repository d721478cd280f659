"""The first account of a fresh database: given a link that dies on first use, or written a key."""

import re
import stat
from pathlib import Path

import pytest
from sottovoce.aggregator.accounts.authentication import KEY_PREFIX, authenticate_key, key_hash, link_hash
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.cli.staff import let_first_researcher_in
from sottovoce.shared.errors import StorageError

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
