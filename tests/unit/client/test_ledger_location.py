"""Where the ledger is, for three platforms, without being on them."""

from pathlib import Path

import pytest
from sottovoce.client.file_ledger import ledger_folder

HOME = Path("/home/ada")


@pytest.mark.parametrize(
    ("platform", "environ", "folder"),
    [
        ("linux", {}, HOME / ".local/share/sottovoce/ledger"),
        ("linux", {"XDG_DATA_HOME": "/data"}, Path("/data/sottovoce/ledger")),
        ("linux", {"XDG_DATA_HOME": ""}, HOME / ".local/share/sottovoce/ledger"),
        ("linux", {"XDG_DATA_HOME": "here"}, HOME / ".local/share/sottovoce/ledger"),
        ("freebsd14", {}, HOME / ".local/share/sottovoce/ledger"),
        ("darwin", {}, HOME / "Library/Application Support/sottovoce/ledger"),
        ("darwin", {"XDG_DATA_HOME": "/data"}, HOME / "Library/Application Support/sottovoce/ledger"),
        ("win32", {"LOCALAPPDATA": "/local"}, Path("/local/sottovoce/ledger")),
        ("win32", {}, HOME / "AppData/Local/sottovoce/ledger"),
        ("win32", {"LOCALAPPDATA": "", "APPDATA": "/roaming"}, HOME / "AppData/Local/sottovoce/ledger"),
    ],
)
def test_folder_follows_the_platform(platform, environ, folder):
    """Where people and their backups expect an application's data; one that stays on this device."""
    assert ledger_folder(platform, environ, HOME) == folder


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_folder_can_be_named(platform):
    """One environment variable moves it, on every platform."""
    assert ledger_folder(platform, {"SOTTOVOCE_LEDGER": "/else", "XDG_DATA_HOME": "/data"}, HOME) == Path("/else")
