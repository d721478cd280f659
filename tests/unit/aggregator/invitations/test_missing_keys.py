"""Whoever runs a node learns that it cannot sign, before people tell it."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from sottovoce.aggregator.invitations.key_file import KeysFile
from sottovoce.aggregator.invitations.missing_keys import missing_keys
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.cli.main import main

from tests.invited import blind_survey, key
from tests.surveys import survey


def test_open_surveys_without_their_keys_are_named(storage: SQLiteStorage, tmp_path: Path) -> None:
    """No setting, no file, a file that others read, another survey's; a survey with keys, open or closed is not."""
    file = tmp_path / "keys"
    storage.publish(blind_survey())
    storage.publish(survey(name="open"))
    assert missing_keys(storage, KeysFile("")) == {"exam": "SOTTOVOCE_BLIND_KEYS_FILE is not set"}
    assert "not there" in missing_keys(storage, KeysFile(str(file)))["exam"]
    KeysFile(str(file))._write({"other": (key(0),)})
    assert "all nodes need" in missing_keys(storage, KeysFile(str(file)))["exam"]
    KeysFile(str(file))._write({"exam": (key(0),)})
    assert missing_keys(storage, KeysFile(str(file))) == {}
    file.chmod(0o640)
    assert "0600" in missing_keys(storage, KeysFile(str(file)))["exam"]
    storage.close_survey("exam", 1)
    assert missing_keys(storage, KeysFile(str(file))) == {}


def test_doctor_names_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing once they are here; the database itself is in order."""
    file, data = tmp_path / "keys", tmp_path / "data"
    data.mkdir()
    database = SQLiteStorage(data / "sottovoce.sqlite")
    database.publish(blind_survey())
    database.close()
    monkeypatch.setenv("SOTTOVOCE_BLIND_KEYS_FILE", str(file))
    told = []
    for _ in range(2):
        ended = CliRunner().invoke(main, ["db", "doctor", "--data", str(data)])
        assert ended.exit_code == 0
        told.append("exam: invitations cannot be redeemed" in ended.stderr)
        KeysFile(str(file))._write({"exam": (key(0),)})

    assert told == [True, False]
