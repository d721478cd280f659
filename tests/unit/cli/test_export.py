"""``export``: which file, where to, and what is refused with nothing written."""

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import Result
from sottovoce.aggregator.export.catalogue import OF_REPORTS, Source
from sottovoce.aggregator.storage import ChainHead
from sottovoce.aggregator.storage.audit_log.events import EXPORTED, MACHINE, RESULTS_READ
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.cli.results.export import COUNTABLE, FORMATS

from tests.commands import done, refused, run
from tests.exported import TODAY, drawn, published, send
from tests.surveys import months, survey


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a survey that is open, and one that is closed."""
    (tmp_path / "data").mkdir()
    closed = survey(name="done")
    storage = published(tmp_path / "data", survey(), closed)
    for each in (survey(), closed):
        send(storage, each, drawn(each, 60))
    storage.close_survey("done", TODAY)
    storage.close()
    return tmp_path / "data"


def export(data: Path, *words: str) -> Result:
    return run("results", "export", *words, "--data", data)


@pytest.mark.parametrize(
    "words",
    [
        ["results", "export", "panel", "--format", "reports.csv"],
        ["results", "crosstab", "panel", "--rows", "cheated", "--columns", "reason"],
    ],
    ids=["export", "crosstab"],
)
def test_wave_is_closed_by_the_databases_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """Whatever this machine takes the time for: it is long after the wave here, and within it there."""
    published(tmp_path, survey(name="panel", waves=months(2))).close()
    within = datetime(2026, 1, 15, tzinfo=UTC).timestamp()
    monkeypatch.setattr(SQLiteStorage, "clock", lambda _storage: within)
    out = ["--out", str(tmp_path / "out.csv")] if words[1] == "export" else []
    ended = run(*words, "--wave", "0", *out, "--data", tmp_path)

    assert (ended.exit_code, "the survey is open" in ended.stderr) == (1, True)
    assert not (tmp_path / "out.csv").exists()


def test_people_of_a_whole_group_are_told(data: Path) -> None:
    ended = export(data, "done", "--people", "60")
    told = json.loads(ended.stdout)["questions"][0]["estimates"][0]["people"]
    assert ended.exit_code == 0
    assert told["of"] == 60
    assert 0 <= told["low"] <= told["people"] <= told["high"] <= 60


def test_another_level_narrows_every_interval(data: Path) -> None:
    """Of shares, and said in each estimate and in words; other formats refuse it."""
    usual, narrow = export(data, "done"), export(data, "done", "--confidence", "0.8")
    pairs = zip(json.loads(usual.stdout)["questions"], json.loads(narrow.stdout)["questions"], strict=True)
    for one, other in ((one, other) for first, second in pairs for one, other in zip(
        first["estimates"], second["estimates"], strict=True)):  # fmt: skip
        assert (one["confidence"], other["confidence"]) == (0.95, 0.8)
        assert other["high"] - other["low"] < one["high"] - one["low"]
    assert "80% interval" in narrow.stderr or "80 % interval" in narrow.stderr
    refused = export(data, "done", "--format", "reports.csv", "--confidence", "0.8", "--out", str(data / "out.csv"))
    assert (refused.exit_code, "--confidence" in refused.stderr) == (2, True)


def test_all_files_come_as_a_new_folder(data: Path) -> None:
    out = data.parent / "out"
    assert export(data, "done", "--format", "all", "--out", str(out)).exit_code == 0
    before = sorted((path.name, path.stat().st_mtime_ns) for path in out.iterdir())
    ended = export(data, "done", "--format", "all", "--out", str(out))

    assert len(before) > 15
    assert (ended.exit_code, "it was left as it is" in ended.stderr) == (1, True)
    assert sorted((path.name, path.stat().st_mtime_ns) for path in out.iterdir()) == before


@pytest.mark.parametrize("kind", ["all", "everything.zip"])
def test_file_that_fails_is_named_and_leaves_the_others(data: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    def fail(_source: Source, _path: Path) -> None:
        raise ValueError("an answer")

    monkeypatch.setitem(OF_REPORTS, "reports.dta", fail)
    out = data.parent / ("out.zip" if kind.endswith("zip") else "out")
    ended = refused(export(data, "done", "--format", kind, "--out", str(out)))
    assert "reports.dta was not written" in ended.stderr
    assert "an answer" not in ended.stderr
    found = zipfile.ZipFile(out).namelist() if out.is_file() else [path.name for path in out.iterdir()]
    names = {name.rpartition("/")[2] for name in found}
    assert {"reports.csv", "reports.sav", "ddi.xml", "FAILED.txt"} <= names
    assert "reports.dta" not in names


@pytest.mark.parametrize(
    "kind", [kind for kind in FORMATS if kind not in {"json", "all", *COUNTABLE} and "public" not in kind]
)
def test_each_file_comes_by_its_name(data: Path, kind: str) -> None:
    out = data.parent / f"mine{Path(kind).suffix}"
    assert export(data, "done", "--format", kind, "--out", str(out)).exit_code == 0
    assert out.stat().st_size > 0
    out.write_text("mine")
    ended = export(data, "done", "--format", kind, "--out", str(out))
    assert (ended.exit_code, out.read_text()) == (1, "mine")
    assert sorted(path.name for path in data.parent.iterdir()) == sorted(["data", out.name])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["exam", "--format", "all", "--out", "out"], "files of reports exist once it is closed"),
        (["exam", "--format", "reports.csv", "--out", "out.csv"], "the survey is open"),
        (["exam", "--format", "everything.zip", "--out", "out.zip"], "the survey is open"),
        (["exam", "--format", "reports.csv", "--wave", "0", "--out", "out.csv"], "for each wave once that is closed"),
        (["done", "--format", "reports.csv", "--wave", "3", "--out", "out.csv"], "the survey has no such wave"),
        (["done", "--format", "reports.csv", "--out", "out.txt"], "must end in .csv"),
        (["done", "--format", "reports.csv"], "name the file with --out"),
        (["done", "--format", "all"], "name the file with --out"),
        (["done", "--format", "reports.csv", "--cohort", "first", "--out", "out.csv"], "are for --format json"),
        (["done", "--format", "reports.csv", "--people", "60", "--out", "out.csv"], "are for --format json"),
        (["done", "--people", "61"], "there are not as many reports as people"),
        (["exam", "--people", "60"], "the survey is not closed"),
        (["none", "--format", "reports.csv", "--out", "out.csv"], "was not found in"),
        (["done", "--format", "reports.csv", "--out", "no/out.csv"], 'the folder "no" does not exist'),
        (["done", "--format", "all", "--out", "no/out"], "cannot be written: the folder"),
        (["done", "--format", "reports-with-public.csv", "--out", "out.csv"], "nothing was written (--yes"),
        (["done", "--format", "parquet-with-public", "--out", "out"], "nothing was written (--yes"),
        (["exam", "--format", "parquet", "--out", "out"], "files of reports exist once it is closed"),
        (["done", "--format", "parquet", "--out", "data"], "it was left as it is"),
        (["done", "--format", "parquet"], "name the file with --out"),
        (["done", "--format", "reports.csv", "--out", "s3://bucket/out.csv"], "only --format parquet goes to a bucket"),
    ],
)
def test_refusal_says_why_and_writes_nothing(
    data: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(data.parent)
    ended = export(data, *words)

    assert ended.exit_code in {1, 2}
    assert said in ended.stderr
    assert [path.name for path in data.parent.iterdir()] == ["data"]


def test_public_answers_come_after_it_was_said_who_stands_alone(data: Path) -> None:
    out = data.parent / "public.csv"
    ended = done(export(data, "done", "--format", "reports-with-public.csv", "--out", str(out), "--yes"))
    assert "Who knows 1 public answer of a person: 0 of 60 people" in ended.stderr
    assert out.read_text().startswith("cheated,reason,year,_wave,_revision\n")


def test_every_way_out_is_noted_with_its_kind_and_told_the_head(data: Path) -> None:
    """Files and joint tables, by the machine's administrator; the head in the file is one that there was."""
    out = data.parent / "out"
    assert export(data, "done", "--out", str(out.with_suffix(".json"))).exit_code == 0
    assert export(data, "done", "--format", "all", "--out", str(out)).exit_code == 0
    words = ["done", "--rows", "cheated", "--columns", "reason", "--data", str(data)]
    for _ in range(2):
        assert run("results", "crosstab", *words).exit_code == 0
    storage = SQLiteStorage(data / "sottovoce.sqlite")
    told = [(one.what, one.who, one.about) for one in storage.journal.entries() if one.what in {EXPORTED, RESULTS_READ}]
    heads = [json.loads(file.read_text())["journal"] for file in (out.with_suffix(".json"), out / "export.json")]
    known = [storage.journal.is_known(ChainHead(int(number), bytes.fromhex(hashed)))
             for number, hashed in (head.split(":") for head in heads)]  # fmt: skip
    storage.close()

    assert told == [
        (EXPORTED, MACHINE, "done export.json"), (EXPORTED, MACHINE, "done all"), (RESULTS_READ, MACHINE, "done closed")
    ]  # fmt: skip
    assert known == [True, True]
