"""A file that a user names is written whole; links, devices and pipes stay what they are."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sottovoce.cli.command import check_new_folder, new_folder, write_text
from sottovoce.shared.errors import StorageError

from tests.commands import run

WRITE = "import sys; from pathlib import Path; from sottovoce.cli.command import write_text; "


def test_file_is_made_or_replaced_as_a_whole(tmp_path: Path) -> None:
    """With its user's rights only, and nothing left beside it."""
    out = tmp_path / "out.json"
    for text in ("first", "second, Ä"):
        write_text(text, out)
        assert out.read_text(encoding="utf-8") == text

    assert list(tmp_path.iterdir()) == [out]
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_link_is_refused_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    """Also one that leads nowhere yet, and one that was put where a temporary file might come to lie."""
    target, link, loose = tmp_path / "target", tmp_path / "link", tmp_path / "loose"
    target.write_text("mine")
    link.symlink_to(target)
    loose.symlink_to(tmp_path / "nothing")
    (tmp_path / "out.part").symlink_to(target)
    for path in (link, loose):
        with pytest.raises(StorageError, match="is a symbolic link"):
            write_text("text", path)
    write_text("text", tmp_path / "out")

    assert link.is_symlink()
    assert loose.is_symlink()
    assert target.read_text() == "mine"
    assert not (tmp_path / "nothing").exists()


def test_pipe_and_device_are_written_to_and_stay(tmp_path: Path) -> None:
    """A fifo gets the text; so does a device of the kind of /dev/null, where one can be made."""
    pipe, device, read = tmp_path / "pipe", tmp_path / "device", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_text("through", pipe)
    reader.join(20)
    assert read == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    if os.geteuid() == 0:
        os.mknod(device, stat.S_IFCHR | 0o600, os.makedev(1, 3))
        write_text("away", device)
        assert stat.S_ISCHR(device.lstat().st_mode)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1"])
def test_standard_output_is_written_to_by_its_name(tmp_path: Path, name: str) -> None:
    """Into a pipe, and behind what stands in a file already."""
    command = [sys.executable, "-c", f"{WRITE}write_text('text', Path({name!r}))"]
    into_pipe = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    with (tmp_path / "kept").open("a") as file:
        file.write("before ")
        file.flush()
        subprocess.run(command, stdout=file, check=True)

    assert into_pipe == b"text"
    assert (tmp_path / "kept").read_text() == "before text"


def test_what_is_neither_file_nor_device_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none" / "out"):
        with pytest.raises(StorageError):
            write_text("text", path)

    assert list(tmp_path.iterdir()) == []


def test_folder_that_is_not_there_or_empty_may_be_written(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("new", "empty"):
        check_new_folder(tmp_path / name)
        with new_folder(tmp_path / name) as folder:
            (folder / "a").write_text("a")
        assert (tmp_path / name / "a").read_text() == "a"


def test_folder_that_holds_something_is_left_as_it_is(tmp_path: Path) -> None:
    """So are a file and a link."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("full", "file", "link"):
        with pytest.raises(StorageError, match="it was left as it is"):
            check_new_folder(tmp_path / name)


def test_folder_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """Neither under the name nor beside it; nor does what a killed run has left there stay."""
    (tmp_path / ".out.abc.part").mkdir()

    def fail() -> None:
        with new_folder(tmp_path / "out") as folder:
            (folder / "a").write_text("a")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_folder_that_got_something_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    """Somebody else was faster: theirs stays."""

    def write() -> None:
        with new_folder(tmp_path / "out") as folder:
            (folder / "a").write_text("a")
            (tmp_path / "out").mkdir()
            (tmp_path / "out" / "theirs").write_text("theirs")

    with pytest.raises(StorageError, match="cannot be written"):
        write()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["theirs"]


@pytest.mark.parametrize("arguments", [("question", "static"), ("survey", "page", "https://a.example", "--folder")])
def test_folder_for_a_web_server_can_be_read_by_it(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """Files have mode 0644 and folders 0755, however strict the umask of who writes them."""
    before = os.umask(0o077)
    try:
        done = run(*arguments, tmp_path / "web")
    finally:
        os.umask(before)
    places = [tmp_path / "web", *(tmp_path / "web").rglob("*")]

    assert done.exit_code == 0
    assert len(places) > 5
    assert {(path.is_dir(), oct(path.stat().st_mode & 0o777)) for path in places} <= {(True, "0o755"), (False, "0o644")}
