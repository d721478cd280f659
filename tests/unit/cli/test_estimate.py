"""``export --format parquet`` and ``estimate``: out of the database and back to the same results."""

import json
from pathlib import Path

import pytest
from sottovoce.cli.results import place
from sottovoce.cli.results.estimate import DASK

from tests.commands import done, refused, run
from tests.surveys import survey
from tests.unit.aggregator.analysis.closed_surveys import states


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a closed survey, and beside it what was exported of it."""
    folder = tmp_path_factory.mktemp("estimate")
    states(folder / "data").close()
    for kind, out in (("parquet", "reports"), ("json", "live.json")):
        done(run("results", "export", "done", "--format", kind, "--out", folder / out, "--data", folder / "data"))
    return folder


def test_folder_tells_what_the_live_export_tells(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "MANY", 1)
    monkeypatch.setattr(place, "is_shown", lambda: True)
    live = json.loads((data / "live.json").read_bytes())
    ended = run("results", "estimate", str(data / "reports"))
    del live["journal"]

    assert json.loads(ended.stdout) == live
    assert "400 of 400 reports counted" in ended.stderr
    assert sorted(path.name for path in data.iterdir()) == ["data", "live.json", "reports"]


def test_another_level_is_the_one_of_the_live_export(data: Path) -> None:
    live = run("results", "export", "done", "--confidence", "0.8", "--data", str(data / "data"))
    ended = run("results", "estimate", str(data / "reports"), "--confidence", "0.8")
    counts = ("results", "estimate", "--yes", "30", "--n", "100", "--mechanism", "coin_flip")

    assert json.loads(ended.stdout)["questions"] == json.loads(live.stdout)["questions"]
    assert "80% interval" in run(*counts, "--confidence", "0.8").stdout
    assert "95% interval" in run(*counts).stdout


def test_survey_file_and_table_of_reports_are_enough(data: Path, tmp_path: Path) -> None:
    """Private figures are those of the live export; public ones lack answers that the file leaves empty."""
    words = ["--format", "all", "--out", str(tmp_path / "all"), "--data", str(data / "data")]
    assert run("results", "export", "done", *words).exit_code == 0
    (tmp_path / "two").mkdir()
    for name in ("survey.yaml", "reports.csv"):
        (tmp_path / "two" / name).write_bytes((tmp_path / "all" / name).read_bytes())
    found, live = (
        {question["name"]: question for question in document["questions"] if question["mechanism"]}
        for document in (
            json.loads(run("results", "estimate", str(tmp_path / "two")).stdout),
            json.loads((data / "live.json").read_bytes()),
        )
    )
    assert found == live


TABLE = ["--rows", "cheated", "--columns", "reason"]


def test_tables_and_models_take_the_same_folder(data: Path) -> None:
    model = ["--outcome", "cheated", "--on", "reason", "--model", "linear"]
    for verb, words in (("crosstab", TABLE), ("regress", model)):
        found, live = (
            json.loads(run("results", verb, *where, *words, "--json").stdout)
            for where in (["--from", data / "reports"], ["done", "--data", data / "data"])
        )
        assert figures(found) == pytest.approx(figures(live), rel=1e-9)
        assert len(figures(found)) > 10


def figures(document: object) -> list[float]:
    if isinstance(document, dict | list):
        inner = document.values() if isinstance(document, dict) else document
        return [number for each in inner for number in figures(each)]
    return [float(document)] if isinstance(document, int | float) else []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "there is no such folder"),
        (["data"], "the folder has no manifest.json"),
        (["reports", "--engine", "numpy", "--scheduler", "tcp://127.0.0.1:9"], f"--scheduler is for --engine {DASK}"),
        (["reports", "--wave", "1"], "the survey has no such wave"),
        (["reports", "--out", "out.csv"], "must end in .json"),
    ],
)
def test_refusal_says_why(data: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str) -> None:
    monkeypatch.chdir(data)
    ended = run("results", "estimate", *words)

    assert ended.exit_code in {1, 2}
    assert said in ended.stderr
    assert ended.stdout == ""


def test_survey_of_another_name_is_refused(data: Path) -> None:
    """Who names the survey of a folder means that one."""
    ended = refused(run("results", "crosstab", survey().name, "--from", data / "reports", *TABLE))
    assert "another survey than the one that is named" in ended.stderr
