"""A folder of reports follows from their multiset, whatever kept them, and gives the live results with every engine."""

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from sottovoce.aggregator.analysis.estimates import analyse
from sottovoce.aggregator.analysis.results_document import export_document
from sottovoce.aggregator.analysis.shown_columns import read_reports
from sottovoce.aggregator.estimators import IntervalRule
from sottovoce.aggregator.export.offline import write_parquet
from sottovoce.aggregator.export.offline.locations import ReportFile, place_named
from sottovoce.aggregator.export.offline.offline_results import HERE, open_folder, results_of
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.pack_values import few
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.aggregator.storage.reports.batch_columns import is_null
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.errors import EstimateError, SpecError

from tests import postgres
from tests.exported import TODAY, published, send, source
from tests.surveys import document, every_type, months, survey
from tests.unit.aggregator.export.offline.conftest import FIRST, SECOND, Written, fill, write

BACK_ENDS: dict[str, Callable[[Path], Storage]] = {
    "sqlite": lambda path: SQLiteStorage(path / "db.sqlite"),
    "postgres": lambda _: PostgresStorage(postgres.fresh()),
}


HOLDING = "SELECT path FROM duckdb_databases() JOIN duckdb_tables() USING (database_name)"
"""The files in which DuckDB's tables lie; none of a table in memory."""


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rows(folder: Path) -> list[dict[str, Any]]:
    with duckdb.connect() as connection:
        table = connection.read_parquet(f"{folder}/**/*.parquet", hive_partitioning=True)
        return [dict(zip(table.columns, row, strict=True)) for row in table.fetchall()]


@pytest.mark.external
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_same_reports_are_the_same_bytes(tmp_path: Path, written: Written, back_end: str) -> None:
    storage = BACK_ENDS[back_end](tmp_path)
    for asked in (FIRST, SECOND):
        storage.publish(asked)
    fill(storage, reverse=True)
    again = write(source(storage, SECOND), tmp_path / "work" / "out", part_rows=50)
    storage.close()

    assert contents(again) == contents(written.folder)
    assert len(contents(again)) > 6
    assert [path.name for path in again.parent.iterdir()] == ["out"]


