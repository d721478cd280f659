"""Every file of a try-out says so first; files of reports are refused while more may come."""

import zipfile
from pathlib import Path

import duckdb
import pyreadstat
import pytest
from sottovoce.aggregator.export.archive import write_folder, write_zip
from sottovoce.aggregator.export.catalogue import AT_ANY_TIME, OF_REPORTS, RELEASED, SINGLE, WITH_PUBLIC, Source
from sottovoce.aggregator.file_formats.provenance import TRIAL
from sottovoce.shared.errors import EstimateError

from tests.exported import drawn, published, send, source
from tests.surveys import survey


@pytest.fixture
def opened(tmp_path: Path) -> Source:
    """An open survey with reports."""
    storage = published(tmp_path, survey())
    send(storage, survey(), drawn(survey(), 60))
    return source(storage, survey())


@pytest.mark.parametrize("name", [*OF_REPORTS, *WITH_PUBLIC])
def test_file_of_reports_is_refused_while_the_survey_is_open(opened: Source, tmp_path: Path, name: str) -> None:
    """And nothing is written."""
    with pytest.raises(EstimateError, match=r"the survey is open: .*files of reports exist once it is closed"):
        SINGLE[name](opened, tmp_path / name)
    assert not (tmp_path / name).exists()


def test_all_files_together_are_refused_while_the_survey_is_open(opened: Source, tmp_path: Path) -> None:
    """They hold reports."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(EstimateError, match="the survey is open"):
        write_folder(opened, tmp_path / "folder")
    with pytest.raises(EstimateError, match="the survey is open"):
        write_zip(opened, tmp_path / "all.zip")
    assert sorted(path.name for path in tmp_path.glob("*.zip")) == []


@pytest.mark.parametrize("name", AT_ANY_TIME)
def test_other_files_come_at_any_time(opened: Source, tmp_path: Path, name: str) -> None:
    """Of texts and shown counts."""
    SINGLE[name](opened, tmp_path / name)
    assert (tmp_path / name).stat().st_size > 0


def first_of(path: Path) -> str:
    """The first line of a file, or where a format has none, what it says of itself."""
    if path.suffix == ".parquet":
        with duckdb.connect() as connection:
            rows = connection.sql("SELECT value FROM parquet_kv_metadata($file)", params={"file": str(path)}).fetchall()
            return str(rows[0][0].decode())
    if path.suffix in {".sav", ".dta"}:
        read = pyreadstat.read_sav if path.suffix == ".sav" else pyreadstat.read_dta
        return str(read(path, metadataonly=True)[1].file_label)
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as book:
            # The first text is that of the first cell.
            return book.read("xl/sharedStrings.xml").decode().split("<t>")[1]
    return path.read_text(encoding="utf-8").splitlines()[0]


def test_every_file_of_a_try_out_says_so_first(tmp_path: Path) -> None:
    """Also while it is open: nobody shall take it for the real survey."""
    asked = survey(trial=True)
    storage = published(tmp_path, asked)
    send(storage, asked, drawn(asked, 60))
    found = source(storage, asked)
    (tmp_path / "all").mkdir()
    write_folder(found, tmp_path / "all")
    for name, write in WITH_PUBLIC.items():
        write(found, tmp_path / "all" / name)
    storage.close()

    said = {path.name: first_of(path) for path in (tmp_path / "all").iterdir()}
    marked = {name for name, line in said.items() if TRIAL in line or '"trial":true' in line.replace(" ", "")}
    # Nothing is published under a budget of a try-out.
    assert len(said) == len(SINGLE) - len(RELEASED) + 1
    # Of the two short labels the warning is what fits.
    marked |= {name for name in said if name.endswith(("sav", "dta")) and said[name] == TRIAL[: len(said[name])]}
    assert set(said) - marked == set()
