"""The ledger on files: one draw across threads, processes and restarts, and damage is no reason for another."""

import json
import os
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

import pytest
from sottovoce.client import file_ledger
from sottovoce.client.file_ledger import FileLedger, default_folder, ledger_folder, matching
from sottovoce.client.ledger import Entry, Key
from sottovoce.client.ledger_entry import name_of
from sottovoce.shared.errors import BudgetExhausted

KEY = Key("https://a.example", "s")
ENTRY = Entry("d" * 64, 1.5, '{"x":1}')


@pytest.fixture
def ledger(tmp_path):
    found = FileLedger(tmp_path)
    found.record(KEY, ENTRY)
    return found


def test_what_another_process_writes_is_read(tmp_path):
    mine, other = FileLedger(tmp_path), FileLedger(tmp_path)
    other.record(KEY, ENTRY)
    assert mine.get(KEY) == ENTRY

    other.mark_refused(KEY, "a")
    assert mine.get(KEY).refused == "a"
    other.mark_refused(KEY, "b")
    assert mine.get(KEY).refused == "b"

    [path] = tmp_path.glob("*.json")
    content = path.read_bytes()
    path.write_bytes(content[:-2])
    with pytest.raises(BudgetExhausted):
        mine.get(KEY)
    path.write_bytes(content)
    assert mine.get(KEY).refused == "b"
    path.unlink()
    assert mine.get(KEY) is None


def test_set_of_questions_is_written_once(tmp_path):
    first = FileLedger(tmp_path).prepare(KEY, "d" * 64, lambda: (0, 2))
    [path] = tmp_path.iterdir()
    written = path.stat()

    assert FileLedger(tmp_path).prepare(KEY, "d" * 64, lambda: (1, 2)) == first == (0, 2)
    assert [*tmp_path.iterdir()] == [path]
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (written.st_ino, written.st_mtime_ns)


def test_entry_lies_there_as_a_field_a_line(tmp_path):
    """In the bytes that every release has written; the fields are a closed list, with no place for an answer."""
    entry = replace(ENTRY, ended="é", send_at=7)
    FileLedger(tmp_path).record(KEY._replace(token="t"), entry)
    [path] = tmp_path.glob("*.json")

    about = {"origin": KEY.origin, "survey": KEY.survey, "wave": 0, "digest": ENTRY.digest, "epsilon": 1.5}
    report = {"body": ENTRY.body, "sent": False, "ended": "é", "refused": "", "signature": "", "send_at": 7}
    assert path.read_bytes() == json.dumps({**about, **report}, indent=1).encode()


class Disk:
    """What a folder would hold after a power cut: what was synced, of the files as of the folder."""

    def __init__(self, folder, monkeypatch):
        self._folder = folder
        self._sync = os.fsync
        self._contents = {}
        self._names = {}
        monkeypatch.setattr(os, "fsync", self._synced)

    def _synced(self, handle):
        self._sync(handle)
        about = os.fstat(handle)
        if stat.S_ISDIR(about.st_mode):
            self._names = {path.name: path.stat().st_ino for path in self._folder.iterdir()}
        else:
            self._contents[about.st_ino] = os.pread(handle, about.st_size, 0)

    def left(self):
        """Contents by name; empty where the name is on the disk and the content is not."""
        return {name: self._contents.get(inode, b"") for name, inode in self._names.items()}


def test_power_cut_takes_nothing_that_the_ledger_has_told(tmp_path, monkeypatch):
    """After every step the folder and its files are synced: a lost entry would be a second draw."""
    disk, ledger = Disk(tmp_path, monkeypatch), FileLedger(tmp_path)
    steps = [
        lambda: ledger.record(KEY, ENTRY),
        lambda: ledger.prepare(KEY, ENTRY.digest, lambda: (0, 2)),
        lambda: ledger.mark_sent(KEY),
        lambda: ledger.end(KEY, "withdrawn"),
        lambda: ledger.record(KEY._replace(wave=1), ENTRY),
        lambda: ledger.erase(name_of(KEY)),
    ]
    for step in steps:
        step()
        left = disk.left()
        found = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        assert {name: left.get(name) for name in found} == found
    assert list(disk.left()) == [f"{name_of(KEY._replace(wave=1))}.json"]