def test_rows_lie_on_the_disk_meanwhile(tmp_path: Path, written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred million of them have no room in the memory that there may be, nor have the lists of their blocks."""
    found: list[str | None] = []
    honest = write_parquet._Sorted.write

    def write_part(rows: write_parquet._Sorted, path: Path, start: int, end: int) -> ReportFile:
        found.extend(place for (place,) in rows.table.sql(HOLDING).fetchall())
        return honest(rows, path, start, end)

    monkeypatch.setattr(write_parquet._Sorted, "write", write_part)
    write(written.source, tmp_path / "work" / "out")

    assert {place and Path(place).parent.parent for place in found} == {tmp_path / "work"}


def test_rows_are_the_reports_each_as_often_as_it_came(written: Written) -> None:
    """Distinct and sorted within a revision and wave, without ids, and the public answers stay behind."""
    reports = read_reports(written.source.storage, written.source.revisions)
    names, found = [*reports.columns], rows(written.folder)
    columns = [np.where(is_null(column), None, column.astype(object)) for column in reports.columns.values()]
    expected = Counter(zip(reports.revision.tolist(), reports.wave.tolist(), *columns, strict=True))
    told = Counter({(row["revision"], row["wave"], *(row[name] for name in names)): row["n"] for row in found})

    assert told == expected
    assert set(found[0]) == {*names, "n", "survey", "revision", "wave"}
    assert {"age", "height"} & set(names) == set()
    for path in sorted(written.folder.rglob("*.parquet")):
        with duckdb.connect() as connection:
            part = connection.read_parquet(str(path), hive_partitioning=False).fetchall()
        ordered = [tuple((value is None, value) for value in row) for row in part]
        assert all(one < other for one, other in pairwise(ordered))


def test_cohort_of_a_handful_is_not_named(tmp_path: Path) -> None:
    """As in every other file: where results would show fewer than five people, all are one group."""
    questions = document()["questions"]
    questions[2]["choices"] = [{"name": f"c{i}", "label": {"en": f"C{i}"}} for i in range(3)]
    asked = survey(questions=questions)
    storage = published(tmp_path, asked)
    send(storage, asked, [(0, 1, cohort) for cohort, size in enumerate((30, 20, 3)) for _ in range(size)])
    storage.close_survey(asked.name, TODAY)
    found = rows(write(source(storage, asked), tmp_path / "work" / "out"))
    storage.close()

    assert {row["year"]: row["n"] for row in found} == {0: 30, few(1): 23}


def test_public_answers_come_only_when_they_are_asked_for(tmp_path: Path, written: Written) -> None:
    """Without, their counts alone stand in the manifest, those that results show."""
    manifest = json.loads((written.folder / "manifest.json").read_bytes())
    whole = rows(write(written.source, tmp_path / "work" / "out", public=True))

    assert {"age", "height"} <= set(whole[0])
    assert sum(manifest["public"]["0"]["age"].values()) == sum(row["n"] for row in whole if row["wave"] == 0) == 240
    assert all("age" not in wave["tallies"] for wave in manifest["waves"])


def test_closed_wave_tells_no_more_public_answers_than_results_show(tmp_path: Path) -> None:
    """While the survey is open: less what is shown, the counts of all would be a handful of people."""
    asked = survey(waves=months(11))
    storage = published(tmp_path, asked)
    send(storage, asked, [(0, 1, 0)] * 30 + [(0, 1, 1)] * 25)
    send(storage, asked, [(0, 1, 1)] * 3)
    folder = write(source(storage, asked, wave=0), tmp_path / "work" / "out")
    storage.close()

    assert json.loads((folder / "manifest.json").read_bytes())["public"] == {"0": {"year": {"0": 30, "1": 25}}}


def test_open_survey_is_not_written(tmp_path: Path) -> None:
    storage = published(tmp_path, survey())
    send(storage, survey(), [(0, 1, 0)] * 30)
    with pytest.raises(EstimateError, match="the survey is open"):
        write(source(storage, survey()), tmp_path / "work" / "out")
    storage.close()

    assert list((tmp_path / "work" / "out").iterdir()) == []


def test_question_called_n_keeps_its_name(tmp_path: Path) -> None:
    """How often a row is there has a line before its name then."""
    asked = survey(questions=[{**every_type()[0], "name": "n"}])
    storage = published(tmp_path, asked)
    send(storage, asked, [(0,)] * 7)
    storage.close_survey(asked.name, TODAY)
    found = rows(write(source(storage, asked), tmp_path / "work" / "out"))
    storage.close()

    assert [(row["n"], row["_n"]) for row in found] == [(0, 7)]


def quiet(_done: int, _whole: int) -> None:
    """Nobody is told."""


def estimates(folder: Path, engine: str = "duckdb", **options: Any) -> str:
    return json.dumps(export_document(results_of(open_folder(place_named(folder)), HERE[engine], quiet, **options)))


@pytest.mark.parametrize("engine", HERE)
@pytest.mark.parametrize("wave", [0, 1, None])
def test_every_engine_gives_the_live_export(written: Written, engine: str, wave: int | None) -> None:
    live = export_document(analyse(written.source.revisions, interval="wilson", wave=wave, confidence=0.9))

    assert estimates(written.folder, engine, rule=IntervalRule("wilson", 0.9), wave=wave) == json.dumps(live)


def test_public_rows_change_nothing(tmp_path: Path, written: Written) -> None:
    folder = write(written.source, tmp_path / "work" / "out", public=True)

    assert estimates(folder) == estimates(written.folder)


def test_folder_of_one_wave_is_of_that_wave(tmp_path: Path, written: Written) -> None:
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
    names = {question.name for question in FIRST.questions} - {question.name for question in SECOND.questions}
    header = open_folder(place_named(written.folder)).described.header

    assert len(names) == 1
    assert not names & set(header)
