"""A folder that a user names is written whole or not at all, and never into one that holds something."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from sottovoce.cli.command import check_new_folder, new_folder
from sottovoce.cli.main import main
from sottovoce.shared.errors import StorageError


def test_folder_that_is_not_there_or_empty_may_be_written(tmp_path: Path) -> None:
    """Its name is free."""
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
        done = CliRunner().invoke(main, [*arguments, str(tmp_path / "web")])
    finally:
        os.umask(before)
    places = [tmp_path / "web", *(tmp_path / "web").rglob("*")]

    assert done.exit_code == 0
    assert len(places) > 5
    assert {(path.is_dir(), oct(path.stat().st_mode & 0o777)) for path in places} <= {(True, "0o755"), (False, "0o644")}
