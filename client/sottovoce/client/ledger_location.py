"""Location of the ledger: the folder for an application's data on each platform."""

from collections.abc import Mapping
from pathlib import Path


def ledger_folder(platform: str, environ: Mapping[str, str], home: Path) -> Path:
    """Return the folder of the ledger.

    ``SOTTOVOCE_LEDGER`` names it outright. Else it is where the platform keeps an application's own data: on Windows
    ``%LOCALAPPDATA%`` (not the roaming profile: the ledger belongs to this device), on macOS
    ``~/Library/Application Support``, elsewhere ``$XDG_DATA_HOME`` or ``~/.local/share``.

    Args:
        platform: as in ``sys.platform``.
        environ: the environment.
        home: the person's home folder.
    """
    named = environ.get("SOTTOVOCE_LEDGER")
    if named:
        return Path(named)
    return _data(platform, environ, home) / "sottovoce" / "ledger"


def _data(platform: str, environ: Mapping[str, str], home: Path) -> Path:
    if platform == "win32":
        local = environ.get("LOCALAPPDATA")
        return Path(local) if local else home / "AppData" / "Local"
    if platform == "darwin":
        return home / "Library" / "Application Support"
    # The XDG specification asks that a path that is not absolute be ignored.
    data = Path(environ.get("XDG_DATA_HOME", ""))
    return data if data.is_absolute() else home / ".local" / "share"
