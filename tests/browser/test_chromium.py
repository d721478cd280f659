"""The browser is unpacked once, by whichever process of a run comes first, and never used half unpacked."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep

import pytest

from tests.browser.chromium import filled_once


def test_who_comes_together_waits_for_the_first(tmp_path: Path) -> None:
    """The processes of a run all ask at the same moment; a program that is being written cannot be started."""
    filled: list[Path] = []

    def fill(target: Path) -> None:
        filled.append(target)
        (target / "chromium").write_text("half")
        sleep(0.2)
        (target / "chromium").write_text("whole")

    def ask(_: int) -> str:
        return (filled_once(tmp_path / "a" / "plain", fill) / "chromium").read_text()

    with ThreadPoolExecutor(4) as together:
        seen = list(together.map(ask, range(4)))

    assert seen == ["whole"] * 4
    assert len(filled) == 1


def test_what_was_cut_off_is_unpacked_anew(tmp_path: Path) -> None:
    def cut_off(target: Path) -> None:
        (target / "chromium").write_text("half")
        (target / "left").touch()
        raise KeyboardInterrupt

    def fill(target: Path) -> None:
        (target / "chromium").write_text("whole")

    with pytest.raises(KeyboardInterrupt):
        filled_once(tmp_path / "plain", cut_off)
    folder = filled_once(tmp_path / "plain", fill)

    assert [path.name for path in folder.iterdir()] == ["chromium"]
    assert (folder / "chromium").read_text() == "whole"
