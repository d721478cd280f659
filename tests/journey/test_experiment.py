"""A two-arm study from file to table: asked directly or with a coin, on a running aggregator, by every verb."""

import csv
import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyreadstat
import pytest
from sottovoce.demo.respondents import send_all
from sottovoce.shared.parse_survey import parse_survey

from tests.conftest import Running
from tests.documents import names, survey
from tests.journey.test_own_survey import invoke
from tests.vectors.arms import COIN, arms, asks

PEOPLE = 1500
ADMIT, TRUE = 0.2, 0.4
"""Share of people who admit when they are asked directly, and whose answer is yes."""


def is_near(figure: dict[str, float], truth: float) -> bool:
    """Return True if a figure is within two and a half times its limits: devices draw anew in each run."""
    return abs(figure["shown"] - truth) < 2.5 * max(figure["high"] - figure["shown"], figure["shown"] - figure["low"])


def study() -> dict[str, Any]:
    return survey(
        asks("year", kind="select_one", choices=names(2), public=True, in_files=True),
        asks("cheated_direct", "direct", public=True, in_files=True),
        asks("cheated", "protected", mechanism=COIN),
        asks("copied", mechanism=COIN),
        arms=arms(1, 1),
        name="study",
        privacy={"release_batch": 1},
    )


@pytest.fixture
def closed(running: Running, tmp_path: Path) -> Path:
    """The study, answered by people whose truth is known, and closed."""
    asked = parse_survey(study())
    running.storage().publish(asked)
    dice = np.random.default_rng(11)
    people = [
        {
            "year": f"c{dice.integers(2)}",
            "cheated_direct": "yes" if dice.random() < ADMIT else "no",
            "cheated": "yes" if dice.random() < TRUE else "no",
            "copied": "yes" if dice.random() < TRUE else "no",
        }
        for _ in range(PEOPLE)
    ]
    send_all(running.url, asked, people)
    done = invoke(tmp_path, "survey", "close", "study", "--data", str(running.data), "--yes")
    assert done.returncode == 0, done.stderr
    return running.data


def test_two_arm_study_goes_from_file_to_table(closed: Path, tmp_path: Path) -> None:
    check_analyses(closed, tmp_path)
    check_files(closed, tmp_path)
    saved = invoke(tmp_path, "db", "backup", "saved.sqlite", "--data", str(closed))
    again = invoke(tmp_path, "db", "restore", "saved.sqlite", "--data", "again")
    assert (saved.returncode, again.returncode) == (0, 0), again.stderr


def check_analyses(closed: Path, tmp_path: Path) -> None:
    place = ("--data", str(closed), "--json")
    across = json.loads(invoke(tmp_path, "results", "compare", "study", "--outcome", "cheated", "--groups", "arm",
                               "--against", "cheated_direct", *place).stdout)  # fmt: skip
    common = json.loads(
        invoke(tmp_path, "results", "compare", "study", "--outcome", "copied", "--groups", "arm", *place).stdout
    )
    model = json.loads(invoke(tmp_path, "results", "regress", "study", "copied ~ arm + year", *place).stdout)
    table = json.loads(
        invoke(tmp_path, "results", "crosstab", "study", "--rows", "cheated", "--columns", "year", *place).stdout
    )

    assert across["n"] == PEOPLE
    (apart,), (ratio,) = across["differences"], across["ratios"]
    assert is_near(apart, TRUE - ADMIT)
    assert is_near(ratio, TRUE / ADMIT)
    assert is_near(common["differences"][0], 0)
    assert is_near(common["ratios"][0], 1)
    assert any("arm" in each["term"] for each in model["coefficients"])
    assert 0.4 * PEOPLE < table["n"] < 0.6 * PEOPLE


def check_files(closed: Path, tmp_path: Path) -> None:
    place = ("--data", str(closed), "--format", "all", "--yes", "--out", "files")
    assert invoke(tmp_path, "results", "export", "study", *place).returncode == 0
    folder = tmp_path / "files"
    with (folder / "reports.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    spss, _ = pyreadstat.read_sav(folder / "reports.sav")
    stata, _ = pyreadstat.read_dta(folder / "reports.dta")
    parquet = duckdb.read_parquet(str(folder / "reports.parquet")).fetchdf()

    assert len(rows) == PEOPLE
    assert all((row["cheated"] == "") == (row["arm"] == "0") for row in rows)
    assert all((row["cheated_direct"] == "") == (row["arm"] == "1") for row in rows)
    arms_of_rows = sorted(int(row["arm"]) for row in rows)
    assert all(sorted(table["arm"].astype(int)) == arms_of_rows for table in (spss, stata, parquet))
    words = ("results", "compare", "--from", "files", "--outcome", "cheated", "--groups", "arm")
    again = invoke(tmp_path, *words, "--against", "cheated_direct", "--json")
    assert json.loads(again.stdout)["n"] == PEOPLE
