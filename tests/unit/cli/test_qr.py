"""A survey's link as a code, from the command line."""

from pathlib import Path

import pytest
from click.testing import Result
from sottovoce.aggregator.storage.connect import FILE
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage

from tests.commands import run
from tests.qr_reader import read_qr
from tests.surveys import months, survey


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a survey of three waves."""
    storage = SQLiteStorage(tmp_path / FILE)
    storage.publish(survey(waves=months(3)))
    storage.close()
    return tmp_path


def qr(data: Path, name: str, *more: str) -> Result:
    """The verb, with a file in the data folder."""
    return run("survey", "qr", "exam", "--out", data / name, "--data", data, *more)


def test_picture_leads_to_the_link_that_is_told(data: Path) -> None:
    """A telephone reads what the terminal says, wave and all."""
    done = qr(data, "exam.png", "--wave", "2")
    (link,) = read_qr((data / "exam.png").read_bytes())

    assert link.endswith("&w=2")
    assert done.stderr.strip().endswith(link)


def test_ending_says_what_is_made(data: Path) -> None:
    """A drawing, or a poster in the language that is asked for."""
    assert qr(data, "exam.svg").exit_code == qr(data, "exam.html", "--language", "de").exit_code == 0
    assert (data / "exam.svg").read_text().startswith("<?xml")
    assert '<html lang="de"' in (data / "exam.html").read_text()


@pytest.mark.parametrize(("name", "more"), [("exam.pdf", ()), ("exam", ()), ("exam.svg", ("--wave", "3"))])
def test_what_cannot_be_drawn_is_refused(data: Path, name: str, more: tuple[str, ...]) -> None:
    """And nothing is written."""
    assert qr(data, name, *more).exit_code != 0
    assert not (data / name).exists()


def test_code_replaces_no_file(data: Path) -> None:
    """Whatever stood there stays."""
    (data / "exam.svg").write_text("mine")

    assert qr(data, "exam.svg").exit_code == 1
    assert (data / "exam.svg").read_text() == "mine"
