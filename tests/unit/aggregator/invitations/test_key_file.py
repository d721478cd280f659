"""The file of keys: made once, durable, nobody else's."""

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest
from sottovoce.aggregator.invitations import key_file
from sottovoce.aggregator.invitations.key_file import KeysFile, missing_keys
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.errors import StorageError

from tests.commands import done, run
from tests.exported import published
from tests.invited import blind_survey, key
from tests.surveys import survey


def test_open_surveys_without_their_keys_are_named(storage: SQLiteStorage, tmp_path: Path) -> None:
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
    file, data = tmp_path / "keys", tmp_path / "data"
    data.mkdir()
    published(data, blind_survey()).close()
    monkeypatch.setenv("SOTTOVOCE_BLIND_KEYS_FILE", str(file))
    told = []
    for _ in range(2):
        ended = done(run("db", "doctor", "--data", data))
        told.append("exam: invitations cannot be redeemed" in ended.stderr)
        KeysFile(str(file))._write({"exam": (key(0),)})

    assert told == [True, False]


@pytest.fixture(autouse=True)
def quick_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys that other tests have too; a new number at each call."""
    numbers = count()
    monkeypatch.setattr(key_file, "make_key", lambda _bits: key(next(numbers) % 4))


def test_keys_are_made_once_for_each_name_and_wave(tmp_path: Path) -> None:
    path = str(tmp_path / "keys")
    first = KeysFile(path).make("exam", 2, 2048)

    assert KeysFile(path).make("exam", 2, 2048) == first
    assert KeysFile(path).make("exam", 3, 2048)[:2] == first
    assert KeysFile(path).make("exam", 1, 2048) == first[:1]
    assert tuple(each.modulus for each in KeysFile(path).of("exam", first)) == first
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o600
    assert sorted(each.name for each in tmp_path.iterdir()) == ["keys", "keys.lock"]


def test_many_who_publish_at_once_get_the_same_keys(tmp_path: Path) -> None:
    """A key that one of them wrote over would be lost for whoever redeemed."""
    path = str(tmp_path / "keys")
    with ThreadPoolExecutor(4) as pool:
        made = set(pool.map(lambda _: KeysFile(path).make("exam", 2, 2048), range(8)))
    assert len(made) == 1


def test_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    """Before anything of it is read."""
    file = KeysFile(str(tmp_path / "keys"))
    made = file.make("exam", 1, 2048)
    (tmp_path / "keys").chmod(0o640)
    with pytest.raises(StorageError, match="0600"):
        file.of("exam", made)


def test_missing_keys_are_told(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    with pytest.raises(StorageError, match="SOTTOVOCE_BLIND_KEYS_FILE is not set"):
        KeysFile("").of("exam", (1,))
    with pytest.raises(StorageError, match="SOTTOVOCE_BLIND_KEYS_FILE must name a file"):
        KeysFile("").make("exam", 1, 2048)
    with pytest.raises(StorageError, match="not there"):
        KeysFile(str(path)).of("exam", (1,))
    with pytest.raises(StorageError, match="cannot be written"):
        KeysFile(str(path / "none" / "keys")).make("exam", 1, 2048)
    made = KeysFile(str(path)).make("exam", 1, 2048)
    with pytest.raises(StorageError, match="all nodes need"):
        KeysFile(str(path)).of("health", made)
    with pytest.raises(StorageError, match="all nodes need"):
        KeysFile(str(path)).of("exam", (made[0] + 2,))
    path.write_text(json.dumps({"format": "other"}))
    with pytest.raises(StorageError, match="holds no such keys"):
        KeysFile(str(path)).of("exam", made)


def test_file_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    """Another process publishes while this one serves."""
    served, other = KeysFile(str(tmp_path / "keys")), KeysFile(str(tmp_path / "keys"))
    first = other.make("exam", 1, 2048)
    assert served.of("exam", first)
    second = other.make("health", 1, 2048)

    assert served.of("health", second)[0].modulus == second[0]


def test_what_root_writes_belongs_to_the_aggregators_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An administrator publishes as root, in a folder of the user that the nodes run as: they read the keys."""
    given: list[tuple[str, int, int]] = []
    monkeypatch.setattr(
        "os.fchown", lambda handle, *owner: given.append((Path(f"/proc/self/fd/{handle}").readlink().name, *owner))
    )
    owner = (tmp_path.stat().st_uid, tmp_path.stat().st_gid)
    for user in (0, 1):
        monkeypatch.setattr("os.geteuid", lambda user=user: user)
        KeysFile(str(tmp_path / f"keys{user}")).make("exam", 1, 2048)
    (lock, *of_lock), (keys, *of_keys) = given

    assert (lock, keys[:7]) == ("keys0.lock", ".keys0.")
    assert [tuple(of_lock), tuple(of_keys)] == [owner, owner]
