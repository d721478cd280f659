"""A folder of reports gives the live results with every engine, and what was changed in it is noticed."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sottovoce.aggregator.analysis.estimates import analyse
from sottovoce.aggregator.analysis.results_document import export_document
from sottovoce.aggregator.estimators import IntervalRule
from sottovoce.aggregator.export.offline.locations import place_named
from sottovoce.aggregator.export.offline.offline_results import HERE, open_folder, results_of
from sottovoce.shared.errors import EstimateError, SpecError

from tests.exported import published, send, source
from tests.surveys import months, survey
from tests.unit.aggregator.export.offline.conftest import FIRST, SECOND, Written, write


def quiet(_done: int, _whole: int) -> None:
    """Nobody is told."""


def estimates(folder: Path, engine: str = "duckdb", **options: Any) -> str:
    return json.dumps(export_document(results_of(open_folder(place_named(folder)), HERE[engine], quiet, **options)))


@pytest.mark.parametrize("engine", HERE)
@pytest.mark.parametrize("wave", [0, 1, None])
def test_every_engine_gives_the_live_export(written: Written, engine: str, wave: int | None) -> None:
    """To the last letter, of each wave and of both, for every type of question and through two revisions."""
    live = export_document(analyse(written.source.revisions, interval="wilson", wave=wave, confidence=0.9))

    assert estimates(written.folder, engine, rule=IntervalRule("wilson", 0.9), wave=wave) == json.dumps(live)


def test_public_rows_change_nothing(tmp_path: Path, written: Written) -> None:
    """The counts of public questions are those of the manifest, with their rows or without."""
    folder = write(written.source, tmp_path / "work" / "out", public=True)

    assert estimates(folder) == estimates(written.folder)


def test_folder_of_one_wave_is_of_that_wave(tmp_path: Path, written: Written) -> None:
    """Without being told; another one is not in it."""
    folder = write(source(written.source.storage, SECOND, wave=1), tmp_path / "work" / "out")

    assert estimates(folder) == json.dumps(export_document(analyse(written.source.revisions, wave=1)))
    with pytest.raises(EstimateError, match="another wave"):
        estimates(folder, wave=0)


def test_question_that_some_are_asked(tmp_path: Path) -> None:
    """Who was not asked is in no count, and results know how few were."""
    asked = survey(ask=1, waves=months(1))
    storage = published(tmp_path, asked)
    send(storage, asked, [(bit, None, 0) for bit in (0, 1)] * 20 + [(None, value, 1) for value in (0, 1, 2)] * 20)
    storage.close_survey(asked.name, 20_600)
    folder = write(source(storage, asked), tmp_path / "work" / "out")
    live = json.dumps(export_document(analyse(source(storage, asked).revisions)))
    storage.close()

    assert [estimates(folder, engine) for engine in HERE] == [live] * len(HERE)


def _edit(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    document = json.loads((folder / "manifest.json").read_bytes())
    change(document)
    (folder / "manifest.json").write_text(json.dumps(document))


def _part(folder: Path) -> Path:
    return sorted(folder.rglob("*.parquet"))[0]


def _flip(folder: Path) -> None:
    data = bytearray(_part(folder).read_bytes())
    data[len(data) // 2] ^= 1
    _part(folder).write_bytes(data)


def _swap(folder: Path) -> None:
    one, other = sorted(folder.rglob("*.parquet"))[:2]
    other.write_bytes(one.read_bytes())


SPOILED: dict[str, tuple[Callable[[Path], object], str]] = {
    "changed": (_flip, "part-0000.parquet is not the file that was exported"),
    "cut off": (lambda folder: _part(folder).write_bytes(_part(folder).read_bytes()[:-9]), "is not the file that was"),
    "another part": (_swap, "part-0001.parquet is not the file"),
    "missing": (lambda folder: _part(folder).unlink(), "part-0000.parquet is missing"),
    "foreign": (lambda folder: shutil.copy(_part(folder), folder / "part-0099.parquet"), "does not name"),
    "no manifest": (lambda folder: (folder / "manifest.json").unlink(), "the folder has no manifest.json"),
    "no folder": (shutil.rmtree, "there is no such folder"),
    "no JSON": (lambda folder: (folder / "manifest.json").write_text("{"), "is no manifest of reports"),
    "another format": (
        lambda folder: _edit(folder, lambda found: found.update(format="sottovoce-reports/2")),
        "is no manifest of reports",
    ),
    "another survey": (
        lambda folder: _edit(folder, lambda found: found["asked"][0].update(canonical=SECOND.canonical.decode())),
        "the digest differs from",
    ),
    "a survey twice": (
        lambda folder: _edit(folder, lambda found: found.update(asked=[found["asked"][0]] * 2)),
        "not the revisions of one survey",
    ),
    "no such wave": (
        lambda folder: _edit(folder, lambda found: found["waves"][0].update(wave=7)),
        "a revision or wave that there is not",
    ),
    "another count": (
        lambda folder: _edit(folder, lambda found: found["waves"][0]["tallies"]["often"].update({"0": 1})),
        "not those of the manifest",
    ),
    "more reports": (
        lambda folder: _edit(folder, lambda found: found["waves"][0]["parts"][0].update(reports=51)),
        "not those of the manifest",
    ),
    "no such answer": (
        lambda folder: _edit(folder, lambda found: found["public"]["0"]["age"].update({"99999": 1})),
        "no answer to a public question",
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", SPOILED)
def test_what_was_changed_is_noticed(tmp_path: Path, written: Written, how: str) -> None:
    """Said in words, and nothing is estimated."""
    folder = tmp_path / "out"
    shutil.copytree(written.folder, folder)
    spoil, said = SPOILED[how]
    spoil(folder)
    with pytest.raises(SpecError, match=said):
        estimates(folder)


@pytest.mark.parametrize("engine", HERE)
@pytest.mark.parametrize(("column", "said"), [("often", "out of range"), ("other", "other columns")])
def test_value_that_no_mechanism_reports_is_refused(
    tmp_path: Path, written: Written, engine: str, column: str, said: str
) -> None:
    """Though hash and counts be those of the manifest: whoever writes one may write the other."""
    folder = tmp_path / "out"
    shutil.copytree(written.folder, folder)
    forge(_part(folder), column)
    digest = hashlib.sha256(_part(folder).read_bytes()).hexdigest()
    _edit(folder, lambda found: found["waves"][0]["parts"][0].update(sha256=digest))
    with pytest.raises(SpecError, match=said):
        estimates(folder, engine)


def forge(path: Path, column: str) -> None:
    """Another part in place of this one: with a value of 200, or with a column of another name."""
    with duckdb.connect() as connection:
        chosen = "* REPLACE (200::UTINYINT AS often)" if column == "often" else "* RENAME (often AS other)"
        connection.read_parquet(str(path), hive_partitioning=False).project(chosen).create("forged")
        connection.table("forged").write_parquet(str(path))


def test_first_revision_has_a_question_that_the_second_has_not(written: Written) -> None:
    """What the newest revision does not ask is in no file of reports."""
    names = {question.name for question in FIRST.questions} - {question.name for question in SECOND.questions}
    header = open_folder(place_named(written.folder)).described.header

    assert len(names) == 1
    assert not names & set(header)
