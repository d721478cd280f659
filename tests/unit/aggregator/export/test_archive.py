"""All files in one folder or zip, with sums that hold."""

import hashlib
import subprocess
import zipfile
from pathlib import Path

import pytest
from sottovoce.aggregator.export.archive import FAILED, SUMS, write_folder, write_zip
from sottovoce.aggregator.export.catalogue import AT_ANY_TIME, OF_REPORTS, Source


def test_folder_holds_every_file_but_the_public_answers(folder: Path) -> None:
    """Every row of the list, and the sums."""
    assert {path.name for path in folder.iterdir()} == {*AT_ANY_TIME, *OF_REPORTS, SUMS}


def test_sums_are_those_of_the_files(folder: Path) -> None:
    """As the usual program checks them."""
    ended = subprocess.run(
        ["sha256sum", "--strict", "-c", SUMS], cwd=folder, capture_output=True, text=True, check=True
    )
    assert ended.stdout.count(": OK") == len([*folder.iterdir()]) - 1


def test_zip_holds_the_same_with_sums_that_hold(every: Source, folder: Path, tmp_path: Path) -> None:
    """In one folder of the survey's name, dated on no day; nothing is left beside it."""
    write_zip(every, tmp_path / "everything.zip")
    with zipfile.ZipFile(tmp_path / "everything.zip") as archive:
        found = {name.removeprefix("exam/"): archive.read(name) for name in archive.namelist()}
        dates = {entry.date_time for entry in archive.infolist()}

    assert found.keys() == {path.name for path in folder.iterdir()}
    sums = dict(reversed(line.split("  ")) for line in found.pop(SUMS).decode().splitlines()[1:])
    assert {name: hashlib.sha256(content).hexdigest() for name, content in found.items()} == sums
    assert dates == {(1980, 1, 1, 0, 0, 0)}
    assert [path.name for path in tmp_path.iterdir()] == ["everything.zip"]


def test_file_that_fails_is_named_and_leaves_the_others(
    every: Source, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list of failures has sums too, and repeats nothing of the data."""

    def fail(_source: Source, path: Path) -> None:
        path.write_text("half of it", encoding="utf-8")
        raise ValueError("an answer")

    monkeypatch.setitem(OF_REPORTS, "reports.dta", fail)
    failed = write_folder(every, tmp_path)

    (line,) = failed
    assert line.startswith("reports.dta was not written: ")
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in folder.iterdir()} - {"reports.dta"} | {
        FAILED
    }
    assert line in (tmp_path / FAILED).read_text(encoding="utf-8")
    assert "an answer" not in line


def test_every_text_names_the_survey_and_the_version(every: Source, folder: Path) -> None:
    """Survey, revision, digest, epsilon and version; tables of reports have no room for it, the survey is all of it."""
    silent = {"reports.csv", "reports.parquet", "reports.sav", "reports.dta", "channels.csv", "scores.csv"}
    texts = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".xlsx"}
    about = every.about.survey
    named = {
        name for name, text in texts.items() if about.digest.encode() in text and every.about.version.encode() in text
    }

    assert set(texts) - silent - named == {"survey.json"}
    assert hashlib.sha256(texts["survey.json"]).hexdigest() == about.digest
