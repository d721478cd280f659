"""A survey on paper: printed with its instructions, counted by hand, and estimated as reports are."""

import csv
import json
from pathlib import Path

import pytest

from tests.absences import COIN, asks
from tests.commands import refused, run
from tests.documents import survey

CROSSWISE = Path(__file__).parents[3] / "shared/sottovoce/examples/mechanisms/crosswise.yaml"


def written(folder: Path, **counts: int) -> None:
    with (folder / "counts.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    lines = [header, *([*row[:3], counts.get(f"v{row[2]}", "")] for row in rows)]
    with (folder / "counts.csv").open("w", newline="") as file:
        csv.writer(file).writerows(lines)


def test_sheets_are_printed_counted_and_estimated(tmp_path: Path) -> None:
    """Of 1,000 sheets 400 say "exactly one": pi = (.4 - p) / (1 - 2p), with the error of p in the interval."""
    folder = tmp_path / "sheets"
    assert run("survey", "paper", CROSSWISE, "--out", folder).exit_code == 0
    page = (folder / "questionnaire.html").read_text()
    for text in ("My mother&#x27;s birthday", "Both or neither are true", "Exactly one is true", "voluntary"):
        assert text in page
    assert "device" not in page

    written(folder, v0=600, v1=400)
    found = json.loads(run("results", "estimate", folder).stdout)["questions"][0]["estimates"][0]
    p = 361 / 1461
    assert found["raw"] == pytest.approx((0.4 - p) / (1 - 2 * p))
    binomial = (0.4 * 0.6 / 999) ** 0.5 / (1 - 2 * p)
    assert found["std_error"] > binomial


def test_german_sheet_speaks_german(tmp_path: Path) -> None:
    assert run("survey", "paper", CROSSWISE, "--out", tmp_path / "s", "--language", "de").exit_code == 0
    page = (tmp_path / "s/questionnaire.html").read_text()
    assert '<html lang="de" dir="ltr">' in page
    assert "Genau eine trifft zu" in page


def test_each_arm_has_a_page_of_its_own(tmp_path: Path) -> None:
    """Nobody answers one question in both groups of a design; the counts of all are typed into one table."""
    folder = tmp_path / "sheets"
    made = run("survey", "paper", CROSSWISE.with_name("cheater_detection.yaml"), "--out", folder)
    pages = {arm: (folder / f"questionnaire-{arm}.html").read_text() for arm in ("rare", "often")}

    assert [("January or February" in page, "March to December" in page) for page in pages.values()] == [
        (True, False), (False, True)
    ]  # fmt: skip
    assert "questionnaire-rare.html and " in made.stderr
    assert [line.split(",")[0] for line in (folder / "counts.csv").read_text().splitlines()] == [
        "question", *["copied_rare"] * 2, *["copied_often"] * 2, *["arm"] * 2
    ]  # fmt: skip


def test_what_a_device_would_draw_is_no_paper(tmp_path: Path) -> None:
    file = tmp_path / "survey.json"
    file.write_text(json.dumps(survey(asks("boolean", "q", mechanism=COIN))))
    assert "the device would randomize 'q'" in refused(run("survey", "paper", file, "--out", tmp_path / "s")).stderr
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    "line",
    ["plagiarism,x,2,1", "other,x,0,1", "plagiarism,x,0,-1", "plagiarism,x,0,many", '"', "a,b\0,c,d", "only", "é"],
)
def test_wrong_count_is_named(tmp_path: Path, line: str) -> None:
    folder = tmp_path / "sheets"
    run("survey", "paper", CROSSWISE, "--out", folder)
    with (folder / "counts.csv").open("a", encoding="latin-1") as file:
        file.write(line + "\n")
    assert "counts.csv, line " in refused(run("results", "estimate", folder)).stderr