def test_entry_is_whole_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    """A name without its content would be a damaged entry after a power cut, and end the survey for good."""
    disk, link = Disk(tmp_path, monkeypatch), os.link
    seen = []

    def watched(source, target):
        seen.append(disk._contents.get(source.stat().st_ino) == source.read_bytes() != b"")
        link(source, target)

    monkeypatch.setattr(os, "link", watched)
    FileLedger(tmp_path).record(KEY, ENTRY)

    assert seen == [True]


def test_file_ledger_lets_one_of_many_threads_draw(tmp_path):
    entries = [Entry("d" * 64, 1.5, str(number)) for number in range(32)]

    with ThreadPoolExecutor(8) as pool:
        told = set(pool.map(lambda entry: FileLedger(tmp_path).record(KEY, entry), entries))

    assert told == {FileLedger(tmp_path).get(KEY)}


def test_file_ledger_lets_one_of_two_processes_draw(tmp_path):
    program = (
        "import sys; from pathlib import Path; from sottovoce.client.file_ledger import *\n"
        "sys.stdin.readline()\n"
        "print(FileLedger(Path(sys.argv[1])).record(Key('https://a.example', 's'), Entry('d', 1.0, sys.argv[2])).body)"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, tmp_path, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in ("one", "two")
    ]
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    told = {process.communicate(timeout=30)[0].strip() for process in processes}

    assert told == {FileLedger(tmp_path).get(KEY).body}


def test_file_ledger_is_readable_by_its_owner_only(tmp_path):
    """What was sent is nobody else's business on a shared device."""
    folder = tmp_path / "ledger"
    # What the process would forbid anyway must not hide what the ledger forbids.
    before = os.umask(0)
    try:
        FileLedger(folder).record(KEY, ENTRY)
    finally:
        os.umask(before)

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_file_ledger_does_not_write_the_token(tmp_path):
    """A token names a person; the file's name is a digest of it."""
    FileLedger(tmp_path).record(KEY._replace(token="SENTINEL-TOKEN"), ENTRY)

    assert "SENTINEL" not in "".join(f"{path}{path.read_text()}" for path in tmp_path.iterdir())


HEAD = '{"origin":"https://a.example","survey":"s","wave":0,'
DAMAGES = [
    "", "{", "[]", "null", '{"digest":"d"}', '{"origin":"https://a.example"}', "[" * 100_000, "\x00",
    HEAD + '"digest":"d","epsilon":"1","body":""}', HEAD + '"digest":"d","epsilon":-1,"body":""}',
    HEAD + '"digest":"d","epsilon":1,"body":null}', HEAD + '"digest":1,"epsilon":1,"body":""}',
    HEAD + '"digest":"d","epsilon":1}', HEAD + '"digest":"d","epsilon":NaN,"body":""}',
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES, ids=range(len(DAMAGES)))
def test_damaged_entry_is_no_reason_to_draw_again(tmp_path, damage, ledger):
    """It may stand for a report already sent."""
    next(tmp_path.glob("*.json")).write_text(damage)

    for use in (lambda: ledger.get(KEY), lambda: ledger.record(KEY, ENTRY), lambda: ledger.spent(KEY.origin)):
        with pytest.raises(BudgetExhausted, match=rf"cannot be read.*{name_of(KEY)}"):
            use()


def test_entry_of_an_earlier_version_is_read(tmp_path, ledger):
    """A field that was added since has its default."""
    path = next(tmp_path.glob("*.json"))
    document = json.loads(path.read_text())
    del document["ended"], document["refused"]
    path.write_text(json.dumps(document))

    assert ledger.get(KEY) == ENTRY


def test_forgotten_report_keeps_its_charge(tmp_path):
    ledger = FileLedger(tmp_path)
    ledger.record(KEY, Entry("d", 1.5, "SENTINEL"))
    ledger.forget(name_of(KEY))

    assert "SENTINEL" not in "".join(path.read_text() for path in tmp_path.iterdir())
    assert ledger.record(KEY, ENTRY) == Entry("d", 1.5, "", ended="forgotten")
    assert ledger.spent(KEY.origin) == 1.5


def test_withdrawn_report_is_not_called_forgotten(ledger):
    ledger.end(KEY, "withdrawn")
    ledger.forget(name_of(KEY))

    assert ledger.get(KEY).ended == "withdrawn"


def test_erased_entry_is_gone_also_where_another_process_was_quicker(tmp_path, monkeypatch, ledger):
    ledger.erase(name_of(KEY))
    ledger.erase(name_of(KEY))

    assert list(tmp_path.iterdir()) == []
    assert ledger.get(KEY) is None

    ledger.record(KEY, ENTRY)
    monkeypatch.setattr(file_ledger, "matching", lambda names, pattern: ["gone", *matching(names, pattern)])
    ledger.erase(name_of(KEY))

    assert list(tmp_path.iterdir()) == []


