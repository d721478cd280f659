"""``results`` on a data file and on counts alone."""

import json
from functools import partial
from pathlib import Path

import pytest
from sottovoce.aggregator import open_data

from tests import commands
from tests.unit.shared.test_schema import validator

run = partial(commands.run, "results")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """100 people of whom 30 report a yes, by year."""
    rows = ["yes,first"] * 20 + ["yes,last"] * 10 + ["no,first"] * 30 + ["no,last"] * 40
    found = tmp_path / "answers.csv"
    found.write_text("\n".join(["cheated,year", *rows]))
    return found


def test_counts_alone_give_the_share() -> None:
    """The textbook's 100 people; in the crosswise design the count says "same"."""
    words = ("estimate", "--n", "100", "--mechanism", "coin_flip", "--yes", "30")
    assert "10.0%" in run(*words).output
    document = json.loads(run(*words, "--json").output)
    assert list(validator("shares").iter_errors(document)) == []
    [row] = document["questions"][0]["estimates"]
    assert (row["raw"], row["n"]) == (pytest.approx(0.1), 100)
    assert "46.0%" in run("estimate", "--n", "100", "--mechanism", "crosswise 1/4", "--yes", "52").output


def test_every_analysis_takes_a_data_file(path: Path) -> None:
    channel = ("--channel", "cheated=coin_flip")
    (path.parent / "channels.yaml").write_text("cheated: coin_flip\n")
    assert "10.0%" in run("estimate", path, *channel).output
    assert (
        run("estimate", path, "--channel", path.parent / "channels.yaml").output
        == run("estimate", path, *channel).output
    )
    assert "“year” by “cheated”" in run("crosstab", path, "--rows", "cheated", "--columns", "year", *channel).output
    whole = json.loads(run("estimate", path, *channel, "--json").output)
    assert list(validator("shares").iter_errors(whole)) == []
    assert "30.0%" in run("compare", path, "--outcome", "cheated", "--groups", "year", *channel).output
    assert "year=last" in run("regress", path, "--outcome", "cheated", "--on", "year", *channel).output
    assert "cheated · year" in run("associations", path, *channel).output


def test_few_of_a_file_of_reports_are_dropped_as_the_message_says(path: Path) -> None:
    """The file lies alone, so its folder cannot be opened instead."""
    lines = path.read_text().replace("no,first", "no,few", 5).splitlines()
    path.write_text("\n".join([f"{lines[0]},_wave", *(f"{line},0" for line in lines[1:])]))
    words = ("regress", path, "--outcome", "cheated", "--on", "year", "--channel", "cheated=coin_flip", "--json")
    assert "say --drop-few" in run(*words).stderr
    assert json.loads(run(*words, "--drop-few").output)["n"] == 95
    assert open_data(path, {"cheated": "coin_flip"}).regress("cheated", ["year"], drop_few=True).document["n"] == 95


def test_column_that_is_left_out_is_not_called_missing(path: Path) -> None:
    """Most of its texts differ, as names do; the channel takes them as categories."""
    lines = path.read_text().splitlines()
    path.write_text(
        "\n".join([f"{lines[0]},pay", *(f'{line},"{place * 2 // 3},000"' for place, line in enumerate(lines[1:]))])
    )
    words = ("compare", path, "--groups", "year", "--outcome")
    assert 'has no column "paid". It has: cheated, year.' in run(*words, "paid").stderr
    assert 'column "pay" is left out' in run(*words, "pay").stderr
    assert run(*words, "pay", "--channel", "pay=public").exit_code == 0


def test_weights_are_a_column_or_a_file_of_weights_or_margins(path: Path) -> None:
    """Of shares, with the design of the sample, and of tables."""
    lines = path.read_text().splitlines()
    weights = [1 + row % 3 for row in range(100)]
    path.write_text("\n".join([f"{lines[0]},w", *(f"{line},{w}" for line, w in zip(lines[1:], weights, strict=True))]))
    (path.parent / "w.csv").write_text("\n".join(["weight", *map(str, weights)]))
    (path.parent / "margins.yaml").write_text("year: {first: 0.8, last: 0.2}")
    words = (path, "--channel", "cheated=coin_flip", "--json")
    column, file, raked = (
        json.loads(run("estimate", *words, "--weights", given).output)
        for given in ("w", path.parent / "w.csv", path.parent / "margins.yaml")
    )

    assert list(validator("shares").iter_errors(column)) == []
    assert [each["name"] for each in column["questions"]] == ["cheated", "year"]
    assert column["questions"][0] == file["questions"][0]
    assert column["deff"] == file["deff"] > 1
    assert raked["questions"][1]["estimates"][0]["raw"] == pytest.approx(0.8)
    assert run("estimate", path, "--weights", "w", "--strata", "year").exit_code == 0
    table = ("crosstab", *words, "--rows", "year", "--columns", "cheated")
    found = [json.loads(run(*table, "--weights", given).output) for given in ("w", path.parent / "w.csv")]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("estimate",), "name a FOLDER or a data file"),
        (("estimate", "--yes", "3", "--n", "2", "--mechanism", "coin_flip"), "--yes counts some"),
        (("estimate", "--yes", "3", "--n", "9"), "name a FOLDER or a data file"),
        (("estimate", "answers.csv", "--wave", "1"), "are for a FOLDER"),
        (("estimate", "answers.csv", "--channel", "cheated"), "is written as"),
        (("estimate", "answers.csv", "--channel", "a=coin_flip", "--channel", "a=warner 0.7"), "two channels"),
        (("estimate", "answers.csv", "--channel", "year=coin_flip"), "column 'year', channel: name the values"),
        (("estimate", "answers.csv", "--weights", "v"), "answers.csv has no column 'v'; it has: cheated, year"),
        (("estimate", "--yes", "3", "--n", "9", "--mechanism", "coin_flip", "--weights", "w"), "are for a data file"),
        (("crosstab", "answers.csv", "--rows", "cheated", "--columns", "year", "--weights", "v"), "no column 'v'"),
        (("crosstab", "exam", "--rows", "a", "--columns", "b", "--channel", "a=coin_flip"), "is for a data file"),
        (("estimate", "answers.csv", "--question", "asked.yaml"), "asked.yaml is asked in a window"),
    ],
)  # fmt: skip
def test_wrong_words_are_refused(
    path: Path, words: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    Path("asked.yaml").write_text("{type: boolean, name: cheated, mechanism: {name: coin_flip}}")
    ended = run(*words)
    assert ended.exit_code != 0
    assert message in ended.output
    assert "Traceback" not in ended.output


def test_nothing_is_written_of_a_file_with_a_mistake(path: Path) -> None:
    out = path.parent / "results.json"
    assert run("estimate", path, "--channel", "cheated=warner 2", "--out", out).exit_code != 0
    assert not out.exists()
    assert run("estimate", path, "--channel", "cheated=coin_flip", "--out", out).exit_code == 0
    assert json.loads(out.read_text())["format"] == "sottovoce-shares/1"
