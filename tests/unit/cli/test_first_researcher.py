"""The first researcher of a fresh database: shown a token, written one, or given a link that dies on first use."""

import re
import stat
from pathlib import Path

import pytest
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite import SQLiteStorage
from sottovoce.aggregator.web.auth import researcher_of, token_hash
from sottovoce.cli import asking, first_researcher
from sottovoce.cli.first_researcher import let_first_researcher_in
from sottovoce.shared.errors import StorageError

SETTINGS = Settings(public_url="https://survey.example.org")


def told(
    storage: SQLiteStorage, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, **given: object
) -> str:
    """What a start prints, at a terminal or not."""
    monkeypatch.setattr(first_researcher, "is_seen_only", lambda: given.get("terminal", False))
    let_first_researcher_in(storage, SETTINGS, given.get("file"))  # type: ignore[arg-type]
    return capsys.readouterr().err


def test_terminal_is_shown_the_token(
    storage: SQLiteStorage, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it always was."""
    token = told(storage, capsys, monkeypatch, terminal=True).partition("shown only now: ")[2].strip()

    assert researcher_of(storage, f"Bearer {token}") == "researcher"


def test_log_gets_a_link_whose_secret_is_no_token(
    storage: SQLiteStorage, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reads the log later finds nothing that lets in, at either door for tokens."""
    printed = told(storage, capsys, monkeypatch)
    link = re.search(r"https://survey\.example\.org/dashboard/sign-in\?link=(\S+)", printed)

    assert link
    assert "researcher-" not in printed
    assert storage.has_researchers()
    assert researcher_of(storage, f"Bearer {link[1]}") is None
    assert storage.start_session(b"s", token_hash(link[1]), 0) is None


@pytest.mark.parametrize("terminal", [True, False])
def test_token_is_written_for_its_user_alone_and_not_printed(
    tmp_path: Path, storage: SQLiteStorage, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    terminal: bool,
) -> None:  # fmt: skip
    """With or without a terminal."""
    file = tmp_path / "token"
    printed = told(storage, capsys, monkeypatch, terminal=terminal, file=file)
    token = file.read_text().strip()

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert token not in printed
    assert researcher_of(storage, f"Bearer {token}") == "researcher"


def test_token_that_cannot_be_written_is_not_made(tmp_path: Path, storage: SQLiteStorage) -> None:
    """Else the next start would find a researcher, and make no other; what is in the file stays."""
    (tmp_path / "token").write_text("kept")
    for file in (tmp_path / "token", tmp_path / "nowhere" / "token"):
        with pytest.raises(StorageError, match="exists already or cannot be written"):
            let_first_researcher_in(storage, SETTINGS, file)

    assert (tmp_path / "token").read_text() == "kept"
    assert not storage.has_researchers()


@pytest.mark.parametrize(
    ("terminal", "own", "parent", "expected"),
    [(True, 900, 800, True), (False, 900, 800, False), (True, 1, 0, False), (True, 7, 1, False)],
    ids=["terminal", "supervisor", "container", "container with an init"],
)
def test_what_a_container_prints_is_kept(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, own: int, parent: int, expected: bool
) -> None:
    """On a terminal too: ``docker run -it`` shows it, and keeps it in the log."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal, raising=False)
    monkeypatch.setattr("os.getpid", lambda: own)
    monkeypatch.setattr("os.getppid", lambda: parent)

    assert asking.is_seen_only() is expected