def test_read_tells_what_is_bound_to_a_token(tmp_path):
    """The token itself is not in the ledger, so that only its link can send the report."""
    ledger = FileLedger(tmp_path)
    for key in (KEY, KEY._replace(token="0123456789ABCDEF")):
        ledger.record(key, ENTRY)
    records = [ledger.read(name) for name in ledger.names()]

    assert sorted(record.bound for record in records) == [False, True]
    assert {record.key for record in records} == {KEY}


def test_part_of_a_killed_process_is_removed(tmp_path):
    """It was drawn and never recorded, so never sent: it stays neither beside the next one nor as the second."""
    (tmp_path / "killed.part").write_text("{")
    for _ in range(2):
        FileLedger(tmp_path).record(KEY, ENTRY)
        assert [path.suffix for path in tmp_path.iterdir()] == [".json"]


NOTES = """
import sys, time
from pathlib import Path
from sottovoce.client.file_ledger import *
folder = Path(sys.argv[1])
write = FileLedger._write
def slowly(ledger, document):
    (folder / "read").touch()
    while not (folder / "go").exists():
        time.sleep(0.01)
    return write(ledger, document)
FileLedger._write = slowly
FileLedger(folder).mark_sent(Key("https://a.example", "s"))
"""


def test_forgetting_is_not_undone_by_another_process(tmp_path, ledger):
    """A process that is just noting the arrival, what it read in hand, does not write the report back."""
    other = subprocess.Popen([sys.executable, "-c", NOTES, tmp_path])
    while not (tmp_path / "read").exists():
        assert other.poll() is None
        time.sleep(0.01)
    with ThreadPoolExecutor(1) as thread:
        forgotten = thread.submit(ledger.forget, name_of(KEY))
        # Who does not wait for the other one is done in a moment.
        wait([forgotten], timeout=1)
        (tmp_path / "go").touch()
        forgotten.result(30)
    assert other.wait(timeout=30) == 0
    assert ledger.get(KEY) == Entry(ENTRY.digest, ENTRY.epsilon, "", sent=True, ended="forgotten")


def test_new_folder_is_synced_into_those_above_it(tmp_path, monkeypatch):
    """After a power cut a record without its folder would be no record."""
    synced = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_ino) or fsync(handle))
    FileLedger(tmp_path / "one" / "two").record(KEY, ENTRY)

    assert {folder.stat().st_ino for folder in (tmp_path, tmp_path / "one", tmp_path / "one" / "two")} <= set(synced)


def test_default_folder_can_be_named(monkeypatch, tmp_path):
    monkeypatch.setenv("SOTTOVOCE_LEDGER", str(tmp_path))

    assert default_folder() == tmp_path


def test_ledger_that_cannot_be_written_stops_everything_in_words(tmp_path):
    """Without a record there is no report: a file stands where the folder should be."""
    (tmp_path / "ledger").write_text("")
    ledger = FileLedger(tmp_path / "ledger")

    with pytest.raises(BudgetExhausted, match="ledger cannot be"):
        ledger.get(KEY)
    with pytest.raises(BudgetExhausted, match="ledger cannot be"):
        ledger.record(KEY, ENTRY)


def test_note_of_arrival_that_cannot_be_written_is_left_out(tmp_path, monkeypatch):
    """The report has arrived; sending it again later is harmless."""
    ledger = FileLedger(tmp_path / "ledger")
    ledger.record(KEY, ENTRY)

    def full(*_):
        raise OSError(28, "no space")

    monkeypatch.setattr(FileLedger, "_write", full)
    ledger.mark_sent(KEY)
    assert ledger.get(KEY) == ENTRY
    # Whoever takes a report back, or forgets it, is told.
    for use in (lambda: ledger.end(KEY, "withdrawn"), lambda: ledger.forget(name_of(KEY))):
        with pytest.raises(BudgetExhausted, match="cannot be written"):
            use()


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
        *(
            (system, {"SOTTOVOCE_LEDGER": "/else", "XDG_DATA_HOME": "/data"}, Path("/else"))
            for system in ("linux", "darwin", "win32")
        ),
    ],
)
def test_folder_follows_the_platform(platform, environ, folder):
    """Where people and their backups expect an application's data, on this device; one variable moves it on all."""
    assert ledger_folder(platform, environ, HOME) == folder
